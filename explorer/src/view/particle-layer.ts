/** Draws particles as short ribbons that thin out and fade towards their past. */
import { shader, type Gl, type Rgb, type Shader } from "./gl";
import type { Particles } from "./particles";
import { CORNER, corners, PLACES, triangles } from "./ribbons";

const VERTEX = `
in vec2 place;
in vec3 looks;
out vec3 look;
void main() {
  look = looks;
  gl_Position = vec4(place, 0.0, 1.0);
}`;

const FRAGMENT = `
in vec3 look;
out vec4 colour;
uniform vec3 slow;
uniform vec3 fast;
uniform float opacity;
void main() {
  float alpha = opacity * look.x * min(1.0, 1.6 * (1.0 - abs(look.y)));
  colour = vec4(mix(slow, fast, look.z) * alpha, alpha);
}`;

/** Corners are computed here and not on the graphics card: a processor that stands in for one is slow at reading textures for them. */
export class ParticleLayer {
  private readonly shader: Shader;
  private readonly array: WebGLVertexArrayObject;
  private readonly buffer: WebGLBuffer;
  private readonly corners: Float32Array;
  private readonly length: number;

  constructor(
    private readonly gl: Gl,
    private readonly particles: Particles,
  ) {
    this.shader = shader(gl, VERTEX, FRAGMENT);
    this.corners = new Float32Array(2 * PLACES * CORNER * particles.count);
    this.array = gl.createVertexArray() as WebGLVertexArrayObject;
    gl.bindVertexArray(this.array);
    this.buffer = gl.createBuffer() as WebGLBuffer;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffer);
    gl.bufferData(gl.ARRAY_BUFFER, this.corners.byteLength, gl.DYNAMIC_DRAW);
    this.attribute("place", 2, 0);
    this.attribute("looks", 3, 2);
    const indices = triangles(particles.count);
    this.length = indices.length;
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, indices, gl.STATIC_DRAW);
    gl.bindVertexArray(null);
  }

  private attribute(name: string, size: number, offset: number): void {
    const { gl } = this;
    const at = gl.getAttribLocation(this.shader.program, name);
    gl.enableVertexAttribArray(at);
    gl.vertexAttribPointer(at, size, gl.FLOAT, false, 4 * CORNER, 4 * offset);
  }

  /** `matrix` is null in a plane. */
  draw(matrix: Float32Array | null, slow: Rgb, fast: Rgb, opacity: number, pixel: number): void {
    const { gl, shader: made } = this;
    corners(this.particles, matrix, gl.drawingBufferWidth, gl.drawingBufferHeight, 0.6 * pixel, this.corners);
    gl.useProgram(made.program);
    gl.bindVertexArray(this.array);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffer);
    gl.bufferSubData(gl.ARRAY_BUFFER, 0, this.corners);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    gl.uniform3f(made.at("slow"), slow[0], slow[1], slow[2]);
    gl.uniform3f(made.at("fast"), fast[0], fast[1], fast[2]);
    gl.uniform1f(made.at("opacity"), opacity);
    gl.drawElements(gl.TRIANGLES, this.length, gl.UNSIGNED_INT, 0);
    gl.bindVertexArray(null);
  }
}
