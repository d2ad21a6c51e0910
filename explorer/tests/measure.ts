/** Measures the speed of the mathematics on this machine: node --import tsx tests/measure.ts. Not a test. */
import type { Equation, NetworkDocument, Program } from "../src/math/document";
import { eigen } from "../src/math/eigen";
import { fixedPoints } from "../src/math/fixed-points";
import { rk4 } from "../src/math/steps";
import { systemOf } from "../src/math/system";
import { network, weightsOf } from "./networks";
import { numbers } from "./systems";

const BATCH = 64;

/** dh/dt = -h + a multilayer perceptron of h, for one state or a batch. */
function field(widths: number[], activation: string, batch: number[]): Program {
  const n = widths[0];
  const constants = widths.slice(1).map((_width, k) => `W${k}`);
  const equations: Equation[] = [];
  let place = 2 + constants.length + 1;
  const add = (op: string, operands: number[], width: number, more: Record<string, unknown> = {}): number => {
    equations.push({ op, in: operands, out: place, shape: [...batch, width], ...more });
    return place++;
  };
  let value = 0;
  widths.slice(1).forEach((width, k) => {
    value = add("dot_general", [value, 2 + k], width, { dimension_numbers: [[[batch.length], [1]], [[], []]] });
    if (k < widths.length - 2) value = add(activation, activation === "max" ? [value, 2 + constants.length] : [value], width);
  });
  value = add("sub", [value, 0], n);
  return { inputs: [[...batch, n], [1]], constants, literals: [0], equations, outputs: [value] };
}

function perceptron(widths: number[], activation: string): NetworkDocument {
  const next = numbers();
  const matrices = widths.slice(1).map((width, k) => Array.from({ length: width }, () => Array.from({ length: widths[k] }, () => (3 * next()) / Math.sqrt(widths[k]))));
  const programs = { field: field(widths, activation, []), field_batch: field(widths, activation, [BATCH]), jacobian: field(widths, activation, []) };
  return network({ state_size: widths[0], weights: weightsOf(Object.fromEntries(matrices.map((matrix, k) => [`W${k}`, matrix]))), programs });
}

/** Milliseconds for one call, the best of five rounds of about 0.2 s. */
function time(call: () => void): number {
  let count = 1;
  let best = Infinity;
  for (let round = 0; round < 6; round++) {
    const begin = performance.now();
    for (let k = 0; k < count; k++) call();
    const each = (performance.now() - begin) / count;
    if (round > 0) best = Math.min(best, each);
    count = Math.max(1, Math.ceil(200 / Math.max(each, 1e-4)));
  }
  return best;
}

for (const [widths, activation] of [[[2, 100, 100, 100, 2], "tanh"], [[2, 100, 100, 100, 2], "max"], [[100, 316, 316, 100], "tanh"], [[100, 316, 316, 100], "max"]] as const) {
  const system = systemOf(perceptron([...widths], activation));
  const next = numbers(4);
  const count = 10 * BATCH;
  const hs = Float64Array.from({ length: count * system.n }, next);
  const out = new Float64Array(hs.length);
  const x = new Float64Array(1);
  const h = hs.subarray(0, system.n);
  const operations = widths.slice(1).reduce((sum, width, k) => sum + 2 * width * widths[k], 0);
  const many = time(() => system.fieldMany(hs, count, x, out)) / count;
  const one = time(() => system.field(h, x, out));
  const step = time(() => rk4(system, h, x, 1e-9, h));
  const rate = (milliseconds: number): string => `${Math.round(1000 / milliseconds)}/s, ${(operations / milliseconds / 1e6).toFixed(2)} GFLOP/s`;
  console.log(`${widths.join("-")} ${activation}: fieldMany ${rate(many)}; field ${rate(one)}; rk4 ${Math.round(1000 / step)} steps/s`);
}

for (const n of [2, 10, 100]) {
  const A = Float64Array.from({ length: n * n }, numbers(9));
  const values = time(() => eigen(A, n));
  const both = time(() => eigen(A, n).vectors);
  console.log(`eigen, n = ${n}: ${values.toFixed(3)} ms, with vectors ${both.toFixed(3)} ms`);
}

const small = systemOf(network());
const starts = Array.from({ length: 100 }, (_start, k) => Float64Array.of(Math.sin(k), Math.cos(3 * k)));
console.log(`fixed points of a small network from 100 starts: ${time(() => fixedPoints(small, Float64Array.of(0), starts)).toFixed(2)} ms`);
