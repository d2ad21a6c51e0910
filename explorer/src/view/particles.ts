/** Particles carried by a sampled flow, with the recent places of each. */
import type { Grid } from "./grid";

/** Remembered places of a particle, and the number of steps between two of them. */
export const KNOTS = 4;
const SPACING = 4;
const STEP = 1 / 60;

/** The flow that carries particles: displacement per second of the viewer, in units where the view is [0, 1] wide. */
export interface Carrier {
  /** Reads the displacement at `place` (2 or 3 numbers) and returns the speed as a share of a fast one, 0 to 1. */
  at(place: Float32Array, from: number, out: Float64Array): number;
  dimensions: 2 | 3;
}

/** Flow in a plane as a carrier. */
export function carrierOf(grid: Grid): Carrier {
  const { size, velocity, frame } = grid;
  const width = frame.limits[1] - frame.limits[0];
  const height = frame.limits[3] - frame.limits[2];
  const paced = pacedVelocity(velocity, [width, height], 2);
  return {
    dimensions: 2,
    at(place, from, out) {
      const x = place[from] * (size - 1);
      const y = place[from + 1] * (size - 1);
      const i = Math.max(0, Math.min(size - 2, Math.floor(x)));
      const j = Math.max(0, Math.min(size - 2, Math.floor(y)));
      const fx = x - i;
      const fy = y - j;
      const at = 2 * (j * size + i);
      const above = at + 2 * size;
      for (let c = 0; c < 2; c++) {
        const low = paced[at + c] + fx * (paced[at + 2 + c] - paced[at + c]);
        const high = paced[above + c] + fx * (paced[above + 2 + c] - paced[above + c]);
        out[c] = low + fy * (high - low);
      }
      return Math.min(1, Math.hypot(out[0], out[1]) / FAST);
    },
  };
}

/** How much of the view's width a fast particle crosses in a second, and the share of that pace which a middling one keeps. */
const FAST = 0.22;
const MIDDLING = 0.4;

/**
 * Velocities with a pace that can be watched. Speeds differ by many powers of ten, so the pace grows with a root of the speed only, the
 * square root or a higher one: colour shows the speed, and the motion shows the direction.
 */
export function pacedVelocity(velocity: Float32Array, widths: readonly number[], dimensions: number): Float32Array {
  const nodes = velocity.length / dimensions;
  const speeds = new Float32Array(nodes);
  for (let k = 0; k < nodes; k++) {
    let sum = 0;
    for (let c = 0; c < dimensions; c++) sum += (velocity[k * dimensions + c] / widths[c]) ** 2;
    speeds[k] = Math.sqrt(sum);
  }
  const sorted = speeds.slice().sort();
  const fast = sorted[Math.floor(0.9 * (nodes - 1))] || 1;
  const middling = sorted[Math.floor(0.4 * (nodes - 1))] / fast;
  const root = middling > 0 && middling < 1 ? Math.min(0.5, Math.max(0.2, Math.log(MIDDLING) / Math.log(middling))) : 0.5;
  const made = new Float32Array(velocity.length);
  for (let k = 0; k < nodes; k++) {
    const factor = speeds[k] > 0 ? (FAST * Math.min(4, speeds[k] / fast) ** root) / speeds[k] : 0;
    for (let c = 0; c < dimensions; c++) {
      const value = (velocity[k * dimensions + c] / widths[c]) * factor;
      made[k * dimensions + c] = Number.isFinite(value) ? value : 0;
    }
  }
  return made;
}

/** `count` particles, each with its place in the unit square or cube, and a few places where it was before. */
export class Particles {
  readonly places: Float32Array;
  /** A ring of KNOTS rows of places. */
  readonly knots: Float32Array;
  /** The row of the newest knots. */
  newest = 0;
  readonly ages: Float32Array;
  /** As shares of a fast one. */
  readonly speeds: Float32Array;
  private readonly lives: Float32Array;
  private readonly flow = new Float64Array(3);
  private carrier: Carrier | null = null;
  private pending = 0;
  private steps = 0;
  private seed = 1;

  constructor(readonly count: number) {
    this.places = new Float32Array(3 * count);
    this.knots = new Float32Array(3 * KNOTS * count);
    this.ages = new Float32Array(count);
    this.speeds = new Float32Array(count);
    this.lives = new Float32Array(count);
    for (let k = 0; k < count; k++) {
      this.born(k);
      this.ages[k] = Math.floor(this.random() * this.lives[k]);
    }
  }

  /** A small generator of its own, so that the same view looks the same each time. */
  private random(): number {
    this.seed = (Math.imul(this.seed, 1664525) + 1013904223) >>> 0;
    return this.seed / 4294967296;
  }

  private born(k: number): void {
    for (let c = 0; c < 3; c++) this.places[3 * k + c] = this.random();
    for (let row = 0; row < KNOTS; row++)
      for (let c = 0; c < 3; c++) this.knots[3 * (row * this.count + k) + c] = this.places[3 * k + c];
    this.ages[k] = 0;
    this.lives[k] = 40 + 150 * this.random();
  }

  setCarrier(carrier: Carrier | null): void {
    this.carrier = carrier;
  }

  /** Lets `seconds` of the viewer's time pass. */
  advance(seconds: number): void {
    this.pending = Math.min(this.pending + seconds, 4 * STEP);
    while (this.pending >= STEP / 2) {
      this.pending -= STEP;
      this.step();
    }
  }

  /** Many steps at once, for a still picture of the flow. */
  settle(): void {
    for (let k = 0; k < 2 * KNOTS * SPACING; k++) this.step();
  }

  private step(): void {
    const { carrier, places, ages, flow, speeds } = this;
    if (carrier === null) return;
    this.steps += 1;
    if (this.steps % SPACING === 0) {
      this.newest = (this.newest + 1) % KNOTS;
      this.knots.set(places, 3 * this.newest * this.count);
    }
    for (let k = 0; k < this.count; k++) {
      const at = 3 * k;
      const speed = carrier.at(places, at, flow);
      speeds[k] = speed;
      ages[k] += speed < 0.03 ? 3 : 1; // those that hardly move make room sooner
      let inside = ages[k] < this.lives[k];
      for (let c = 0; c < carrier.dimensions; c++) {
        places[at + c] += STEP * flow[c];
        if (places[at + c] < 0 || places[at + c] > 1) inside = false;
      }
      if (!inside) this.born(k);
    }
  }

  /** How strongly a particle is drawn: it appears and goes gently, and one that stands still is not seen. */
  strength(k: number): number {
    const fade = Math.min(1, this.ages[k] / 14, (this.lives[k] - this.ages[k]) / 14);
    return Math.max(0, fade) * Math.min(1, this.speeds[k] / 0.05);
  }
}
