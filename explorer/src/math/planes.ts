/**
 * Planes in state space: h = origin + a u + b v. They are those of gnode/analysis/_flow.py, with the offset of the
 * coordinates moved into the origin. In the plane of two outputs (a, b) ARE the outputs, so that u and v need not be orthonormal:
 * use `project` for coordinates of states and `velocityOn` for those of velocities, not products with u and v.
 */
import { differences } from "./derivatives";
import { dot, norm, symmetricEigen } from "./linear";
import type { System } from "./system";

export interface Plane {
  name: string;
  origin: Float64Array;
  u: Float64Array;
  v: Float64Array;
  /** Left, right, bottom, top: of a, and of b. */
  limits: [number, number, number, number];
}

/** The plane of two components of the state; the others are at the mean of the states. */
export function planeOfStates(n: number, i: number, j: number, states: Float64Array): Plane {
  const origin = meanOf(states, n);
  const u = new Float64Array(n);
  const v = new Float64Array(n);
  u[i] = 1;
  if (i !== j) v[j] = 1; // a state of one dimension has no second axis
  origin[i] = 0;
  origin[j] = 0;
  return limited({ name: `states ${i + 1} and ${j + 1}`, origin, u, v, limits: [-1, 1, -1, 1] }, states);
}

/** The plane in which two outputs change and the state changes as little as possible, through the mean of the states. */
export function planeOfOutputs(system: System, i: number, j: number, states: Float64Array): Plane {
  const { n, p } = system;
  if (i === j || Math.max(i, j) >= p) throw new Error("A plane of outputs needs two different outputs.");
  const centre = meanOf(states, n);
  const C = readoutJacobian(system, centre);
  for (const shift of [1, -0.5]) {
    const other = readoutJacobian(system, centre.map((value) => value + shift));
    const size = Math.max(...C.map(Math.abs), 1e-3);
    if (!other.every((entry, k) => Math.abs(entry - C[k]) <= 1e-6 * size)) {
      throw new Error("The readout is not affine, so that its outputs span no plane.");
    }
  }
  const [first, second] = [C.subarray(i * n, (i + 1) * n), C.subarray(j * n, (j + 1) * n)];
  const [aa, ab, bb] = [dot(first, first), dot(first, second), dot(second, second)];
  const determinant = aa * bb - ab * ab;
  if (!(determinant > 1e-12 * aa * bb)) throw new Error("The two outputs are multiples of each other, so that they span no plane.");
  const u = first.map((value, k) => (bb * value - ab * second[k]) / determinant); // the columns of the pseudo-inverse
  const v = second.map((value, k) => (aa * value - ab * first[k]) / determinant);
  const y = new Float64Array(p);
  system.readout(centre, y);
  const origin = centre.map((value, k) => value - y[i] * u[k] - y[j] * v[k]);
  return limited({ name: `outputs ${i + 1} and ${j + 1}`, origin, u, v, limits: [-1, 1, -1, 1] }, states);
}

/** The plane of two principal components of the states, through their mean. */
export function planeOfComponents(n: number, i: number, j: number, states: Float64Array): Plane {
  const { mean, components, explained } = principalComponents(n, states);
  const share = (k: number): string => `${k + 1} (${Math.round(100 * explained[k])} %)`;
  const plane: Plane = {
    name: `components ${share(i)} and ${share(j)}`,
    origin: Float64Array.from(mean),
    u: components[i],
    v: i === j ? new Float64Array(n) : components[j],
    limits: [-1, 1, -1, 1],
  };
  return limited(plane, states);
}

/** The plane through three states: the first is its origin, the second lies on its first axis. */
export function planeThrough(a: Float64Array, b: Float64Array, c: Float64Array, states: Float64Array): Plane {
  const along = b.map((value, k) => value - a[k]);
  const across = c.map((value, k) => value - a[k]);
  const length = norm(along);
  const u = along.map((value) => value / length);
  const share = dot(across, u);
  const v = across.map((value, k) => value - share * u[k]);
  const height = norm(v);
  if (!(length > 0) || !(height > 1e-12 * Math.max(length, norm(across)))) {
    throw new Error("The three states lie on one line, but a plane needs three that do not.");
  }
  const plane: Plane = { name: "through three points", origin: Float64Array.from(a), u, v: v.map((value) => value / height), limits: [-1, 1, -1, 1] };
  const n = a.length;
  const corners = new Float64Array(3 * n);
  [a, b, c].forEach((corner, k) => corners.set(corner, k * n));
  const all = new Float64Array(states.length + corners.length);
  all.set(states);
  all.set(corners, states.length);
  return limited(plane, all);
}

/** The plane that shows a network best: of its first two outputs if there is one, else of its principal components. */
export function defaultPlane(system: System, states: Float64Array): Plane {
  if (system.p >= 2) {
    try {
      return planeOfOutputs(system, 0, 1, states);
    } catch {
      // the next best plane
    }
  }
  if (system.n > 2 && states.length > system.n) return planeOfComponents(system.n, 0, 1, states);
  return planeOfStates(system.n, 0, Math.min(1, system.n - 1), states);
}

/** The state at (a, b) of a plane. */
export function stateOn(plane: Plane, a: number, b: number, out: Float64Array): void {
  for (let i = 0; i < out.length; i++) out[i] = plane.origin[i] + a * plane.u[i] + b * plane.v[i];
}

/** The coordinates of a state in a plane; those of the nearest state of the plane if it lies outside. */
export function project(plane: Plane, h: Float64Array): [number, number] {
  const { u, v, origin } = plane;
  let [along, across, uu, uv, vv] = [0, 0, 0, 0, 0];
  for (let k = 0; k < h.length; k++) {
    const d = h[k] - origin[k];
    along += u[k] * d;
    across += v[k] * d;
    uu += u[k] * u[k];
    uv += u[k] * v[k];
    vv += v[k] * v[k];
  }
  return coordinates(along, across, uu, uv, vv);
}

/** The velocity (da/dt, db/dt) of a field on a plane, and the share of |dh/dt|^2 that leaves it. */
export function velocityOn(plane: Plane, field: Float64Array): { a: number; b: number; leaving: number } {
  const { u, v } = plane;
  let [along, across, uu, uv, vv, square] = [0, 0, 0, 0, 0, 0];
  for (let k = 0; k < u.length; k++) {
    const f = field[k];
    along += u[k] * f;
    across += v[k] * f;
    uu += u[k] * u[k];
    uv += u[k] * v[k];
    vv += v[k] * v[k];
    square += f * f;
  }
  const [a, b] = coordinates(along, across, uu, uv, vv);
  const within = a * a * uu + 2 * a * b * uv + b * b * vv;
  return { a, b, leaving: square > 0 ? Math.min(1, Math.max(0, 1 - within / square)) : 0 };
}

/** Solves the two equations for (a, b); a direction of length zero has the coordinate zero. */
function coordinates(along: number, across: number, uu: number, uv: number, vv: number): [number, number] {
  const determinant = uu * vv - uv * uv;
  if (determinant > 0) return [(vv * along - uv * across) / determinant, (uu * across - uv * along) / determinant];
  return [uu > 0 ? along / uu : 0, 0];
}

/** Orthonormal directions beside a plane, by decreasing variance of the states, at most `count`. */
export function directionsBeside(plane: Plane, states: Float64Array, count: number): Float64Array[] {
  const n = plane.origin.length;
  const rest = Float64Array.from(states);
  const [foot, base] = [new Float64Array(n), new Float64Array(n)];
  for (let k = 0; k + n <= rest.length; k += n) {
    base.set(rest.subarray(k, k + n));
    const [a, b] = project(plane, base);
    stateOn(plane, a, b, foot);
    for (let i = 0; i < n; i++) rest[k + i] -= foot[i];
  }
  const inside = [plane.u, plane.v].filter((direction) => norm(direction) > 0).length;
  return principalComponents(n, rest).components.slice(0, Math.max(0, Math.min(count, n - inside)));
}

export interface Components {
  mean: Float64Array;
  /** Orthonormal, by decreasing variance. */
  components: Float64Array[];
  /** The share of the variance of each. */
  explained: number[];
}

const known = new WeakMap<Float64Array, Components>();

/** Principal components of states (rows of n numbers); those of the same array are computed once. */
export function principalComponents(n: number, states: Float64Array): Components {
  const found = known.get(states) ?? computedComponents(n, states);
  known.set(states, found);
  return found;
}

function computedComponents(n: number, states: Float64Array): Components {
  const mean = meanOf(states, n);
  const covariance = new Float64Array(n * n);
  const d = new Float64Array(n);
  for (let k = 0; k + n <= states.length; k += n) {
    for (let i = 0; i < n; i++) d[i] = states[k + i] - mean[i];
    for (let i = 0; i < n; i++) for (let j = 0; j <= i; j++) covariance[i * n + j] += d[i] * d[j];
  }
  for (let i = 0; i < n; i++) for (let j = 0; j < i; j++) covariance[j * n + i] = covariance[i * n + j];
  const { values, vectors } = symmetricEigen(covariance, n);
  const total = values.reduce((sum, value) => sum + Math.max(0, value), 0);
  for (const vector of vectors) { // the same picture every time: the largest component is positive
    const largest = vector.reduce((best, value) => (Math.abs(value) > Math.abs(best) + 1e-12 ? value : best), 0);
    if (largest < 0) for (let i = 0; i < n; i++) vector[i] = -vector[i];
  }
  return { mean, components: vectors, explained: Array.from(values, (value) => (total > 0 ? Math.max(0, value) / total : 0)) };
}

/** The mean of states; zero if there are none. */
function meanOf(states: Float64Array, n: number): Float64Array {
  const mean = new Float64Array(n);
  const count = Math.floor(states.length / n);
  for (let k = 0; k < count * n; k++) mean[k % n] += states[k] / count;
  return mean;
}

function readoutJacobian(system: System, h: Float64Array): Float64Array {
  const C = new Float64Array(system.p * system.n);
  differences((state, y) => system.readout(state, y), h, system.p, C);
  return C;
}

/** Sets the limits to the range of the states with a margin, as Python does; never to nothing. */
function limited(plane: Plane, states: Float64Array): Plane {
  const n = plane.origin.length;
  let [left, right, bottom, top] = [Infinity, -Infinity, Infinity, -Infinity];
  for (let k = 0; k + n <= states.length; k += n) {
    const [a, b] = project(plane, states.subarray(k, k + n));
    if (!Number.isFinite(a) || !Number.isFinite(b)) continue;
    [left, right, bottom, top] = [Math.min(left, a), Math.max(right, a), Math.min(bottom, b), Math.max(top, b)];
  }
  if (left > right) [left, right, bottom, top] = [0, 0, 0, 0];
  const widths = [right - left, top - bottom];
  const widest = Math.max(...widths);
  const largest = Math.max(...[left, right, bottom, top].map(Math.abs));
  // A quarter of each width; where one is nothing, a quarter of the other, and around a single point its own scale.
  const isPoint = widest <= 1e-6 * Math.max(1, largest);
  const [a, b] = widths.map((width) => (isPoint ? Math.max(1, largest) : 0.25 * (width > 1e-3 * widest ? width : widest)));
  return { ...plane, limits: [left - a, right + a, bottom - b, top + b] };
}
