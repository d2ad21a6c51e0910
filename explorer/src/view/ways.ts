/** Which slider moved, and what the bar of events must know of it. */
import { duration, steady } from "./format";
import type { Way } from "./event-bar";
import type { Model } from "./model";
import type { Key, Store, ViewState } from "./store";
import type { Parameter } from "./tracker";

/** The parameter that differs between two views, with its value before; null if none does. */
export function movedParameter(before: ViewState, now: ViewState, changed: ReadonlySet<Key>): { parameter: Parameter; from: number } | null {
  if (changed.has("inputs")) {
    const i = now.inputs.findIndex((value, k) => value !== (before.inputs[k] ?? 0));
    if (i >= 0) return { parameter: { name: `input ${i}`, value: now.inputs[i] }, from: before.inputs[i] ?? 0 };
  }
  if (changed.has("timeScale")) return { parameter: { name: "tau", value: Math.log10(now.timeScale) }, from: Math.log10(before.timeScale) };
  if (changed.has("dtScale")) return now.map ? { parameter: { name: "dt", value: Math.log10(now.dtScale) }, from: Math.log10(before.dtScale) } : null;
  if (changed.has("openGate")) return { parameter: { name: "gate", value: now.openGate ? 1 : 0 }, from: before.openGate ? 1 : 0 };
  if (changed.has("map")) return { parameter: { name: "map", value: now.map ? 1 : 0 }, from: before.map ? 1 : 0 };
  return null;
}

/** The range and the words of a parameter. */
export function wayOf(name: string, model: Model, store: Store, epochs: readonly number[], goToEpoch: (epoch: number) => void): Way {
  const input = /^input (\d+)$/.exec(name);
  if (input !== null) {
    const i = Number(input[1]);
    const size = 1.5 * (model.inputSizes[i] ?? 1);
    const go = (value: number): void => store.set({ inputs: Array.from({ length: model.base.m }, (_, k) => (k === i ? value : (store.state.inputs[k] ?? 0))) });
    return { label: model.network.input_names[i] ?? `input ${i + 1}`, low: -size, high: size, words: (value) => steady(value), go };
  }
  if (name === "tau" || name === "dt") {
    const base = name === "tau" ? model.base.tau : model.base.dt;
    const key = name === "tau" ? "timeScale" : "dtScale";
    return { label: name === "tau" ? "\u03c4" : "dt", low: -1, high: 1, words: (value) => duration(base * 10 ** value), go: (value) => store.set({ [key]: 10 ** value }) };
  }
  if (name === "epoch") {
    const [low, high] = [Math.min(...epochs), Math.max(...epochs)];
    return { label: "training, epoch", low, high: high > low ? high : low + 1, words: (value) => String(Math.round(value)), go: goToEpoch };
  }
  return { label: name === "gate" ? "the gate" : name === "map" ? "flow and map" : name, low: 0, high: 1, words: String };
}
