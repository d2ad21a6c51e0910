/** The flow in a plane, sampled on a grid: first coarsely, then finely, a little in every frame. */
import type { System } from "../math/system";
import type { PlaneFrame } from "./frame";
import type { Job } from "./scheduler";

/** States at once; of large networks few, so that a frame is not late. */
const BATCH = 64;
const SMALL_BATCH = 16;
const LARGE = 32;

/** What a grid is a sample of. */
export interface Sampled {
  system: System;
  input: Float64Array;
  /** The map's step in seconds, or null for the flow. */
  step: number | null;
}

/** Samples at size x size nodes from corner to corner, by rows from the bottom. */
export interface Grid {
  size: number;
  /** The flow along the plane in its coordinates per second: [a, b] of each node. */
  velocity: Float32Array;
  /** |dh/dt| in the whole state space. */
  speed: Float32Array;
  /** The share of |dh/dt|^2 that leaves the plane, 0 to 1. */
  leaving: Float32Array;
  frame: PlaneFrame;
}

function emptyGrid(size: number, frame: PlaneFrame): Grid {
  const nodes = size * size;
  return {
    size,
    frame,
    velocity: new Float32Array(2 * nodes),
    speed: new Float32Array(nodes),
    leaving: new Float32Array(nodes),
  };
}

/** dh/dt at `count` states, or for a map the mean velocity over one step. */
export function motion(sampled: Sampled, states: Float64Array, count: number, out: Float64Array): void {
  const { system, input, step } = sampled;
  if (step === null) {
    system.fieldMany(states, count, input, out);
    return;
  }
  const n = system.n;
  const next = new Float64Array(n);
  for (let k = 0; k < count; k++) {
    const h = states.subarray(k * n, (k + 1) * n);
    system.step(h, input, step, next);
    for (let i = 0; i < n; i++) out[k * n + i] = (next[i] - h[i]) / step;
  }
}

/** Samples a grid, one batch of states between two yields. */
function* sample(grid: Grid, sampled: Sampled): Job {
  const { frame, size } = grid;
  const n = sampled.system.n;
  const batch = n > LARGE ? SMALL_BATCH : BATCH;
  const states = new Float64Array(batch * n);
  const found = new Float64Array(batch * n);
  const { origin, u, v } = frame.plane;
  const [left, right, bottom, top] = frame.limits;
  for (let from = 0; from < size * size; from += batch) {
    const count = Math.min(batch, size * size - from);
    for (let k = 0; k < count; k++) {
      const a = left + (((from + k) % size) / (size - 1)) * (right - left);
      const b = bottom + (Math.floor((from + k) / size) / (size - 1)) * (top - bottom);
      for (let i = 0; i < n; i++) states[k * n + i] = origin[i] + a * u[i] + b * v[i];
    }
    motion(sampled, states, count, found);
    for (let k = 0; k < count; k++) keep(grid, from + k, found, k * n);
    yield;
  }
}

function keep(grid: Grid, node: number, found: Float64Array, at: number): void {
  const { first, second, plane } = grid.frame;
  const n = first.length;
  let a = 0;
  let b = 0;
  let all = 0;
  for (let i = 0; i < n; i++) {
    const f = found[at + i];
    a += first[i] * f;
    b += second[i] * f;
    all += f * f;
  }
  let out = 0;
  for (let i = 0; i < n && n > 2; i++) {
    const d = found[at + i] - a * plane.u[i] - b * plane.v[i];
    out += d * d;
  }
  grid.velocity[2 * node] = a;
  grid.velocity[2 * node + 1] = b;
  grid.speed[node] = Math.sqrt(all);
  grid.leaving[node] = all > 0 ? Math.min(1, out / all) : 0;
}

/**
 * Samples finer and finer grids for ever changing conditions. `wanted` says what to sample; asking again while a coarse grid is under
 * way lets it finish first, so that a slider in motion always has a picture.
 */
export class GridSampler {
  private stale = false;

  constructor(
    private readonly wanted: () => { sampled: Sampled; frame: PlaneFrame; sizes: readonly number[] },
    private readonly ready: (grid: Grid, finest: boolean) => void,
  ) {}

  renew(): void {
    this.stale = true;
  }

  /** A job that never ends; it yields "nothing to do" to the scheduler by returning, and is started again by `renew`. */
  *job(): Job {
    while (this.stale) {
      this.stale = false;
      const { sampled, frame, sizes } = this.wanted();
      for (let stage = 0; stage < sizes.length; stage++) {
        const grid = emptyGrid(sizes[stage], frame);
        for (const _ of sample(grid, sampled)) {
          yield;
          if (this.stale && stage > 0) break;
        }
        if (this.stale && stage > 0) break;
        this.ready(grid, stage === sizes.length - 1);
      }
    }
  }
}

/** Flow and speed between the nodes, by bilinear interpolation; `out` receives [a', b', speed, leaving]. */
export function interpolate(grid: Grid, s: number, t: number, out: Float64Array): void {
  const { size, velocity, speed, leaving } = grid;
  const x = Math.min(0.999999, Math.max(0, s)) * (size - 1);
  const y = Math.min(0.999999, Math.max(0, t)) * (size - 1);
  const i = Math.floor(x);
  const j = Math.floor(y);
  const weights = [(1 - x + i) * (1 - y + j), (x - i) * (1 - y + j), (1 - x + i) * (y - j), (x - i) * (y - j)];
  const nodes = [j * size + i, j * size + i + 1, (j + 1) * size + i, (j + 1) * size + i + 1];
  out.fill(0);
  for (let k = 0; k < 4; k++) {
    out[0] += weights[k] * velocity[2 * nodes[k]];
    out[1] += weights[k] * velocity[2 * nodes[k] + 1];
    out[2] += weights[k] * speed[nodes[k]];
    out[3] += weights[k] * leaving[nodes[k]];
  }
}

/** The nodes whose speed is smaller than that of their neighbours: where fixed points and their ghosts are. */
export function slowNodes(grid: Grid, most: number): Float64Array[] {
  const { size, speed, frame } = grid;
  const found: { speed: number; at: number }[] = [];
  const rows = frame.plane.origin.length === 1 ? 1 : size; // with one state all rows are the same
  for (let j = 0; j < rows; j++) {
    for (let i = 0; i < size; i++) {
      const here = speed[j * size + i];
      let least = true;
      for (let dj = -1; dj <= 1 && least; dj++)
        for (let di = -1; di <= 1; di++) {
          const inside = i + di >= 0 && i + di < size && j + dj >= 0 && j + dj < size;
          if (inside && (di !== 0 || dj !== 0) && speed[(j + dj) * size + i + di] < here) least = false;
        }
      if (least) found.push({ speed: here, at: j * size + i });
    }
  }
  found.sort((a, b) => a.speed - b.speed);
  return found.slice(0, most).map(({ at }) => {
    const h = new Float64Array(frame.plane.origin.length);
    frame.stateAt(((at % size) / (size - 1)) * frame.size.width, (1 - Math.floor(at / size) / (size - 1)) * frame.size.height, h);
    return h;
  });
}

/** The logarithms of the speeds that bound all but the slowest and fastest 2 % of a grid. */
export function speedRange(speeds: ArrayLike<number>): [number, number] {
  const sorted = Float64Array.from(speeds).filter((value) => value > 0 && Number.isFinite(value)).sort();
  if (sorted.length === 0) return [-1, 1];
  const low = Math.log10(sorted[Math.floor(0.005 * (sorted.length - 1))]);
  const high = Math.log10(sorted[Math.floor(0.98 * (sorted.length - 1))]);
  return high - low < 0.5 ? [high - 0.5, high] : [Math.max(low, high - 4), high];
}
