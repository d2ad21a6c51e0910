/** Speed as colour: the sampled grid as a smooth picture, with a fine line for each decade and hatching where flow leaves the plane. */
import { ramp, shader, texture, type Gl, type Rgb, type Shader } from "./gl";
import type { Grid } from "./grid";

const VERTEX = `
out vec2 place;
void main() {
  place = vec2(gl_VertexID & 1, gl_VertexID >> 1);
  gl_Position = vec4(2.0 * place - 1.0, 0.0, 1.0);
}`;

const FRAGMENT = `
in vec2 place;
out vec4 colour;
uniform sampler2D field;
uniform sampler2D palette;
uniform float size;
uniform vec2 range;
uniform float hatching;
uniform vec3 ink;
uniform float pixel;
void main() {
  vec2 sampled = texture(field, (0.5 + place * (size - 1.0)) / size).rg;
  float shade = clamp((sampled.r - range.x) / (range.y - range.x), 0.0, 1.0);
  vec3 mixed = texture(palette, vec2(0.5 / 256.0 + shade * 255.0 / 256.0, 0.5)).rgb;
  float width = fwidth(sampled.r);
  float decade = abs(fract(sampled.r + 0.5) - 0.5) / max(width, 1e-5);
  mixed = mix(mixed, ink, 0.10 * (1.0 - smoothstep(0.3, 1.2, decade)) * step(width, 0.2));
  if (hatching > 0.0) {
    float stripe = abs(fract((gl_FragCoord.x + gl_FragCoord.y) / (9.0 * pixel)) - 0.5) * 9.0;
    float share = smoothstep(0.1, 0.9, sampled.g);
    mixed = mix(mixed, ink, hatching * 0.5 * share * (1.0 - smoothstep(0.6 + share, 1.6 + share, stripe)));
  }
  colour = vec4(mixed, 1.0);
}`;

export class HeatLayer {
  private readonly shader: Shader;
  private readonly field: WebGLTexture;
  private readonly palette: WebGLTexture;
  private size = 0;

  constructor(private readonly gl: Gl) {
    this.shader = shader(gl, VERTEX, FRAGMENT);
    this.field = texture(gl, gl.LINEAR);
    this.palette = texture(gl, gl.LINEAR);
  }

  setColours(stops: readonly Rgb[]): void {
    const { gl } = this;
    gl.bindTexture(gl.TEXTURE_2D, this.palette);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, 256, 1, 0, gl.RGBA, gl.UNSIGNED_BYTE, ramp(stops, 256));
  }

  /** Half floats, because these are always filtered. */
  setGrid(grid: Grid): void {
    const { gl } = this;
    const data = new Float32Array(2 * grid.size * grid.size);
    for (let k = 0; k < grid.speed.length; k++) {
      const value = Math.log10(Math.max(1e-7, grid.speed[k]));
      data[2 * k] = Number.isFinite(value) ? value : 7;
      data[2 * k + 1] = grid.leaving[k];
    }
    gl.bindTexture(gl.TEXTURE_2D, this.field);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RG16F, grid.size, grid.size, 0, gl.RG, gl.FLOAT, data);
    this.size = grid.size;
  }

  draw(range: readonly [number, number], hatching: boolean, ink: Rgb, pixel: number): void {
    if (this.size === 0) return;
    const { gl } = this;
    gl.useProgram(this.shader.program);
    gl.disable(gl.BLEND);
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D, this.field);
    gl.activeTexture(gl.TEXTURE1);
    gl.bindTexture(gl.TEXTURE_2D, this.palette);
    gl.activeTexture(gl.TEXTURE0);
    gl.uniform1i(this.shader.at("field"), 0);
    gl.uniform1i(this.shader.at("palette"), 1);
    gl.uniform1f(this.shader.at("size"), this.size);
    gl.uniform2f(this.shader.at("range"), range[0], range[1]);
    gl.uniform1f(this.shader.at("hatching"), hatching ? 1 : 0);
    gl.uniform3f(this.shader.at("ink"), ink[0], ink[1], ink[2]);
    gl.uniform1f(this.shader.at("pixel"), pixel);
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
  }
}
