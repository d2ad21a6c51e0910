/** The state that moves by itself: launched, dragged, pushed by pulses, with its recent path and its recent inputs and outputs. */
import { flowStep, isFinite, moveOn, Noise, type Law } from "./motion";

const TRAIL = 360;
const RECORD = 600;
/** A move of the state that nobody sees. */
const AT_REST = 1e-5;
/** After so many seconds of the viewer's without an event time stands still, and nothing need be drawn. */
const QUIET = 4;
/** So many steps in a frame at most; a slow machine lets time pass more slowly instead of stopping. */
const MOST_STEPS = 60;

/** Inputs and outputs of the recent past, in rings. */
export interface Recent {
  times: Float64Array;
  inputs: Float64Array;
  outputs: Float64Array;
  next: number;
  count: number;
}

export class Live {
  readonly h: Float64Array;
  /** Whether it is held by the pointer. */
  held = false;
  time = 0;
  readonly trail: Float64Array;
  rows = 0;
  readonly record: Recent;
  private pending = 0;
  /** For how many seconds nothing has happened, and under what. */
  private quiet = 0;
  private readonly last: Float64Array;
  private law: Law["system"] | null = null;
  private readonly noise = new Noise(3);
  private readonly y: Float64Array;

  constructor(
    readonly n: number,
    readonly m: number,
    readonly p: number,
  ) {
    this.h = new Float64Array(n);
    this.trail = new Float64Array(TRAIL * n);
    this.y = new Float64Array(p);
    this.last = new Float64Array(m);
    this.record = { times: new Float64Array(RECORD), inputs: new Float64Array(RECORD * m), outputs: new Float64Array(RECORD * p), next: 0, count: 0 };
  }

  /** Puts the state somewhere else; its path begins anew. */
  put(h: ArrayLike<number>): void {
    for (let i = 0; i < this.n; i++) this.h[i] = h[i];
    this.rows = 0;
    this.pending = 0;
    this.quiet = 0;
    this.remember();
  }

  /**
   * Lets `seconds` of the viewer's time pass, in each of which `pace` seconds of the network's. Returns whether anything happened: a state at rest under an input that has not changed
   * for a while stays as it is, and its time stands still.
   */
  advance(law: Law, x: Float64Array, seconds: number, pace: number): boolean {
    if (this.quiet > QUIET && !this.held && law.noise === 0 && x.every((value, i) => value === this.last[i]) && this.law === law.system) return false;
    const dt = law.map ? law.dt : flowStep(law);
    this.pending = Math.min(this.pending + seconds * pace, MOST_STEPS * dt);
    let moved = false;
    while (this.pending >= (law.map ? dt : 1e-9)) {
      const step = law.map ? dt : Math.min(dt, this.pending);
      this.pending -= step;
      this.time += step;
      if (!this.held) {
        moveOn(law, this.h, x, step, this.noise);
        if (!isFinite(this.h)) this.h.fill(0);
      }
      moved = true;
    }
    if (moved) {
      this.quiet = this.remember() || x.some((value, i) => value !== this.last[i]) || this.law !== law.system ? 0 : this.quiet + seconds;
      this.last.set(x);
      this.law = law.system;
      this.note(law, x);
    }
    return moved;
  }

  /** Wakes a state that rests. */
  wake(): void {
    this.quiet = 0;
  }

  /** Adds the state to its path, unless it is where it was; returns whether it moved. */
  private remember(): boolean {
    let moved = this.rows === 0 ? Infinity : 0;
    const last = (this.rows - 1) * this.n;
    for (let i = 0; i < this.n && this.rows > 0; i++) moved = Math.max(moved, Math.abs(this.h[i] - this.trail[last + i]));
    if (moved < AT_REST) return false;
    if (this.rows === TRAIL) {
      this.trail.copyWithin(0, this.n);
      this.rows -= 1;
    }
    this.trail.set(this.h, this.rows * this.n);
    this.rows += 1;
    return true;
  }

  private note(law: Law, x: Float64Array): void {
    const { record } = this;
    law.system.readout(this.h, this.y);
    record.times[record.next] = this.time;
    record.inputs.set(x, record.next * this.m);
    record.outputs.set(this.y, record.next * this.p);
    record.next = (record.next + 1) % RECORD;
    record.count = Math.min(RECORD, record.count + 1);
  }
}
