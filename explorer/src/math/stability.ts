/** The kinds of states, with the meanings of gnode/analysis/_stability.py. */
import type { Kind } from "./document";
import type { Complex } from "./eigen";

/** Directions slower than this share of 1 / tau are marginal. */
export const DEFAULT_MARGIN = 1e-2;

/** The growth rate of each direction per second: Re lambda of the flow, ln|mu| / dt of the map. */
export function growthRates(values: readonly Complex[], by: "flow" | "map", dt: number): number[] {
  if (by === "flow") return values.map((value) => value.re);
  return values.map((value) => Math.log(Math.hypot(value.re, value.im)) / dt);
}

/** The kind of a state from the growth rates of its directions; those of at most `margin` neither grow nor decay. */
export function classify(rates: readonly number[], margin: number): Kind {
  if (rates.some(Number.isNaN)) return "undefined";
  const grows = rates.some((rate) => rate > margin);
  const decays = rates.some((rate) => rate < -margin);
  if (grows) return decays ? "saddle" : "unstable";
  return rates.some((rate) => Math.abs(rate) <= margin) ? "marginal" : "stable";
}

/** -1 / rate in seconds: negative where the direction grows, infinite where it neither grows nor decays. */
export function timeConstant(rate: number): number {
  return rate === 0 ? Infinity : -1 / rate + 0; // + 0: no negative zero for a direction that vanishes at once
}
