/** Launched trajectories: computed a little in every frame, and drawn as they grow. */
import { trajectory, type Law, type Trajectory } from "./motion";
import type { Path } from "./overlay";
import type { Scheduler } from "./scheduler";
import type { Launch } from "./store";

interface Entry {
  launch: Launch;
  start: Float64Array;
  made: Trajectory;
  /** How many rows are shown; grows by itself. */
  shown: number;
}

const ROWS_PER_SECOND = 260;

export class Trajectories {
  private entries: Entry[] = [];

  constructor(
    private readonly scheduler: Scheduler,
    private readonly name: string,
    private readonly changed: () => void,
  ) {}

  /** Computes all anew under a law and an input. A launch that was there before is shown at once in its old length. */
  renew(launches: readonly Launch[], law: Law, x: Float64Array, startOf: (launch: Launch) => Float64Array): void {
    const known = new Map(this.entries.map((entry) => [entry.launch.id, entry]));
    for (const id of known.keys()) if (!launches.some((launch) => launch.id === id)) this.scheduler.stop(this.job(id));
    this.entries = launches.map((launch) => {
      const before = known.get(launch.id);
      const start = before !== undefined && before.launch === launch ? before.start : startOf(launch);
      const entry = { launch, start, made: { states: new Float64Array(), rows: 0, time: 0, done: false }, shown: before?.shown ?? 1 };
      const scale = Math.max(0.5, Math.sqrt(start.reduce((sum, value) => sum + value * value, 0)));
      this.scheduler.start(this.job(launch.id), trajectory(entry.made, law, start, x, scale, launch.id));
      return entry;
    });
    this.changed();
  }

  private job(id: number): string {
    return `${this.name} launch ${id}`;
  }

  /** Lets the drawn part grow; returns whether it did. */
  grow(seconds: number, motion: boolean): boolean {
    let grown = false;
    for (const entry of this.entries) {
      const before = entry.shown;
      entry.shown = motion ? Math.min(entry.made.rows, before + Math.max(1, seconds * ROWS_PER_SECOND)) : entry.made.rows;
      if (Math.floor(entry.shown) !== Math.floor(before) || !entry.made.done) grown = true;
    }
    return grown;
  }

  paths(dotted: boolean): Path[] {
    return this.entries
      .filter((entry) => entry.made.rows > 0)
      .map((entry) => ({ class: "launch", states: entry.made.states, rows: Math.max(1, Math.min(entry.made.rows, Math.floor(entry.shown))), dotted }));
  }

  /** The beginnings, which can be taken and dragged. */
  starts(): { id: number; h: Float64Array }[] {
    return this.entries.map(({ launch, start }) => ({ id: launch.id, h: start }));
  }

  destroy(): void {
    for (const { launch } of this.entries) this.scheduler.stop(this.job(launch.id));
    this.entries = [];
  }
}
