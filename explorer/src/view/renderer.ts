/** Draws the moving flow of a portrait, by WebGL, or on a plain canvas where there is none. */
import { element, PLAIN } from "./dom";
import type { Grid } from "./grid";
import { contextOf, texture, type Gl } from "./gl";
import { HeatLayer } from "./heat-layer";
import { ParticleLayer } from "./particle-layer";
import type { Particles } from "./particles";
import { placesOf, PLACES } from "./ribbons";
import type { Colours } from "./theme";

/** Of a particle's head. */
const OPACITY = 0.6;
const OPACITY_IN_SPACE = 0.85;
/** The share of the pixels, along each side, of a ground that is painted anew in every frame. */
const BLURRED = 0.35;

export interface Scene {
  /** Null in a plane; in space the matrix from the unit box to clip coordinates. */
  matrix: Float32Array | null;
  range: readonly [number, number];
  particles: boolean;
  hatching: boolean;
  /** Whether the ground is painted in full detail; while a slider moves it need not be. */
  sharp: boolean;
}

export interface Renderer {
  readonly webgl: boolean;
  readonly canvas: HTMLCanvasElement;
  setColours(colours: Colours): void;
  setGrid(grid: Grid): void;
  resize(width: number, height: number, pixel: number): void;
  draw(scene: Scene): void;
  destroy(): void;
}

/** The best renderer that the browser has; a context that is lost is replaced when it comes back. */
export function rendererFor(particles: Particles): Renderer {
  const canvas = newCanvas();
  const gl = contextOf(canvas);
  if (gl === null) return new CanvasRenderer(particles);
  try {
    return new GlRenderer(canvas, gl, particles);
  } catch {
    return new CanvasRenderer(particles);
  }
}

function newCanvas(): HTMLCanvasElement {
  return element("canvas", { class: "flow", "aria-hidden": "true" });
}

function resized(canvas: HTMLCanvasElement, width: number, height: number): void {
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
}

class GlRenderer implements Renderer {
  readonly webgl = true;
  private heat: HeatLayer;
  private ribbons: ParticleLayer;
  private ground: Ground;
  private colours: Colours | null = null;
  private grid: Grid | null = null;
  private pixel = 1;
  /** What the ground shows; empty if it must be painted anew. */
  private painted = "";

  constructor(
    readonly canvas: HTMLCanvasElement,
    private readonly gl: Gl,
    private readonly particles: Particles,
  ) {
    this.heat = new HeatLayer(gl);
    this.ribbons = new ParticleLayer(gl, particles);
    this.ground = groundOf(gl);
    canvas.addEventListener("webglcontextlost", this.lost);
    canvas.addEventListener("webglcontextrestored", this.restored);
  }

  private readonly lost = (event: Event): void => event.preventDefault();

  private readonly restored = (): void => {
    this.heat = new HeatLayer(this.gl);
    this.ribbons = new ParticleLayer(this.gl, this.particles);
    this.ground = groundOf(this.gl);
    if (this.colours !== null) this.setColours(this.colours);
    if (this.grid !== null) this.setGrid(this.grid);
  };

  setColours(colours: Colours): void {
    this.colours = colours;
    this.heat.setColours(colours.heat);
    this.painted = "";
  }

  setGrid(grid: Grid): void {
    this.grid = grid;
    this.heat.setGrid(grid);
    this.painted = "";
  }

  resize(width: number, height: number, pixel: number): void {
    this.pixel = pixel;
    resized(this.canvas, Math.round(width * pixel), Math.round(height * pixel));
    this.painted = "";
  }

  draw(scene: Scene): void {
    const { gl, colours } = this;
    if (colours === null || gl.isContextLost()) return;
    const { drawingBufferWidth: width, drawingBufferHeight: height } = gl;
    gl.viewport(0, 0, width, height);
    gl.clearColor(colours.paper[0], colours.paper[1], colours.paper[2], 1);
    gl.clear(gl.COLOR_BUFFER_BIT); // also before a copy: a browser may clear a canvas it has shown only at the next drawing
    if (scene.matrix === null && this.grid !== null) {
      const share = scene.sharp ? 1 : BLURRED;
      const [w, h] = [Math.ceil(share * width), Math.ceil(share * height)];
      this.paintGround(scene, colours, w, h, share);
      gl.viewport(0, 0, width, height);
      gl.bindFramebuffer(gl.READ_FRAMEBUFFER, this.ground.frame);
      gl.blitFramebuffer(0, 0, w, h, 0, 0, width, height, gl.COLOR_BUFFER_BIT, scene.sharp ? gl.NEAREST : gl.LINEAR);
      gl.bindFramebuffer(gl.READ_FRAMEBUFFER, null);
    }
    if (!scene.particles) return;
    const slow = scene.matrix === null ? colours.particle : colours.particleSlow;
    this.ribbons.draw(scene.matrix, slow, colours.particle, scene.matrix === null ? OPACITY : OPACITY_IN_SPACE, this.pixel);
  }

  /** Speeds are painted when they change only, so that a frame without news costs the particles and a copy. */
  private paintGround(scene: Scene, colours: Colours, width: number, height: number, share: number): void {
    const { gl, ground } = this;
    const key = `${scene.range.join()} ${scene.hatching} ${share}`;
    if (key === this.painted) return;
    this.painted = key;
    gl.bindTexture(gl.TEXTURE_2D, ground.picture);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA8, width, height, 0, gl.RGBA, gl.UNSIGNED_BYTE, null);
    gl.bindFramebuffer(gl.FRAMEBUFFER, ground.frame);
    gl.viewport(0, 0, width, height);
    this.heat.draw(scene.range, scene.hatching, colours.ink, this.pixel * share);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  }

  destroy(): void {
    this.canvas.removeEventListener("webglcontextlost", this.lost);
    this.canvas.removeEventListener("webglcontextrestored", this.restored);
    this.gl.getExtension("WEBGL_lose_context")?.loseContext();
  }
}

interface Ground {
  frame: WebGLFramebuffer;
  picture: WebGLTexture;
}

/** A picture that can be painted, and copied to the canvas. */
function groundOf(gl: Gl): Ground {
  const picture = texture(gl, gl.NEAREST);
  gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA8, 1, 1, 0, gl.RGBA, gl.UNSIGNED_BYTE, null);
  const frame = gl.createFramebuffer() as WebGLFramebuffer;
  gl.bindFramebuffer(gl.FRAMEBUFFER, frame);
  gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, picture, 0);
  gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  return { frame, picture };
}

/** The same picture without WebGL: coarser, but nothing is missing. */
class CanvasRenderer implements Renderer {
  readonly webgl = false;
  readonly canvas = newCanvas();
  private colours: Colours | null = null;
  private grid: Grid | null = null;
  private readonly picture = document.createElement("canvas");
  private painted = "";
  private pixel = 1;

  constructor(private readonly particles: Particles) {}

  setColours(colours: Colours): void {
    this.colours = colours;
    this.painted = "";
  }

  setGrid(grid: Grid): void {
    this.grid = grid;
    this.painted = "";
  }

  resize(width: number, height: number, pixel: number): void {
    this.pixel = pixel;
    resized(this.canvas, Math.round(width * pixel), Math.round(height * pixel));
  }

  draw(scene: Scene): void {
    const { canvas, grid, colours } = this;
    const context = canvas.getContext("2d", PLAIN);
    if (colours === null || context === null) return;
    context.clearRect(0, 0, canvas.width, canvas.height);
    if (grid !== null && scene.matrix === null) {
      const key = scene.range.join();
      if (key !== this.painted) this.paint(grid, scene, colours);
      this.painted = key;
      const edge = 0.5; // nodes are at the corners of the plot, pixels have their centres inside
      context.drawImage(this.picture, edge, edge, grid.size - 1, grid.size - 1, 0, 0, canvas.width, canvas.height);
    }
    if (scene.particles) this.ribbons(context, scene, colours);
  }

  private paint(grid: Grid, scene: Scene, { heat }: Colours): void {
    this.picture.width = grid.size;
    this.picture.height = grid.size;
    const context = this.picture.getContext("2d", PLAIN);
    if (context === null) return;
    const image = context.createImageData(grid.size, grid.size);
    grid.speed.forEach((speed, k) => {
      const shade = (Math.log10(Math.max(1e-12, speed)) - scene.range[0]) / (scene.range[1] - scene.range[0]);
      const place = Math.min(1, Math.max(0, shade)) * (heat.length - 1);
      const low = Math.min(heat.length - 2, Math.floor(place));
      const at = 4 * ((grid.size - 1 - Math.floor(k / grid.size)) * grid.size + (k % grid.size));
      for (let c = 0; c < 3; c++) image.data[at + c] = 255 * (heat[low][c] + (place - low) * (heat[low + 1][c] - heat[low][c]));
      image.data[at + 3] = 255;
    });
    context.putImageData(image, 0, 0);
  }

  private ribbons(context: CanvasRenderingContext2D, scene: Scene, colours: Colours): void {
    const { canvas, particles } = this;
    const [r, g, b] = colours.particle.map((part) => Math.round(255 * part));
    context.strokeStyle = `rgba(${r}, ${g}, ${b}, ${0.6 * OPACITY})`;
    context.lineWidth = 1.1 * this.pixel;
    context.beginPath();
    const places = new Float32Array(2 * PLACES);
    const stride = Math.max(1, Math.floor(particles.count / 900));
    for (let k = 0; k < particles.count; k += stride) {
      placesOf(particles, k, scene.matrix, canvas.width, canvas.height, places);
      for (let back = 0; back < PLACES; back++) {
        if (back === 0) context.moveTo(places[0], canvas.height - places[1]);
        else context.lineTo(places[2 * back], canvas.height - places[2 * back + 1]);
      }
    }
    context.stroke();
  }

  destroy(): void {
    this.canvas.width = 0;
  }
}
