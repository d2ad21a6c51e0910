/** A validation trial, run again in the page under whatever the sliders say. */
import { moveOn, Noise, type Law } from "./motion";
import type { Model, Trials } from "./model";
import type { Job } from "./scheduler";

export interface TrialRun {
  index: number;
  bins: number;
  dt: number;
  /** By rows, one for each bin: the input with the sliders' constant added, the state after the bin, its output. */
  inputs: Float64Array;
  states: Float64Array;
  outputs: Float64Array;
  targets: Float64Array | null;
  /** How many bins are computed so far. */
  done: number;
}

/** How many bins a trial has before its padding. */
export function binsOf(model: Model, trials: Trials, index: number): number {
  return Math.max(1, Math.min(trials.bins, model.network.trials?.lengths?.[index] ?? trials.bins));
}

export function emptyRun(model: Model, trials: Trials, index: number, constant: ArrayLike<number>): TrialRun {
  const { n, m, p } = model.base;
  const bins = binsOf(model, trials, index);
  const inputs = trials.inputs.slice(index * trials.bins * m, (index * trials.bins + bins) * m);
  for (let k = 0; k < inputs.length; k++) inputs[k] += constant[k % m] ?? 0;
  const targets = trials.targets === null ? null : trials.targets.slice(index * trials.bins * p, (index * trials.bins + bins) * p);
  return { index, bins, dt: trials.dt, inputs, targets, states: new Float64Array(bins * n), outputs: new Float64Array(bins * p), done: 0 };
}

/**
 * Computes the states of a run, bin by bin. A map takes the steps that fit into the time so far, so that with a longer step it stands
 * still in some bins and with a shorter one it takes several; the flow takes several steps in a bin.
 */
export function* runTrial(run: TrialRun, law: Law): Job {
  const { system } = law;
  const { n, m, p } = system;
  const h = new Float64Array(n);
  const noise = new Noise(11 + run.index);
  system.initial(run.inputs.subarray(0, m), h);
  const flowSteps = Math.max(1, Math.min(40, Math.ceil(run.dt / Math.min(law.dt, 0.25 * system.tau))));
  let taken = 0;
  for (let bin = 0; bin < run.bins; bin++) {
    const x = run.inputs.subarray(bin * m, (bin + 1) * m);
    const due = law.map ? Math.floor(((bin + 1) * run.dt) / law.dt + 1e-6) - taken : flowSteps;
    for (let k = 0; k < due; k++) moveOn(law, h, x, law.map ? law.dt : run.dt / flowSteps, noise);
    taken += due;
    run.states.set(h, bin * n);
    system.readout(h, run.outputs.subarray(bin * p, (bin + 1) * p));
    run.done = bin + 1;
    if (bin % 4 === 3) yield;
  }
}
