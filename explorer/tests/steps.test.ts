import assert from "node:assert/strict";
import { test } from "node:test";
import { memoryTime } from "../src/math/memory";
import { euler, rk4 } from "../src/math/steps";
import type { System } from "../src/math/system";
import { linear, systemFrom, vanDerPol, vector } from "./systems";

const logistic = systemFrom({ n: 1, field: (h, _x, out) => { out[0] = h[0] * (1 - h[0]); } });
const exact = (t: number): number => 1 / (1 + 9 * Math.exp(-t)); // from 0.1

type Method = (system: System, h: Float64Array, x: Float64Array, dt: number, out: Float64Array) => void;

function errorAfterOneSecond(method: Method, steps: number): number {
  const h = vector(0.1);
  for (let k = 0; k < steps; k++) method(logistic, h, vector(0), 1 / steps, h);
  return Math.abs(h[0] - exact(1));
}

for (const [name, method, order] of [["euler", euler, 1], ["rk4", rk4, 4]] as const) {
  test(`the order of ${name}, measured, is ${order}`, () => {
    const slope = Math.log2(errorAfterOneSecond(method, 10) / errorAfterOneSecond(method, 20));
    assert.ok(Math.abs(slope - order) < 0.1, `it is ${slope}`);
  });
}

test("a linear oscillator returns after one period", () => {
  const system = linear([[0, 1], [-1, 0]]);
  const h = vector(1, 0);
  for (let k = 0; k < 1000; k++) rk4(system, h, vector(0, 0), (2 * Math.PI) / 1000, h);
  assert.ok(Math.hypot(h[0] - 1, h[1]) < 1e-9);
});

test("Van der Pol's oscillator has its period and amplitude", () => {
  const h = vector(2, 0);
  const dt = 1e-3;
  const crossings: number[] = [];
  let largest = 0;
  for (let k = 0; k < 40_000; k++) {
    const before = h[0];
    rk4(vanDerPol, h, vector(1), dt, h);
    if (before < 0 && h[0] >= 0) crossings.push((k + -before / (h[0] - before)) * dt);
    if (k > 20_000) largest = Math.max(largest, h[0]);
  }
  const period = crossings[crossings.length - 1] - crossings[crossings.length - 2];
  assert.ok(Math.abs(period - 6.6632868593231) < 1e-5, `the period is ${period}`); // for mu = 1, from the literature
  assert.ok(Math.abs(largest - 2.00861986087) < 1e-5, `the amplitude is ${largest}`);
});

test("the memory of an exponential decay is lost after a known number of bins", () => {
  const system = linear([[-1]], 0.01);
  const time = memoryTime(system, vector(1), vector(0), { tolerance: 0.5, horizon: 2 });
  assert.equal(time, 69 * 0.01); // 0.99^69 = 0.4998 is the first below one half
  assert.equal(memoryTime(system, vector(1), vector(0), { tolerance: 0.5, horizon: 0.6 }), Infinity);
  assert.equal(memoryTime(system, vector(NaN), vector(0)), 0.01);
});
