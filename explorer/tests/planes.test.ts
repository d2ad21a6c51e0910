import assert from "node:assert/strict";
import { test } from "node:test";
import {
  defaultPlane, directionsBeside, planeOfComponents, planeOfOutputs, planeOfStates, planeThrough, project, stateOn, velocityOn, type Plane,
} from "../src/math/planes";
import { numbers, systemFrom, vector } from "./systems";

const close = (found: ArrayLike<number>, expected: number[], tolerance = 1e-9): void => {
  assert.equal(found.length, expected.length);
  expected.forEach((value, k) => assert.ok(Math.abs(found[k] - value) <= tolerance, `${Array.from(found)} is not ${expected}`));
};

/** Coordinates and states are inverse to each other. */
function roundTrip(plane: Plane): void {
  const h = new Float64Array(plane.origin.length);
  stateOn(plane, 0.3, -1.7, h);
  close(project(plane, h), [0.3, -1.7]);
}

const C = [[1, 2, 0], [0, 1, -1]];
const readout = (h: Float64Array, out: Float64Array): void => { for (let i = 0; i < 2; i++) out[i] = 0.5 + C[i][0] * h[0] + C[i][1] * h[1] + C[i][2] * h[2]; };
const affine = systemFrom({ n: 3, p: 2, field: (h, _x, out) => { for (let i = 0; i < 3; i++) out[i] = -h[i]; }, readout });

test("a plane of states keeps the others at their mean", () => {
  const plane = planeOfStates(3, 0, 2, vector(-1, 5, 0, 1, 7, 2));
  close(plane.origin, [0, 6, 0]);
  close(project(plane, vector(3, 9, 4)), [3, 4]);
  close(plane.limits, [-1.5, 1.5, -0.5, 2.5]);
  roundTrip(plane);
});

test("the coordinates of a plane of outputs are the outputs", () => {
  const states = vector(1, 0, 2, -1, 1, 0, 0.5, 0, 0);
  const plane = planeOfOutputs(affine, 0, 1, states);
  roundTrip(plane);
  const h = new Float64Array(3);
  const y = new Float64Array(2);
  stateOn(plane, 0.7, -0.4, h);
  readout(h, y);
  close(y, [0.7, -0.4]);
  const other = vector(0.2, -0.6, 1.1); // outside of the plane
  readout(other, y);
  close(project(plane, other), Array.from(y));
});

test("velocities on a plane of outputs are those of the outputs, and the rest leaves it", () => {
  const plane = planeOfOutputs(affine, 0, 1, vector(0, 0, 0, 1, 1, 1));
  const f = vector(0.3, -0.2, 0.9);
  const found = velocityOn(plane, f);
  close([found.a, found.b], [0.3 - 0.4, -0.2 - 0.9]);
  const across = vector(2, -1, -1); // orthogonal to both rows of C
  assert.equal(Math.round(velocityOn(plane, across).leaving * 1e9) / 1e9, 1);
  assert.ok(velocityOn(plane, Float64Array.from(plane.u)).leaving < 1e-12);
  assert.equal(velocityOn(plane, vector(0, 0, 0)).leaving, 0);
});

test("outputs that span no plane are refused in a sentence", () => {
  const bent = systemFrom({ n: 2, field: () => {}, readout: (h, out) => { out[0] = Math.tanh(h[0]); out[1] = h[1]; } });
  assert.throws(() => planeOfOutputs(bent, 0, 1, vector(0, 0)), /not affine/);
  const twin = systemFrom({ n: 2, field: () => {}, readout: (h, out) => { out[0] = h[0]; out[1] = 2 * h[0]; } });
  assert.throws(() => planeOfOutputs(twin, 0, 1, vector(0, 0)), /multiples/);
  assert.equal(defaultPlane(bent, vector(0, 0)).name, "states 1 and 2");
});

test("principal components find the directions of a stretched cloud", () => {
  const next = numbers(11);
  const states = new Float64Array(3 * 400);
  for (let k = 0; k < 400; k++) {
    const [a, b, c] = [10 * next(), 3 * next(), 0.1 * next()];
    states.set([1 + (a + b) / Math.SQRT2, 2 + (a - b) / Math.SQRT2, c], 3 * k);
  }
  const plane = planeOfComponents(3, 0, 1, states);
  const half = Math.SQRT1_2;
  close(plane.u.map(Math.abs), [half, half, 0], 0.02);
  assert.match(plane.name, /components 1 \(9\d %\) and 2/);
  roundTrip(plane);
  const [beside] = directionsBeside(plane, states, 5);
  assert.equal(directionsBeside(plane, states, 5).length, 1);
  assert.ok(Math.abs(beside[2]) > 0.999);
});

test("a plane through three points has the second on its first axis", () => {
  const plane = planeThrough(vector(0, 0, 0), vector(2, 0, 0), vector(0, 1, 0), vector(0, 0, 5));
  close(project(plane, vector(2, 1, 5)), [2, 1]);
  roundTrip(plane);
  assert.throws(() => planeThrough(vector(0, 0), vector(1, 1), vector(2, 2), vector(0, 0)), /one line/);
  assert.throws(() => planeThrough(vector(0, 0), vector(0, 0), vector(2, 2), vector(0, 0)), /one line/);
});

test("no window is degenerate", () => {
  const cases: [string, Plane][] = [
    ["no states", planeOfStates(2, 0, 1, vector())],
    ["one state", planeOfStates(2, 0, 1, vector(3, 4))],
    ["a line", planeOfStates(2, 0, 1, vector(0, 4, 1, 4))],
    ["one dimension", planeOfStates(1, 0, 0, vector(1, 2))],
    ["a state that is not finite", planeOfStates(2, 0, 1, vector(0, 0, NaN, 1, 1, 1))],
    ["components of one state", planeOfComponents(3, 0, 1, vector(1, 1, 1))],
  ];
  for (const [name, { limits: [left, right, bottom, top] }] of cases) {
    assert.ok(right - left > 0.1 && top - bottom > 0.1 && Number.isFinite(right - left + top - bottom), name);
  }
  close(planeOfStates(2, 0, 1, vector(3, 4)).limits, [-1, 7, 0, 8]);
});
