/** The directions of the state space that a plane leaves out. */
import type { Plane } from "../math/planes";

export interface Direction {
  vector: Float64Array;
  /** The standard deviation of the visited states along it, and their range from the plane's origin. */
  spread: number;
  range: [number, number];
}

function dot(a: ArrayLike<number>, b: ArrayLike<number>, from = 0): number {
  let sum = 0;
  for (let i = 0; i < b.length; i++) sum += a[from + i] * b[i];
  return sum;
}

function withoutParts(vector: Float64Array, basis: readonly Float64Array[]): void {
  for (const direction of basis) {
    const share = dot(vector, direction);
    for (let i = 0; i < vector.length; i++) vector[i] -= share * direction[i];
  }
}

function normalised(vector: Float64Array): boolean {
  const size = Math.sqrt(dot(vector, vector));
  if (!(size > 1e-9)) return false;
  for (let i = 0; i < vector.length; i++) vector[i] /= size;
  return true;
}

/** Orthonormal directions that span the plane and `found`. */
function basisOf(plane: Plane, found: readonly Direction[]): Float64Array[] {
  const basis: Float64Array[] = [];
  for (const given of [plane.u, plane.v, ...found.map((direction) => direction.vector)]) {
    const vector = Float64Array.from(given);
    withoutParts(vector, basis);
    if (normalised(vector)) basis.push(vector);
  }
  return basis;
}

/** The direction, orthogonal to the plane and to those found before, along which `states` vary most (by power iteration). */
export function remainingDirection(plane: Plane, states: Float64Array, found: readonly Direction[]): Direction {
  const n = plane.u.length;
  const basis = basisOf(plane, found);
  const mean = meanOf(states, n);
  const rows = Math.floor(states.length / n);
  const stride = Math.max(1, Math.floor(rows / 600)) * n;
  let vector = start(n, basis);
  for (let round = 0; round < 40; round++) {
    const next = new Float64Array(n);
    const offset = dot(mean, vector);
    for (let from = 0; from + n <= states.length; from += stride) {
      const along = dot(states, vector, from) - offset;
      for (let i = 0; i < n; i++) next[i] += along * (states[from + i] - mean[i]);
    }
    withoutParts(next, basis);
    if (!normalised(next)) break;
    vector = next;
  }
  return measured(vector, plane, states);
}

/** Any direction outside the basis. */
function start(n: number, basis: readonly Float64Array[]): Float64Array {
  for (let first = 0; first < n; first++) {
    const vector = new Float64Array(n);
    for (let i = 0; i < n; i++) vector[i] = Math.cos(1 + i * 1.7) * 0.3 + (i === first ? 1 : 0);
    withoutParts(vector, basis);
    if (normalised(vector)) return vector;
  }
  return new Float64Array(n);
}

function meanOf(states: Float64Array, n: number): Float64Array {
  const mean = new Float64Array(n);
  const rows = Math.floor(states.length / n);
  for (let k = 0; k < rows * n; k++) mean[k % n] += states[k] / rows;
  return mean;
}

function measured(vector: Float64Array, plane: Plane, states: Float64Array): Direction {
  const n = vector.length;
  const origin = dot(plane.origin, vector);
  let low = 0;
  let high = 0;
  let sum = 0;
  let squares = 0;
  let rows = 0;
  for (let from = 0; from + n <= states.length; from += n) {
    const along = dot(states, vector, from) - origin;
    low = Math.min(low, along);
    high = Math.max(high, along);
    sum += along;
    squares += along * along;
    rows += 1;
  }
  const spread = Math.sqrt(Math.max(0, squares / rows - (sum / rows) ** 2));
  const least = 1e-3; // a direction without any spread still has a slider
  return { vector, spread, range: [Math.min(low, -least), Math.max(high, least)] };
}
