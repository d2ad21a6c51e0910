/** Fixed points that move with the input: which are still there, which are new, and which have changed their kind. */
import {
  finished, fixedPointAt, MERGE_RADIUS, MOST_ITERATIONS, searching, TOLERANCE, type FixedPoint, type SearchOptions,
} from "./fixed-points";
import { distance, norm } from "./linear";
import { Newton, type Root } from "./newton";
import { DEFAULT_MARGIN } from "./stability";
import type { System } from "./system";

export interface FollowOptions extends SearchOptions {
  /** The input at which `points` were found. With it a long way is walked in as many small steps as the points need. */
  from?: Float64Array;
  /** States from which new points are looked for. */
  starts?: readonly Float64Array[];
}

export interface Change {
  /** Those of the given points that are still there, in their order, and then the new ones. */
  points: FixedPoint[];
  born: FixedPoint[];
  /** Those of `born` that can be followed back to the input `from`: they were there already, and had been overlooked. */
  missed: FixedPoint[];
  /** Of the given points. */
  died: FixedPoint[];
  /** `before` is one of the given points, `after` one of `points`. */
  changed: { before: FixedPoint; after: FixedPoint }[];
}

/** Finds the given points again at another input x. */
export function follow(points: readonly FixedPoint[], system: System, x: Float64Array, options: FollowOptions = {}): Change {
  return finished(following(points, system, x, options));
}

/** The same a little at a time: yields after every iteration. */
export function* following(
  points: readonly FixedPoint[], system: System, x: Float64Array, options: FollowOptions = {},
): Generator<void, Change, void> {
  const newton = new Newton(system, options.tolerance ?? TOLERANCE, options.maxIterations ?? MOST_ITERATIONS);
  const ends: (Float64Array | null)[] = [];
  for (const point of points) ends.push(yield* followed(newton, point, points, x, options.from ?? null));
  parted(points, ends, options.mergeRadius ?? MERGE_RADIUS);
  const change: Change = { points: [], born: [], missed: [], died: [], changed: [] };
  for (let k = 0; k < points.length; k++) {
    const end = ends[k];
    if (end === null) {
      change.died.push(points[k]);
      continue;
    }
    const after = fixedPointAt(system, x, end, options);
    if (after.kind !== points[k].kind) change.changed.push({ before: points[k], after });
    change.points.push(after);
    yield;
  }
  const starts = [...(options.starts ?? []), ...change.changed.flatMap(({ after }) => besides(after, points, system, options))];
  change.born = yield* searching(system, x, starts, { ...options, known: change.points });
  change.points.push(...change.born);
  if (options.from !== undefined) {
    for (const point of change.born) {
      const before = yield* followed(newton, point, change.points, options.from, x);
      if (before !== null && !points.some((other) => distance(other.h, before) <= NEAR)) change.missed.push(point);
    }
  }
  return change;
}

const NEAR = 1e-3; // a way back that ends so close to a given point has come to where the two were one
const SMALLEST_SHARE = 1 / 64; // of the way; a point that cannot take such a step has died
const MOST_CORRECTIONS = 8;
const MOST_DETOUR = 2; // a root farther away than this many first steps may be another point's
const RETURNED = 1e-3; // of the way that was walked

/**
 * Walks from one input to the other. At each step Newton's first step is the prediction along the tangent. A step that needs many
 * corrections, ends far from its prediction, or could reach another point must lead back to where it began; if it does not, it is
 * taken again at half the length.
 */
function* followed(
  newton: Newton, point: FixedPoint, points: readonly FixedPoint[], x: Float64Array, from: Float64Array | null,
): Generator<void, Float64Array | null, void> {
  if (from === null) {
    const root = yield* newton.from(point.h, x);
    return root.converged ? root.h : null;
  }
  const nearest = points.reduce((least, other) => (other === point ? least : Math.min(least, distance(other.h, point.h))), Infinity);
  let here = from;
  let h = point.h;
  let share = 1;
  for (let done = 0; done < 1; ) {
    const next = Math.min(1, done + share);
    const between = next === 1 ? x : x.map((value, i) => from[i] + next * (value - from[i]));
    const root: Root = yield* newton.from(h, between);
    const moved = distance(root.h, h);
    const isPlain = root.iterations <= MOST_CORRECTIONS && moved <= MOST_DETOUR * root.firstStep + MERGE_RADIUS && moved < nearest / 2;
    if (root.converged && (isPlain || (yield* leadsBack(newton, root.h, here, h, moved)))) {
      [h, here, done] = [root.h, between, next];
      share *= 2;
    } else if (share > SMALLEST_SHARE) {
      share /= 2;
    } else {
      return null;
    }
  }
  return h;
}

/** Whether Newton's method finds the way from a point back to the one that it was. */
function* leadsBack(
  newton: Newton, h: Float64Array, x: Float64Array, origin: Float64Array, moved: number,
): Generator<void, boolean, void> {
  const back: Root = yield* newton.from(h, x);
  return back.converged && distance(back.h, origin) <= MERGE_RADIUS + RETURNED * moved;
}

/** Of points that have come to the same place only the one that moved least is left. */
function parted(points: readonly FixedPoint[], ends: (Float64Array | null)[], radius: number): void {
  const moved = ends.map((end, k) => (end === null ? Infinity : distance(end, points[k].h)));
  const order = points.map((_point, k) => k).sort((i, j) => moved[i] - moved[j]);
  const kept: { end: Float64Array; from: Float64Array }[] = [];
  for (const k of order) {
    const end = ends[k];
    if (end === null) continue;
    // points that were already this close are the same point twice, or lie on a continuum
    const isTaken = kept.some((other) => distance(other.end, end) <= radius && distance(other.from, points[k].h) > radius);
    if (isTaken) ends[k] = null;
    else kept.push({ end, from: points[k].h });
  }
}

const OFFSETS = [0.02, 0.1, 0.5]; // of the size of the set of points

/**
 * Starts on both sides of a point that has changed its kind: where one direction has turned, new points branch off along it.
 * Around a marginal point everything is a root up to the tolerance, so the branches are looked for when it is no longer one.
 */
function besides(point: FixedPoint, points: readonly FixedPoint[], system: System, options: FollowOptions): Float64Array[] {
  if (point.kind === "marginal") return [];
  const { n } = system;
  const margin = (options.margin ?? DEFAULT_MARGIN) / system.tau;
  const rates = point.timeConstants.map((constant) => -1 / constant);
  const slowest = point.eigenvalues
    .map((_value, k) => k)
    .filter((k) => point.eigenvalues[k].im === 0)
    .sort((i, j) => Math.abs(rates[i]) - Math.abs(rates[j]));
  const turned = slowest.find((k) => rates[k] > -margin) ?? slowest[0];
  if (turned === undefined) return [];
  const size = Math.max(1, norm(point.h) / Math.sqrt(n), ...points.map((other) => distance(other.h, point.h)));
  const starts: Float64Array[] = [];
  for (const offset of OFFSETS) {
    for (const sign of [-1, 1]) {
      starts.push(point.h.map((value, i) => value + sign * offset * size * point.eigenvectors.re[i * n + turned]));
    }
  }
  return starts;
}
