/** Fixed points at a constant input: the search from many starts, and what is known about each point. */
import type { Kind, Status } from "./document";
import { eigen, type Complex, type Eigen } from "./eigen";
import { distance, norm } from "./linear";
import { Newton } from "./newton";
import { classify, DEFAULT_MARGIN, growthRates, timeConstant } from "./stability";
import type { System } from "./system";

export { follow, following, type Change, type FollowOptions } from "./following";

export interface FixedPoint {
  h: Float64Array;
  kind: Kind;
  /** As Python's: an equilibrium, or, if slow states are kept, one that is only slow or whose gate is shut. */
  status: Status;
  /** |F(h) - h|, where F is the network of a gated cell, else the map of one bin. */
  residual: number;
  /** |dh/dt|, in state per second. */
  speed: number;
  /** The largest component of the gate; 1 without a gate. */
  gate: number;
  /** Of the flow's Jacobian, by decreasing real part; for the kind "map" of the map's, by decreasing modulus. */
  eigenvalues: Complex[];
  /** In the order of the eigenvalues; computed when they are first asked for. */
  readonly eigenvectors: Eigen["vectors"];
  /** -1 / Re(eigenvalue) in seconds, one for each eigenvalue; negative where the direction grows, infinite where neither. For the map -dt / ln|eigenvalue|. */
  timeConstants: number[];
}

export interface SearchOptions {
  /** A state with |drift| below this is an equilibrium, 1e-9 by default. */
  tolerance?: number;
  /** The largest number of iterations of a start, 100 by default. */
  maxIterations?: number;
  /** Points closer than this are merged, 1e-6 by default. */
  mergeRadius?: number;
  /** Marginal points, which lie on a continuum, are merged if closer than this; `mergeRadius` by default. */
  spacing?: number;
  /** Directions slower than this share of 1 / tau are marginal, 0.01 by default. */
  margin?: number;
  /** Whether kinds and eigenvalues are those of the flow (by default) or of the map. */
  kind?: "flow" | "map";
  /** The length of a bin in seconds, the network's by default. */
  dt?: number;
  /** Points that need not be found again: what ends at one of them is left out, before its eigenvalues are computed. */
  known?: readonly FixedPoint[];
  /** Whether states that are slower than `slowSpeed` are kept although they are no equilibria. */
  keepSlow?: boolean;
  /** In state per second, 0.01 by default. */
  slowSpeed?: number;
}

export const TOLERANCE = 1e-9;
export const MERGE_RADIUS = 1e-6;
export const MOST_ITERATIONS = 100;
const SLOW_SPEED = 0.01;
const SHUT = 1e-3; // a gate is closed if all of its components are below this

/** Searches from every start; the points are sorted by the first component of the state. */
export function fixedPoints(system: System, x: Float64Array, starts: readonly Float64Array[], options: SearchOptions = {}): FixedPoint[] {
  return finished(searching(system, x, starts, options));
}

/** The same a little at a time: yields after every iteration of a start, and after every point. */
export function* searching(
  system: System, x: Float64Array, starts: readonly Float64Array[], options: SearchOptions = {},
): Generator<void, FixedPoint[], void> {
  const newton = new Newton(system, options.tolerance ?? TOLERANCE, options.maxIterations ?? MOST_ITERATIONS);
  const found: Measured[] = [];
  for (const start of starts) {
    const root = yield* newton.from(start, x);
    const end = measure(system, x, root.h, options);
    if (end !== null) found.push(end);
    else if (options.keepSlow === true && system.hasGate) {
      const here = measure(system, x, start, options); // a start that did not converge may be held by a shut gate
      if (here?.status === "closed_gate") found.push(here);
    }
  }
  const points: FixedPoint[] = [];
  const radius = options.mergeRadius ?? MERGE_RADIUS;
  for (const kept of merged(found, radius)) {
    if (options.known?.some((other) => other.status === kept.status && distance(other.h, kept.h) <= radius)) continue;
    const point = described(system, x, kept, options);
    if (!isSpaced(point, options.known ?? [], options) || !isSpaced(point, points, options)) continue;
    points.push(point);
    yield;
  }
  return points.sort(byFirstComponent);
}

/** Everything that is known about a state as a fixed point, whether it is one or not. */
export function fixedPointAt(system: System, x: Float64Array, h: Float64Array, options: SearchOptions = {}): FixedPoint {
  const measured = measure(system, x, h, { ...options, keepSlow: true, slowSpeed: Infinity });
  return described(system, x, measured ?? { h, residual: NaN, speed: NaN, gate: NaN, status: "slow" }, options);
}

/** Runs a generator to its end. */
export function finished<T>(work: Generator<void, T, void>): T {
  let step = work.next();
  while (step.done !== true) step = work.next();
  return step.value;
}

type Measured = Pick<FixedPoint, "h" | "residual" | "speed" | "gate" | "status">;

/** Measures a state and labels it by the rules of Python's search; null if it is not to be kept. */
function measure(system: System, x: Float64Array, h: Float64Array, options: SearchOptions): Measured | null {
  const out = new Float64Array(system.n);
  system.field(h, x, out);
  const speed = norm(out);
  system.drift(h, x, out);
  const drift = norm(out);
  let gate = 1;
  let residual = drift;
  if (system.hasGate) {
    system.gate(h, x, out);
    gate = out.reduce((most, component) => Math.max(most, component), -Infinity);
  } else {
    system.step(h, x, options.dt ?? system.dt, out);
    residual = distance(out, h);
  }
  if (!Number.isFinite(speed) || !Number.isFinite(drift)) return null;
  const isRoot = drift <= (options.tolerance ?? TOLERANCE);
  const isSlow = speed <= (options.slowSpeed ?? SLOW_SPEED);
  const openness = (speed * system.tau) / Math.max(drift, Number.MIN_VALUE);
  const isShut = system.hasGate && (gate < SHUT || (!isRoot && openness < SHUT));
  if (!isRoot && !(options.keepSlow === true && isSlow)) return null;
  const status = isSlow && isShut ? "closed_gate" : isRoot ? "equilibrium" : "slow";
  return { h: Float64Array.from(h), residual, speed, gate, status };
}

/** Each point goes to the best one within `radius`; points of different status stay apart. */
function merged(points: Measured[], radius: number): Measured[] {
  const kept: Measured[] = [];
  for (const point of [...points].sort((a, b) => a.residual - b.residual)) {
    if (!kept.some((other) => other.status === point.status && distance(other.h, point.h) <= radius)) kept.push(point);
  }
  return kept;
}

/** Whether a point is not on a continuum, or far enough from the others on it. */
export function isSpaced(point: FixedPoint, others: readonly FixedPoint[], options: SearchOptions): boolean {
  const spacing = options.spacing ?? 0;
  if (point.kind !== "marginal" || spacing === 0) return true;
  return !others.some((other) => other.kind === "marginal" && distance(other.h, point.h) <= spacing);
}

function described(system: System, x: Float64Array, measured: Measured, options: SearchOptions): FixedPoint {
  const { n } = system;
  const by = options.kind ?? "flow";
  const dt = options.dt ?? system.dt;
  const J = new Float64Array(n * n);
  if (by === "flow") system.jacobian(measured.h, x, J);
  else system.mapJacobian(measured.h, x, dt, J);
  const found = eigen(J, n, by);
  const rates = growthRates(found.values, by, dt);
  return {
    ...measured,
    kind: classify(rates, (options.margin ?? DEFAULT_MARGIN) / system.tau),
    eigenvalues: found.values,
    get eigenvectors() { return found.vectors; },
    timeConstants: rates.map(timeConstant),
  };
}

function byFirstComponent(a: FixedPoint, b: FixedPoint): number {
  for (let i = 0; i < a.h.length; i++) {
    const difference = Math.round(a.h[i] * 1e6) - Math.round(b.h[i] * 1e6);
    if (difference !== 0) return difference;
  }
  return 0;
}
