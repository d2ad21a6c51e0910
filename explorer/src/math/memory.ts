/** How long a state is remembered. */
import { distance } from "./linear";
import { finished } from "./fixed-points";
import type { System } from "./system";

export interface MemoryOptions {
  /** The largest |y(t) - y(0)| of a memory that still holds, 0.1 by default. */
  tolerance?: number;
  /** The simulated time in seconds, 1000 bins by default. */
  horizon?: number;
  /** The length of a bin in seconds, the network's by default. */
  dt?: number;
}

const TOLERANCE = 0.1;
const HORIZON_IN_BINS = 1000;
const BINS_AT_A_TIME = 20;

/**
 * The time in seconds at which the output of a state first differs by more than the tolerance from what it was, at a constant
 * input; infinite if it does not within the horizon. It is the entry of this state in `lifetimes` of
 * gnode.analysis.memory_lifetime: the same map, tolerance, horizon and times of bins. What that function says of many states
 * (quartiles, median, the share that survives) has no counterpart for one.
 */
export function memoryTime(system: System, h: Float64Array, x: Float64Array, options: MemoryOptions = {}): number {
  return finished(measuringMemory(system, h, x, options));
}

/** The same a little at a time: yields after every few bins. */
export function* measuringMemory(
  system: System, h: Float64Array, x: Float64Array, options: MemoryOptions = {},
): Generator<void, number, void> {
  const { tolerance = TOLERANCE, dt = system.dt } = options;
  const bins = Math.max(1, Math.round((options.horizon ?? HORIZON_IN_BINS * dt) / dt));
  const first = new Float64Array(system.p);
  const y = new Float64Array(system.p);
  const [state, next] = [Float64Array.from(h), new Float64Array(system.n)];
  system.readout(state, first);
  for (let bin = 1; bin <= bins; bin++) {
    system.step(state, x, dt, next);
    state.set(next);
    system.readout(state, y);
    if (!(distance(y, first) <= tolerance)) return bin * dt; // NaN has departed, too
    if (bin % BINS_AT_A_TIME === 0) yield;
  }
  return Infinity;
}
