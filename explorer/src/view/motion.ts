/** How states move in time: along the flow or by the trained map, with noise if there is any. */
import { rk4 } from "../math/steps";
import type { System } from "../math/system";
import type { Job } from "./scheduler";

/** Under what a state moves. */
export interface Law {
  system: System;
  /** Whether time goes by steps of the trained map. */
  map: boolean;
  /** The step of the map, and the longest of the flow, in seconds. */
  dt: number;
  /** Standard deviation of the noise that is added in a second. */
  noise: number;
}

/** Normal numbers from a seed, so that a link shows the same noise. */
export class Noise {
  private seed: number;
  private spare: number | null = null;

  constructor(seed: number) {
    this.seed = (Math.imul(seed + 1, 2654435761) ^ 0x9e3779b9) >>> 0;
  }

  private uniform(): number {
    this.seed = (Math.imul(this.seed, 1664525) + 1013904223) >>> 0;
    return (this.seed + 0.5) / 4294967296;
  }

  normal(): number {
    if (this.spare !== null) {
      const kept = this.spare;
      this.spare = null;
      return kept;
    }
    const radius = Math.sqrt(-2 * Math.log(this.uniform()));
    const angle = 2 * Math.PI * this.uniform();
    this.spare = radius * Math.sin(angle);
    return radius * Math.cos(angle);
  }
}

/** The longest step of the flow that is still drawn smoothly. */
export function flowStep(law: Law): number {
  return Math.min(law.dt, 0.25 * law.system.tau);
}

/** Moves a state by one step of `dt` seconds, in place. */
export function moveOn(law: Law, h: Float64Array, x: Float64Array, dt: number, noise: Noise): void {
  if (law.map) {
    const next = new Float64Array(h.length);
    law.system.step(h, x, dt, next);
    h.set(next);
  } else {
    rk4(law.system, h, x, dt, h);
  }
  if (law.noise > 0) for (let i = 0; i < h.length; i++) h[i] += law.noise * Math.sqrt(dt) * noise.normal();
}

export function isFinite(h: Float64Array): boolean {
  for (let i = 0; i < h.length; i++) if (!(Math.abs(h[i]) < 1e8)) return false;
  return true;
}

/** A trajectory from a given state under a constant input; rows are added as they are computed. */
export interface Trajectory {
  states: Float64Array;
  rows: number;
  /** The time of the last row in seconds. */
  time: number;
  done: boolean;
}

const MOST_ROWS = 700;
/** A trajectory ends when it is this slow: the share of `scale` that it moves in one tau. */
const STILL = 2e-4;

/** Computes a trajectory until it rests, leaves, or is long enough. */
export function* trajectory(made: Trajectory, law: Law, start: Float64Array, x: Float64Array, scale: number, seed: number): Job {
  const n = start.length;
  made.states = new Float64Array(MOST_ROWS * n);
  made.states.set(start);
  made.rows = 1;
  made.time = 0;
  made.done = false;
  const h = Float64Array.from(start);
  const kept = Float64Array.from(start);
  const noise = new Noise(seed);
  const dt = law.map ? law.dt : flowStep(law);
  let still = 0;
  for (let step = 1; step <= 40 * MOST_ROWS && made.rows < MOST_ROWS; step++) {
    moveOn(law, h, x, dt, noise);
    made.time += dt;
    if (!isFinite(h)) break;
    let moved = 0;
    for (let i = 0; i < n; i++) moved += (h[i] - kept[i]) ** 2;
    // Slow flow is recorded when it has moved visibly, so that few rows hold a long time.
    if (law.map || Math.sqrt(moved) > 0.004 * scale) {
      made.states.set(h, made.rows * n);
      made.rows += 1;
      kept.set(h);
      still = 0;
    } else if (law.noise === 0 && Math.sqrt(moved) < (STILL * scale * (++still * dt)) / law.system.tau && still * dt > 40 * law.system.tau) {
      break;
    }
    if (step % 8 === 0) yield;
  }
  if (made.rows < MOST_ROWS && isFinite(h)) {
    made.states.set(h, made.rows * n);
    made.rows += 1;
  }
  made.done = true;
}
