/** The view's own geometry: places on the page, grids, contours, directions, ribbons. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { planeOfStates } from "../src/math/planes";
import type { System } from "../src/math/system";
import { ticks } from "../src/view/axes";
import { contour, density, joined } from "../src/view/contours";
import { remainingDirection } from "../src/view/directions";
import { PlaneFrame, SpaceFrame } from "../src/view/frame";
import { GridSampler, interpolate, slowNodes, speedRange, type Grid } from "../src/view/grid";
import { carrierOf, Particles } from "../src/view/particles";
import { systemFrom } from "./systems";

/** dh/dt = A h, without an input. */
function linearSystem(A: number[][]): System {
  return systemFrom({ n: A.length, m: 0, field: (h, _x, out) => out.set(A.map((row) => row.reduce((sum, entry, j) => sum + entry * h[j], 0))) });
}

const SIZE = { width: 300, height: 200 };

function near(a: number, b: number, tolerance = 1e-9): void {
  assert.ok(Math.abs(a - b) <= tolerance, `${a} is not ${b}`);
}

test("a plane whose directions are neither orthogonal nor of length one gives back its coordinates", () => {
  const plane = { name: "", origin: Float64Array.of(1, -2, 0.5), u: Float64Array.of(2, 1, 0), v: Float64Array.of(0.3, -1, 1), limits: [-1, 1, -1, 1] as [number, number, number, number] };
  const frame = new PlaneFrame(plane, [-2, 2, -1, 3], SIZE, 1);
  const h = new Float64Array(3);
  frame.stateAt(60, 150, h);
  const at = new Float64Array(3);
  frame.coordinates(h, at);
  near(at[0], -2 + (60 / 300) * 4);
  near(at[1], -1 + (1 - 150 / 200) * 4);
  frame.place(h, at);
  near(at[0], 60);
  near(at[1], 150);
  near(at[2], 0);
  const normal = [1, -2, -2.3]; // u x v
  const length = Math.hypot(...normal);
  near(frame.distance(h.map((value, i) => value + (0.7 * normal[i]) / length), frame.a(60), frame.b(150)), 0.7, 1e-9);
});

test("a network with one state has a line in place of a plane", () => {
  const frame = new PlaneFrame({ name: "", origin: new Float64Array(1), u: Float64Array.of(1), v: new Float64Array(1), limits: [-1, 1, -1, 1] }, [-1, 1, -1, 1], SIZE, 1);
  const at = new Float64Array(3);
  frame.place(Float64Array.of(0.5), at);
  assert.deepEqual([...at], [225, 100, 0]);
});

test("the matrix of a space is its places", () => {
  const frame = new SpaceFrame([1, 2, 3], [2, 1, 0.5], { yaw: 0.7, pitch: 0.4, zoom: 1.3 }, SIZE);
  const m = frame.matrix();
  const at = new Float64Array(3);
  for (const p of [[0.3, -0.8, 0.5], [-1, 1, 1], [0, 0, 0]]) {
    frame.place([1 + 2 * p[0], 2 + p[1], 3 + 0.5 * p[2]], at);
    const row = (r: number): number => m[r] * p[0] + m[4 + r] * p[1] + m[8 + r] * p[2] + m[12 + r];
    near(at[0], SIZE.width * (0.5 + (0.5 * row(0)) / row(3)), 1e-3);
    near(at[1], SIZE.height * (0.5 - (0.5 * row(1)) / row(3)), 1e-3);
  }
  const h = new Float64Array(3);
  frame.stateAt(120, 90, h);
  frame.place(h, at);
  near(at[0], 120);
  near(at[1], 90);
});

/** The finest grid of a linear flow dh/dt = A h with a third component that leaves the plane. */
function sampledGrid(): Grid {
  const system = linearSystem([[-1, 0.5, 0], [0, -2, 0], [1, 0, 0]]);
  const frame = new PlaneFrame(planeOfStates(3, 0, 1, Float64Array.of(-1, -1, 0, 1, 1, 0)), [-1, 1, -1, 1], SIZE, 1);
  let last: Grid | null = null;
  const sampler = new GridSampler(() => ({ sampled: { system, input: new Float64Array(0), step: null }, frame, sizes: [5, 21] }), (grid) => void (last = grid));
  sampler.renew();
  for (const _ of sampler.job()) continue;
  assert.ok(last !== null);
  return last;
}

test("a sampled linear flow is interpolated exactly", () => {
  const grid = sampledGrid();
  const out = new Float64Array(4);
  interpolate(grid, 0.63, 0.2, out);
  const [a, b] = [-1 + 2 * 0.63, -1 + 2 * 0.2];
  near(out[0], -a + 0.5 * b, 1e-6);
  near(out[1], -2 * b, 1e-6);
  const nodes = slowNodes(grid, 3);
  assert.deepEqual([...nodes[0]].map((value) => Math.abs(value) < 1e-9), [true, true, true]);
  const at = 21 * 10 + 20; // a = 1, b = 0: dh/dt = (-1, 0, 1), of which half leaves the plane
  near(grid.leaving[at], 0.5, 1e-6);
});

test("grids that were asked for while a coarse one was under way come last", () => {
  const system = linearSystem([[-1, 0], [0, -1]]);
  const frame = new PlaneFrame(planeOfStates(2, 0, 1, Float64Array.of(-1, -1, 1, 1)), [-1, 1, -1, 1], SIZE, 1);
  const sizes: number[] = [];
  const sampler = new GridSampler(() => ({ sampled: { system, input: new Float64Array(0), step: null }, frame, sizes: [9, 17] }), (grid) => void sizes.push(grid.size));
  sampler.renew();
  let steps = 0;
  for (const _ of sampler.job()) if (++steps === 1) sampler.renew();
  assert.deepEqual(sizes, [9, 9, 17]);
});

test("contours of a distance are circles", () => {
  const size = 41;
  const values = Float32Array.from({ length: size * size }, (_, k) => Math.hypot((k % size) - 20, Math.floor(k / size) - 20));
  const found = contour(values, size, 12);
  assert.ok(found.length > 100);
  for (let k = 0; k < found.length; k += 2) near(Math.hypot(found[k] - 20, found[k + 1] - 20), 12, 0.05);
  const counted = density([0, 0, 0, 0, 0.5, 0.5], [-1, 1, -1, 1], 21);
  assert.equal(counted[10 * 21 + 10], Math.max(...counted));
});

test("ticks are round and inside", () => {
  assert.deepEqual(ticks(-1.2, 1.3, 5).map(({ label }) => label), ["\u22121.0", "\u22120.5", "0.0", "0.5", "1.0"]);
  assert.deepEqual(ticks(0, 100, 4).map(({ at }) => at), [0, 20, 40, 60, 80, 100]);
  assert.deepEqual(ticks(1, 1, 4), []);
});

test("the remaining direction is the one along which states vary most outside the plane", () => {
  const rows: number[] = [];
  for (let k = 0; k < 400; k++) rows.push(Math.sin(k), Math.cos(2 * k), 0.1 * Math.sin(3 * k), 2 * Math.cos(5 * k));
  const states = Float64Array.from(rows);
  const plane = planeOfStates(4, 0, 1, states);
  const first = remainingDirection(plane, states, []);
  near(Math.abs(first.vector[3]), 1, 1e-2);
  near(first.spread, Math.sqrt(2), 0.02);
  const second = remainingDirection(plane, states, [first]);
  near(Math.abs(second.vector[2]), 1, 1e-2);
});

test("speeds that differ by ten powers of ten are shown over four", () => {
  const [low, high] = speedRange(Float32Array.from({ length: 1000 }, (_, k) => 10 ** (-8 + k / 100)));
  assert.ok(high - low <= 4 + 1e-9);
  assert.deepEqual(speedRange([0, NaN]), [-1, 1]);
});

test("particles follow the flow and stay in the view", () => {
  const grid = sampledGrid();
  const particles = new Particles(200);
  particles.setCarrier(carrierOf(grid));
  const before = distanceToCentre(particles);
  for (let k = 0; k < 30; k++) particles.advance(1 / 60);
  assert.ok(distanceToCentre(particles) < before, "a contracting flow draws them inwards");
  for (let k = 0; k < 200; k++) for (let c = 0; c < 2; c++) assert.ok(particles.places[3 * k + c] >= 0 && particles.places[3 * k + c] <= 1);
});

function distanceToCentre(particles: Particles): number {
  let sum = 0;
  for (let k = 0; k < particles.count; k++) sum += Math.hypot(particles.places[3 * k] - 0.5, particles.places[3 * k + 1] - 0.5);
  return sum;
}

test("segments that meet become one line", () => {
  const size = 41;
  const values = Float32Array.from({ length: size * size }, (_, k) => Math.hypot((k % size) - 20, Math.floor(k / size) - 20));
  const found = contour(values, size, 11.7); // through no node, so that every segment has a length
  const [circle, ...others] = joined(found);
  assert.equal(others.length, 0);
  near(circle[0], circle[circle.length - 2], 0.02); // it is closed
  assert.equal(circle.length / 2, found.length / 4 + 1);
  assert.equal(joined(contour(values, size, 12)).length, 1);
  assert.deepEqual(joined([1, 0, 2, 0, 0, 0, 1, 0, 5, 5, 6, 6]).map((line) => line.length), [6, 4]);
});
