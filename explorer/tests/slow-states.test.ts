/** Slow nodes of a lattice, and samples that cover a set evenly. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { finished } from "../src/math/fixed-points";
import { slowNodesOf, spread, type Lattice } from "../src/math/slow-states";
import { systemFrom } from "./systems";

const side = (n: number, i: number) => ({ vector: Float64Array.from({ length: n }, (_, k) => (k === i ? 1 : 0)), low: -2, high: 2 });
const lattice = (n: number): Lattice => ({ origin: new Float64Array(n), sides: Array.from({ length: n }, (_, i) => side(n, i)) });

for (const n of [1, 2, 3]) {
  test(`the slowest nodes are at the ${3 ** n} zeros of a flow of ${n} states`, () => {
    const bits = systemFrom({ n, field: (h, _x, out) => h.forEach((value, i) => (out[i] = value - value ** 3)) });
    const nodes = finished(slowNodesOf(bits, new Float64Array(1), lattice(n), 100));
    const near = new Set(nodes.map((h) => Array.from(h, Math.round).map((value) => value + 0).join()));
    assert.equal(near.size, 3 ** n);
    for (const h of nodes) for (const value of h) assert.ok(Math.abs(value - Math.round(value)) < 0.21);
  });
}

test("states where the flow is not a number are no starts", () => {
  const half = systemFrom({ n: 1, field: (h, _x, out) => void (out[0] = Math.log(h[0])) });
  for (const [h] of finished(slowNodesOf(half, new Float64Array(1), lattice(1), 100))) assert.ok(Math.abs(h - 1) < 0.02);
});

test("a sample covers a line evenly, whatever its order and density", () => {
  const dense = Array.from({ length: 1000 }, (_, k) => Float64Array.of((k / 999) ** 4));
  const places = spread(dense, 17).map(([h]) => h).sort((a, b) => a - b);
  assert.equal(places.length, 17);
  for (let k = 1; k < 17; k++) assert.ok(Math.abs(places[k] - places[k - 1]) < 0.14, `${places[k - 1]} to ${places[k]}`);
  assert.equal(spread(Array.from({ length: 9 }, () => Float64Array.of(1)), 3).length, 1, "the same state is taken once");
});
