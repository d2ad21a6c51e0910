/** From states to places on the page: a plane, or space seen by a camera. */
import type { Plane } from "../math/planes";
import type { Camera, Limits } from "./store";

export interface Size {
  width: number;
  height: number;
}

/** What the overlay needs to draw states, whether they lie in a plane or in space. */
export interface Frame {
  readonly size: Size;
  /** Writes the place of a state in pixels of the plot: x, y, and how far it is from what is shown, from 0 (on it) to 1. */
  place(h: ArrayLike<number>, out: Float64Array): void;
  /** The state under a place of the plot. */
  stateAt(x: number, y: number, out: Float64Array): void;
  /** A number that changes whenever places do. */
  readonly version: number;
}

let versions = 0;

/** The rows that give a plane's coordinates of a state: the inverse of its two directions within their span. */
function dual(plane: Plane): [Float64Array, Float64Array] {
  const n = plane.u.length;
  let uu = 0;
  let uv = 0;
  let vv = 0;
  for (let i = 0; i < n; i++) {
    uu += plane.u[i] * plane.u[i];
    uv += plane.u[i] * plane.v[i];
    vv += plane.v[i] * plane.v[i];
  }
  const first = new Float64Array(n);
  const second = new Float64Array(n);
  const determinant = uu * vv - uv * uv;
  const flat = determinant <= 1e-24 * uu * vv || vv === 0; // a line: a network with one state
  for (let i = 0; i < n; i++) {
    first[i] = flat ? plane.u[i] / uu : (vv * plane.u[i] - uv * plane.v[i]) / determinant;
    second[i] = flat ? 0 : (uu * plane.v[i] - uv * plane.u[i]) / determinant;
  }
  return [first, second];
}

/** A plane with limits, drawn on a plot of a size in pixels. */
export class PlaneFrame implements Frame {
  readonly version = ++versions;
  readonly first: Float64Array;
  readonly second: Float64Array;

  /** `reach` is the distance from the plane at which a state counts as far away. */
  constructor(
    readonly plane: Plane,
    readonly limits: Limits,
    readonly size: Size,
    readonly reach: number,
  ) {
    [this.first, this.second] = dual(plane);
  }

  coordinates(h: ArrayLike<number>, out: Float64Array): void {
    let a = 0;
    let b = 0;
    const { origin } = this.plane;
    for (let i = 0; i < origin.length; i++) {
      const d = h[i] - origin[i];
      a += this.first[i] * d;
      b += this.second[i] * d;
    }
    out[0] = a;
    out[1] = b;
  }

  /** The distance of a state, whose coordinates are known, from the plane. */
  distance(h: ArrayLike<number>, a: number, b: number): number {
    let sum = 0;
    const { origin, u, v } = this.plane;
    for (let i = 0; i < origin.length; i++) {
      const d = h[i] - origin[i] - a * u[i] - b * v[i];
      sum += d * d;
    }
    return Math.sqrt(sum);
  }

  place(h: ArrayLike<number>, out: Float64Array): void {
    this.coordinates(h, out);
    const a = out[0];
    const b = out[1];
    out[0] = this.x(a);
    out[1] = this.y(b);
    out[2] = this.plane.origin.length <= 2 ? 0 : Math.min(1, this.distance(h, a, b) / this.reach);
  }

  x(a: number): number {
    return ((a - this.limits[0]) / (this.limits[1] - this.limits[0])) * this.size.width;
  }

  y(b: number): number {
    return (1 - (b - this.limits[2]) / (this.limits[3] - this.limits[2])) * this.size.height;
  }

  a(x: number): number {
    return this.limits[0] + (x / this.size.width) * (this.limits[1] - this.limits[0]);
  }

  b(y: number): number {
    return this.limits[2] + (1 - y / this.size.height) * (this.limits[3] - this.limits[2]);
  }

  stateAt(x: number, y: number, out: Float64Array): void {
    const a = this.a(x);
    const b = this.b(y);
    for (let i = 0; i < out.length; i++) out[i] = this.plane.origin[i] + a * this.plane.u[i] + b * this.plane.v[i];
  }
}

/** A box in a space of three states, seen by a camera at a finite distance. */
export class SpaceFrame implements Frame {
  readonly version = ++versions;
  /** Rows: right, up, towards the viewer, in units of the box. */
  private readonly axes: number[][];
  private readonly scale: number;
  private static readonly DISTANCE = 4.5;
  /** The share of the height by which the box is moved up: seen from above, its front reaches lower than its back is high. */
  private static readonly RISE = 0.03;

  constructor(
    readonly centre: ArrayLike<number>,
    readonly half: ArrayLike<number>,
    readonly camera: Camera,
    readonly size: Size,
  ) {
    const [sy, cy] = [Math.sin(camera.yaw), Math.cos(camera.yaw)];
    const [sp, cp] = [Math.sin(camera.pitch), Math.cos(camera.pitch)];
    this.axes = [
      [cy, -sy, 0],
      [sp * sy, sp * cy, cp],
      [-cp * sy, -cp * cy, sp],
    ];
    this.scale = camera.zoom * 0.27 * Math.min(size.width, size.height);
  }

  private get middle(): number {
    return (0.5 - SpaceFrame.RISE) * this.size.height;
  }

  /** The matrix, by columns, from the unit box [-1, 1]^3 to clip coordinates. */
  matrix(): Float32Array {
    const [right, up, out] = this.axes;
    const distance = SpaceFrame.DISTANCE;
    const sx = (2 * this.scale) / this.size.width;
    const sy = (2 * this.scale) / this.size.height;
    const made = new Float32Array(16);
    for (let k = 0; k < 3; k++) {
      made[k * 4] = sx * right[k];
      made[k * 4 + 1] = sy * up[k];
      made[k * 4 + 2] = -0.2 * out[k];
      made[k * 4 + 3] = -out[k] / distance;
    }
    for (let k = 0; k < 4; k++) made[4 * k + 1] += 2 * SpaceFrame.RISE * made[4 * k + 3]; // a shift after the division
    made[13] += 2 * SpaceFrame.RISE;
    made[15] = 1;
    return made;
  }

  place(h: ArrayLike<number>, out: Float64Array): void {
    const p0 = (h[0] - this.centre[0]) / this.half[0];
    const p1 = (h[1] - this.centre[1]) / this.half[1];
    const p2 = (h[2] - this.centre[2]) / this.half[2];
    const [right, up, near] = this.axes;
    const depth = p0 * near[0] + p1 * near[1] + p2 * near[2];
    const w = Math.max(0.2, 1 - depth / SpaceFrame.DISTANCE);
    out[0] = this.size.width / 2 + ((p0 * right[0] + p1 * right[1] + p2 * right[2]) * this.scale) / w;
    out[1] = this.middle - ((p0 * up[0] + p1 * up[1] + p2 * up[2]) * this.scale) / w;
    out[2] = Math.min(1, Math.max(0, 0.25 - 0.25 * depth)); // what is behind is drawn fainter
  }

  /** The state under a place, in the plane through the centre that faces the viewer. */
  stateAt(x: number, y: number, out: Float64Array): void {
    const right = (x - this.size.width / 2) / this.scale;
    const up = (this.middle - y) / this.scale;
    this.fromCamera(right, up, 0, out);
  }

  /** Moves a state across the view by pixels, at its own depth. */
  moved(h: ArrayLike<number>, dx: number, dy: number, out: Float64Array): void {
    this.fromCamera(dx / this.scale, -dy / this.scale, 0, out);
    for (let i = 0; i < 3; i++) out[i] += h[i] - this.centre[i];
  }

  private fromCamera(right: number, up: number, near: number, out: Float64Array): void {
    const [r, u, o] = this.axes;
    for (let i = 0; i < 3; i++) out[i] = this.centre[i] + this.half[i] * (right * r[i] + up * u[i] + near * o[i]);
  }
}
