import assert from "node:assert/strict";
import { test } from "node:test";
import { finished, fixedPoints, follow, searching, type FixedPoint } from "../src/math/fixed-points";
import { classify } from "../src/math/stability";
import { fold, linear, pitchfork, ring, systemFrom, vanDerPol, vector } from "./systems";

const starts = (low: number, high: number, count: number, n = 1): Float64Array[] =>
  Array.from({ length: count }, (_start, k) => Float64Array.from({ length: n }, (_value, i) => low + ((high - low) * ((k * (i + 1)) % count)) / (count - 1)));
const kinds = (points: FixedPoint[]): string[] => points.map((point) => point.kind);
const close = (a: number, b: number, tolerance = 1e-9): void => assert.ok(Math.abs(a - b) <= tolerance, `${a} is not ${b}`);

test("classes have the meaning that they have in Python", () => {
  assert.equal(classify([-1, -2], 0.01), "stable");
  assert.equal(classify([-1, 0.005], 0.01), "marginal");
  assert.equal(classify([-1, 1, 0], 0.01), "saddle");
  assert.equal(classify([1, 0], 0.01), "unstable");
  assert.equal(classify([1, NaN], 0.01), "undefined");
  assert.equal(classify([0, -0.01], 0.01), "marginal");
});

test("a linear system has one point, with its eigenvalues and time constants", () => {
  const system = linear([[-2, 1], [0, 0.5]]);
  const points = fixedPoints(system, vector(1, -1), starts(-3, 3, 7, 2));
  assert.equal(points.length, 1);
  const [point] = points;
  close(point.h[0], 1.5);
  close(point.h[1], 2);
  assert.equal(point.kind, "saddle");
  assert.equal(point.status, "equilibrium");
  close(point.eigenvalues[0].re, 0.5, 1e-8);
  close(point.timeConstants[0], -2, 1e-6);
  close(point.timeConstants[1], 0.5, 1e-8);
  assert.ok(point.residual < 1e-9 && point.speed < 1e-9);
});

test("a step longer than the fastest time constant makes a stable point unstable for the map", () => {
  const system = linear([[-1, 0], [0, -30]], 0.1);
  assert.deepEqual(kinds(fixedPoints(system, vector(0, 0), [vector(1, 1)])), ["stable"]);
  const [byMap] = fixedPoints(system, vector(0, 0), [vector(1, 1)], { kind: "map" });
  assert.equal(byMap.kind, "saddle");
  close(byMap.eigenvalues[0].re, -2, 1e-8);
  close(byMap.timeConstants[0], -0.1 / Math.log(2), 1e-7);
});

test("all points of the logistic equation and of a cubic are found, sorted", () => {
  const logistic = systemFrom({ n: 1, field: (h, _x, out) => { out[0] = h[0] * (1 - h[0]); } });
  const points = fixedPoints(logistic, vector(0), starts(-1, 2, 9));
  assert.deepEqual(points.map((point) => Math.round(point.h[0] * 1e9) / 1e9 + 0), [0, 1]);
  assert.deepEqual(kinds(points), ["unstable", "stable"]);
  const three = fixedPoints(pitchfork, vector(1), starts(-2, 2, 9));
  assert.deepEqual(three.map((point) => Math.round(point.h[0] * 1e9) / 1e9 + 0), [-1, 0, 1]);
  assert.deepEqual(kinds(three), ["stable", "unstable", "stable"]);
});

test("Van der Pol's origin is a focus that turns unstable at mu = 0", () => {
  const [before] = fixedPoints(vanDerPol, vector(-1), [vector(0.5, 0.5)]);
  assert.equal(before.kind, "stable");
  close(Math.abs(before.eigenvalues[0].im), Math.sqrt(3) / 2, 1e-8);
  const change = follow([before], vanDerPol, vector(1), { from: vector(-1) });
  assert.deepEqual([change.born.length, change.died.length, change.changed.length], [0, 0, 1]);
  assert.equal(change.changed[0].after.kind, "unstable");
});

test("a continuum keeps its points, or a sample of the given spacing", () => {
  const all = Array.from({ length: 40 }, (_start, k) => vector(1.5 * Math.cos(k), 1.5 * Math.sin(k)));
  const points = fixedPoints(ring, vector(0), all);
  assert.equal(points.length, 40);
  assert.deepEqual(new Set(kinds(points)), new Set(["marginal"]));
  for (const { h } of points) close(Math.hypot(h[0], h[1]), 1, 1e-8);
  const sample = fixedPoints(ring, vector(0), all, { spacing: 0.5 });
  assert.ok(sample.length >= 6 && sample.length <= 13);
});

test("a system without a point finds none; slow states only on demand", () => {
  assert.deepEqual(fixedPoints(fold, vector(-1), starts(-2, 2, 9, 2)), []);
  const slow = fixedPoints(fold, vector(-0.001), [vector(0.01, 0)], { keepSlow: true });
  assert.deepEqual(slow.map((point) => point.status), ["slow"]);
});

test("a field that is not finite gives no point", () => {
  const system = systemFrom({ n: 1, field: (h, _x, out) => { out[0] = Math.log(h[0]); } });
  const points = fixedPoints(system, vector(0), [vector(-1), vector(0.5)]);
  assert.equal(points.length, 1);
  close(points[0].h[0], 1);
});

test("the pitchfork through its bifurcation: two are born, one changes; and back", () => {
  let points = fixedPoints(pitchfork, vector(-0.5), starts(-1, 1, 5));
  assert.deepEqual(kinds(points), ["stable"]);
  let born = 0;
  let changed = 0;
  for (let mu = -0.4; mu < 0.55; mu += 0.1) {
    const change = follow(points, pitchfork, vector(mu), { from: vector(mu - 0.1) });
    assert.equal(change.died.length, 0);
    born += change.born.length;
    changed += change.changed.length;
    points = change.points;
  }
  assert.equal(born, 2);
  assert.ok(changed >= 1); // the one in the middle may be marginal on its way
  assert.deepEqual(kinds(points), ["unstable", "stable", "stable"]);
  close(Math.abs(points[1].h[0]), Math.sqrt(0.5), 1e-7);
  const back = follow(points, pitchfork, vector(-0.5), { from: vector(0.5) });
  assert.equal(back.points.length, 1);
  assert.equal(back.died.length, 2);
  assert.deepEqual(kinds(back.points), ["stable"]);
});

test("two points that meet in a fold die, and are born again from starts", () => {
  const points = fixedPoints(fold, vector(1), starts(-2, 2, 9, 2));
  assert.deepEqual(kinds(points), ["saddle", "stable"]);
  const near = follow(points, fold, vector(0.04), { from: vector(1) });
  assert.deepEqual([near.points.length, near.died.length, near.born.length], [2, 0, 0]);
  close(near.points[0].h[0], -0.2, 1e-7);
  const gone = follow(near.points, fold, vector(-0.1), { from: vector(0.04) });
  assert.deepEqual([gone.points.length, gone.born.length], [0, 0]);
  assert.deepEqual(gone.died, near.points);
  const again = follow([], fold, vector(0.25), { starts: starts(-2, 2, 9, 2) });
  assert.deepEqual(again.born.map((point) => Math.round(point.h[0] * 1e6) / 1e6), [-0.5, 0.5]);
});

test("a point that had been overlooked is told apart from one that is born", () => {
  const [, stable] = fixedPoints(fold, vector(1), starts(-2, 2, 9, 2));
  const overlooked = follow([stable], fold, vector(0.9), { from: vector(1), starts: [vector(-1, 0)] });
  assert.deepEqual([overlooked.born.length, overlooked.missed], [1, overlooked.born]);
  const born = follow([], fold, vector(0.3), { from: vector(-0.1), starts: starts(-2, 2, 9, 2) });
  assert.deepEqual([born.born.length, born.missed.length], [2, 0]);
  const [middle] = fixedPoints(pitchfork, vector(-0.1), [vector(0)]);
  const branches = follow([middle], pitchfork, vector(0.1), { from: vector(-0.1) });
  assert.deepEqual([branches.born.length, branches.missed.length], [2, 0]);
});

test("survivors come in the order given, then the born, and the objects given are told", () => {
  const points = fixedPoints(pitchfork, vector(1), starts(-2, 2, 9)).reverse();
  const change = follow(points, pitchfork, vector(0.81), { from: vector(1) });
  assert.deepEqual(change.points.map((point) => Math.round(point.h[0] * 10) / 10 + 0), [0.9, 0, -0.9]);
  const extra = systemFrom({ n: 1, field: (h, x, out) => { out[0] = (x[0] * h[0] - h[0] ** 3) * (5 - h[0]); } });
  const more = follow(change.points.slice(0, 1), extra, vector(0.81), { starts: [vector(4.8), vector(0.85)] });
  assert.deepEqual(more.points.map((point) => Math.round(point.h[0] * 10) / 10), [0.9, 5]);
  assert.equal(more.changed[0]?.before ?? change.points[0], change.points[0]);
});

test("a search can be spread over frames", () => {
  const work = searching(pitchfork, vector(1), starts(-2, 2, 9));
  let slices = 0;
  for (let step = work.next(); step.done !== true; step = work.next()) slices += 1;
  assert.ok(slices > 9);
  assert.equal(finished(searching(pitchfork, vector(1), starts(-2, 2, 9), { known: fixedPoints(pitchfork, vector(1), [vector(2)]) })).length, 2);
});
