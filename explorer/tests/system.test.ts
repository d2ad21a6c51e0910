import assert from "node:assert/strict";
import { test } from "node:test";
import { unpack, unpackWeights } from "../src/math/arrays";
import { differences } from "../src/math/derivatives";
import { fixedPoints } from "../src/math/fixed-points";
import { systemOf } from "../src/math/system";
import { BATCH, network, packed, TAU, U, V, W, weightsOf } from "./networks";
import { numbers, vector } from "./systems";

const logistic = (a: number): number => 1 / (1 + Math.exp(-a));

function expected(h: Float64Array, x: Float64Array, isOpen = false): number[] {
  return [0, 1].map((i) => {
    const drift = Math.tanh(W[i][0] * h[0] + W[i][1] * h[1] + U[i][0] * x[0]) - h[i];
    return ((isOpen ? 1 : logistic(V[i][0] * h[0] + V[i][1] * h[1])) * drift) / TAU;
  });
}

const close = (found: ArrayLike<number>, wanted: ArrayLike<number>, tolerance = 1e-14): void => {
  assert.equal(found.length, wanted.length);
  for (let k = 0; k < wanted.length; k++) assert.ok(Math.abs(found[k] - wanted[k]) <= tolerance, `${Array.from(found)} is not ${Array.from(wanted)}`);
};

const h = vector(0.3, -0.8);
const x = vector(0.4);

test("arrays are read as little-endian float32", () => {
  const found = unpack({ shape: [2, 2], data: packed([1, -0.5, 3e10, 0.1]) });
  assert.deepEqual(Array.from(found.data), [1, -0.5, 3e10, 0.1].map(Math.fround));
  assert.throws(() => unpack({ shape: [3], data: packed([1]) }), /must hold 3 numbers, but holds 1/);
  const weights = weightsOf({ a: [[1, 2]], b: [[3]] });
  assert.deepEqual(Array.from(unpackWeights(weights).get("b")!.data), [3]);
  weights.arrays.b.offset = 3;
  assert.throws(() => unpackWeights(weights), /'b' ends after/);
});

test("the field is that of the equation", () => {
  const out = vector(0, 0);
  systemOf(network()).field(h, x, out);
  close(out, expected(h, x));
});

test("many states at once give what each gives alone, whatever their number", () => {
  const system = systemOf(network());
  const next = numbers(2);
  for (const isOpen of [false, true]) {
    for (const count of [0, 1, 2, BATCH - 1, BATCH, BATCH + 1, 3 * BATCH + 2]) {
      const hs = Float64Array.from({ length: 2 * count }, () => 4 * next());
      const out = new Float64Array(2 * count + 2).fill(7);
      system.withOptions({ openGate: isOpen, timeScale: 2 }).fieldMany(hs, count, x, out);
      for (let k = 0; k < count; k++) close(out.subarray(2 * k, 2 * k + 2), expected(hs.subarray(2 * k, 2 * k + 2), x, isOpen).map((rate) => rate / 2));
      close(out.subarray(2 * count), [7, 7]); // nothing is written behind the last
    }
  }
});

test("options: a longer tau slows everything, an open gate is G = 1, and each can be set by itself", () => {
  const system = systemOf(network());
  const out = vector(0, 0);
  const slow = system.withOptions({ timeScale: 4 });
  assert.equal(slow.tau, 4 * TAU);
  slow.withOptions({ openGate: true }).field(h, x, out);
  close(out, expected(h, x, true).map((rate) => rate / 4));
  slow.withOptions({ timeScale: 1 }).field(h, x, out);
  close(out, expected(h, x));
  slow.step(h, x, 0.2, out);
  close(out, [h[0] * 0.95, h[1] * 0.95]);
  slow.drift(h, x, out);
  close(out, expected(h, x, true).map((rate) => rate * TAU));
  system.gate(h, x, out);
  close(out, [logistic(0.6), logistic(0.8)]);
  system.withOptions({ openGate: true }).gate(h, x, out);
  close(out, [1, 1]);
});

test("without a program for the step it is Euler's", () => {
  const { step: _step, ...programs } = network().programs;
  const out = vector(0, 0);
  for (const [system, isOpen] of [[systemOf(network({ programs })), false], [systemOf(network()).withOptions({ openGate: true }), true]] as const) {
    assert.equal(system.hasStep, false);
    system.step(h, x, 0.1, out);
    close(out, expected(h, x, isOpen).map((rate, i) => h[i] + 0.1 * rate));
  }
});

test("the derivative of a step that is not Euler's is that of its program", () => {
  const J = new Float64Array(4);
  systemOf(network()).mapJacobian(h, x, 0.1, J);
  close(J, [0.9, 0, 0, 0.9], 1e-9);
  systemOf(network()).withOptions({ openGate: true }).jacobian(h, x, J);
  const byDifferences = new Float64Array(4);
  differences((state, rate) => rate.set(expected(state, x, true)), h, 2, byDifferences);
  close(J, byDifferences, 1e-9);
});

test("fixed points are those of the drift, and a shut gate is told", () => {
  const system = systemOf(network());
  const starts = [-2, -0.5, 0, 0.5, 2].flatMap((a) => [-2, -0.5, 0, 0.5, 2].map((b) => vector(a, b)));
  const points = fixedPoints(system, vector(0), starts);
  assert.ok(points.length >= 3);
  for (const point of points) {
    assert.ok(point.residual < 1e-12 && point.speed < 1e-11);
    close(expected(point.h, vector(0), true), [0, 0], 1e-11);
  }
  const shut = systemOf(network({ weights: weightsOf({ W, U, V: [[-40, 0], [0, 40]], identity: [[1, 0], [0, 1]] }) }));
  assert.ok(fixedPoints(shut, vector(0), [vector(1, -1)]).every((point) => point.gate >= 1e-3 || point.status === "closed_gate"));
});

test("what is not there: the readout shows the state, the first state is zero, a missing array is named", () => {
  const system = systemOf(network());
  const y = vector(9);
  system.readout(h, y);
  assert.deepEqual(Array.from(y), [0.3]);
  const first = vector(1, 1);
  system.initial(x, first);
  assert.deepEqual(Array.from(first), [0, 0]);
  assert.throws(() => systemOf(network({ weights: weightsOf({ W }) })).field(h, x, y), { message: "The weights have no array 'U'." });
});
