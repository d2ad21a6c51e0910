import assert from "node:assert/strict";
import { test } from "node:test";
import { OPERATIONS } from "../src/math/operations";
import { applied, array, column, run, scalar, type Operand } from "./programs";

interface Case { operands: Operand[]; shape: number[]; parameters?: Record<string, unknown>; expected: number[] }

const square = array([2, 2], [1, 2, 3, 4]);
const block = array([2, 3], [1, 2, 3, 4, 5, 6]);

const unary = (given: number[], expected: number[]): Case[] => [
  { operands: [column(...given)], shape: [given.length], expected },
  { operands: [scalar(given[1])], shape: [3], expected: [expected[1], expected[1], expected[1]] },
];
/** Both operands of the same shape, and either one a scalar. */
const binary = (a: number[], b: number[], expected: number[]): Case[] => [
  { operands: [column(...a), column(...b)], shape: [a.length], expected },
  { operands: [column(a[0], a[0]), scalar(b[0])], shape: [2], expected: [expected[0], expected[0]] },
  { operands: [scalar(a[1]), column(b[1], b[1])], shape: [2], expected: [expected[1], expected[1]] },
];

const CASES: Record<string, Case[]> = {
  neg: unary([1, -2], [-1, 2]),
  exp: unary([0, 1], [1, Math.E]),
  log: unary([1, Math.E], [0, 1]),
  log1p: unary([0, 1e-12], [0, 1e-12]),
  expm1: unary([0, 1e-12], [0, 1e-12]),
  tanh: unary([0, 0.5, 40], [0, 0.46211715726000975, 1]),
  logistic: unary([0, 800, -800], [0.5, 1, 0]),
  erf: unary([0, 0.5, -1, 2, 3, 7], [0, 0.5204998778130465, -0.8427007929497149, 0.9953222650189527, 0.9999779095030014, 1]),
  sin: unary([0, Math.PI / 2], [0, 1]),
  cos: unary([0, Math.PI], [1, -1]),
  tan: unary([0, Math.PI / 4], [0, 1]),
  asin: unary([0, 1], [0, Math.PI / 2]),
  acos: unary([1, -1], [0, Math.PI]),
  atan: unary([0, 1], [0, Math.PI / 4]),
  sinh: unary([0, 1], [0, 1.1752011936438014]),
  cosh: unary([0, 1], [1, 1.5430806348152437]),
  asinh: unary([0, 1.1752011936438014], [0, 1]),
  acosh: unary([1, 1.5430806348152437], [0, 1]),
  atanh: unary([0, 0.46211715726000975], [0, 0.5]),
  abs: unary([-3, 2], [3, 2]),
  sign: unary([-3, 0, 2], [-1, 0, 1]),
  sqrt: unary([4, 9], [2, 3]),
  rsqrt: unary([4, 0.25], [0.5, 2]),
  cbrt: unary([8, -27], [2, -3]),
  square: unary([3, -2], [9, 4]),
  floor: unary([1.5, -1.5], [1, -2]),
  ceil: unary([1.5, -1.5], [2, -1]),
  round: unary([0.5, 1.5, -0.5, 2.4, -1.6], [0, 2, 0, 2, -2]),
  trunc: unary([1.7, -1.7], [1, -1]),
  not: unary([0, 1], [1, 0]),
  is_finite: unary([0, Infinity, NaN], [1, 0, 0]),
  integer_pow: [2, 3, -1, 0].map((y) => ({ operands: [column(2, -3)], shape: [2], parameters: { y }, expected: [2 ** y, (-3) ** y] })),
  add: binary([1, 2], [3, 5], [4, 7]),
  sub: binary([1, 2], [3, 5], [-2, -3]),
  mul: binary([1, 2], [3, 5], [3, 10]),
  div: binary([1, 2], [4, 5], [0.25, 0.4]),
  rem: binary([7, -7], [4, 4], [3, -3]),
  max: binary([1, 7], [3, 5], [3, 7]),
  min: binary([1, 7], [3, 5], [1, 5]),
  pow: binary([2, 9], [3, 0.5], [8, 3]),
  atan2: binary([1, 0], [1, -1], [Math.PI / 4, Math.PI]),
  lt: binary([1, 5], [3, 5], [1, 0]),
  le: binary([1, 5], [3, 5], [1, 1]),
  gt: binary([1, 7], [3, 5], [0, 1]),
  ge: binary([1, 5], [3, 5], [0, 1]),
  eq: binary([1, 5], [3, 5], [0, 1]),
  ne: binary([1, 5], [3, 5], [1, 0]),
  and: binary([1, 1], [0, 1], [0, 1]),
  or: binary([0, 0], [0, 1], [0, 1]),
  xor: binary([1, 1], [0, 1], [1, 0]),
  select_n: [
    { operands: [column(0, 1, 0), column(1, 2, 3), column(4, 5, 6)], shape: [3], expected: [1, 5, 3] },
    { operands: [scalar(1), column(1, 2), scalar(9)], shape: [2], expected: [9, 9] },
  ],
  dot_general: [
    { operands: [square, column(5, 6)], shape: [2], parameters: { dimension_numbers: [[[1], [0]], [[], []]] }, expected: [17, 39] },
    { operands: [column(5, 6), square], shape: [2], parameters: { dimension_numbers: [[[0], [0]], [[], []]] }, expected: [23, 34] },
    { operands: [square, block], shape: [2, 3], parameters: { dimension_numbers: [[[1], [0]], [[], []]] }, expected: [9, 12, 15, 19, 26, 33] },
    { operands: [square, block], shape: [2, 3], parameters: { dimension_numbers: [[[0], [0]], [[], []]] }, expected: [13, 17, 21, 18, 24, 30] },
    { operands: [column(1, 2), column(3, 4, 5)], shape: [2, 3], parameters: { dimension_numbers: [[[], []], [[], []]] }, expected: [3, 4, 5, 6, 8, 10] },
    { operands: [block, block], shape: [2], parameters: { dimension_numbers: [[[1], [1]], [[0], [0]]] }, expected: [14, 77] },
    { operands: [block, block], shape: [3], parameters: { dimension_numbers: [[[0], [0]], [[1], [1]]] }, expected: [17, 29, 45] },
    { operands: [square, square], shape: [], parameters: { dimension_numbers: [[[0, 1], [1, 0]], [[], []]] }, expected: [1 + 6 + 6 + 16] },
  ],
  broadcast_in_dim: [
    { operands: [column(1, 2)], shape: [2, 3], parameters: { broadcast_dimensions: [0] }, expected: [1, 1, 1, 2, 2, 2] },
    { operands: [column(1, 2, 3)], shape: [2, 3], parameters: { broadcast_dimensions: [1] }, expected: [1, 2, 3, 1, 2, 3] },
    { operands: [array([2, 1], [1, 2])], shape: [2, 2], parameters: { broadcast_dimensions: [0, 1] }, expected: [1, 1, 2, 2] },
    { operands: [scalar(7)], shape: [3], parameters: { broadcast_dimensions: [] }, expected: [7, 7, 7] },
    { operands: [column(1, 2)], shape: [1, 2], parameters: { broadcast_dimensions: [1] }, expected: [1, 2] },
  ],
  reshape: [{ operands: [block], shape: [3, 2], expected: [1, 2, 3, 4, 5, 6] }],
  transpose: [
    { operands: [block], shape: [3, 2], parameters: { permutation: [1, 0] }, expected: [1, 4, 2, 5, 3, 6] },
    { operands: [array([1, 2, 3], [1, 2, 3, 4, 5, 6])], shape: [2, 1, 3], parameters: { permutation: [1, 0, 2] }, expected: [1, 2, 3, 4, 5, 6] },
    { operands: [array([1, 2, 3], [1, 2, 3, 4, 5, 6])], shape: [3, 2, 1], parameters: { permutation: [2, 1, 0] }, expected: [1, 4, 2, 5, 3, 6] },
  ],
  slice: [
    { operands: [block], shape: [1, 3], parameters: { start: [1, 0], limit: [2, 3], strides: null }, expected: [4, 5, 6] },
    { operands: [block], shape: [2, 2], parameters: { start: [0, 0], limit: [2, 3], strides: [1, 2] }, expected: [1, 3, 4, 6] },
    { operands: [block], shape: [2, 1], parameters: { start: [0, 1], limit: [2, 2], strides: [1, 1] }, expected: [2, 5] },
    { operands: [column(1, 2, 3, 4)], shape: [2], parameters: { start: [1], limit: [3], strides: null }, expected: [2, 3] },
  ],
  concatenate: [
    { operands: [block, array([1, 3], [7, 8, 9])], shape: [3, 3], parameters: { dimension: 0 }, expected: [1, 2, 3, 4, 5, 6, 7, 8, 9] },
    { operands: [block, array([2, 1], [7, 8])], shape: [2, 4], parameters: { dimension: 1 }, expected: [1, 2, 3, 7, 4, 5, 6, 8] },
  ],
  iota: [{ operands: [], shape: [2, 3], parameters: { dimension: 1 }, expected: [0, 1, 2, 0, 1, 2] }],
  take: [
    { operands: [column(10, 20, 30)], shape: [4], parameters: { indices: [2, 0, 1, 2] }, expected: [30, 10, 20, 30] },
  ],
  put: [
    { operands: [column(1, 2, 3), column(10, 20)], shape: [3], parameters: { indices: [2, 2] }, expected: [1, 2, 20] },
    { operands: [column(1, 2, 3), column(10, 20)], shape: [3], parameters: { indices: [2, 2], add: true }, expected: [1, 2, 33] },
  ],
  reduce_sum: [
    { operands: [block], shape: [2], parameters: { axes: [1] }, expected: [6, 15] },
    { operands: [block], shape: [3], parameters: { axes: [0] }, expected: [5, 7, 9] },
    { operands: [block], shape: [], parameters: { axes: [0, 1] }, expected: [21] },
  ],
  reduce_prod: [{ operands: [block], shape: [3], parameters: { axes: [0] }, expected: [4, 10, 18] }],
  reduce_max: [{ operands: [block], shape: [2], parameters: { axes: [1] }, expected: [3, 6] }],
  reduce_min: [{ operands: [block], shape: [3], parameters: { axes: [0] }, expected: [1, 2, 3] }],
  reduce_and: [{ operands: [array([2, 2], [1, 1, 0, 1])], shape: [2], parameters: { axes: [1] }, expected: [1, 0] }],
  reduce_or: [{ operands: [array([2, 2], [0, 0, 0, 1])], shape: [2], parameters: { axes: [1] }, expected: [0, 1] }],
  cumsum: [
    { operands: [block], shape: [2, 3], parameters: { axis: 1 }, expected: [1, 3, 6, 4, 9, 15] },
    { operands: [block], shape: [2, 3], parameters: { axis: 0 }, expected: [1, 2, 3, 5, 7, 9] },
    { operands: [block], shape: [2, 3], parameters: { axis: 1, reverse: true }, expected: [6, 5, 3, 15, 11, 6] },
  ],
  cumprod: [{ operands: [block], shape: [2, 3], parameters: { axis: 1 }, expected: [1, 2, 6, 4, 20, 120] }],
  cummax: [{ operands: [column(1, 3, 2)], shape: [3], parameters: { axis: 0 }, expected: [1, 3, 3] }],
  cummin: [{ operands: [column(3, 1, 2)], shape: [3], parameters: { axis: 0 }, expected: [3, 1, 1] }],
};

test("every operation that the page knows has a case", () => {
  assert.deepEqual(Object.keys(CASES).sort(), OPERATIONS);
});

for (const [op, cases] of Object.entries(CASES)) {
  test(`the operation ${op}`, () => {
    for (const { operands, shape, parameters, expected } of cases) {
      const found = applied(op, operands, shape, parameters);
      assert.equal(found.length, expected.length);
      expected.forEach((value, k) => {
        assert.ok(Math.abs(found[k] - value) <= 4e-16 * Math.max(1, Math.abs(value)), `${op}: ${found} is not ${expected}`);
      });
    }
  });
}

test("products of all shapes equal the plain triple sum", () => {
  for (const rows of [1, 2, 3, 5, 8]) {
    for (const columns of [1, 2, 3, 4, 5, 9]) {
      for (const length of [1, 2, 7]) {
        const A = Array.from({ length: rows * length }, (_entry, k) => Math.sin(k + 1));
        const B = Array.from({ length: length * columns }, (_entry, k) => Math.cos(3 * k));
        const parameters = { dimension_numbers: [[[1], [0]], [[], []]] };
        const found = applied("dot_general", [array([rows, length], A), array([length, columns], B)], [rows, columns], parameters);
        for (let i = 0; i < rows; i++) {
          for (let j = 0; j < columns; j++) {
            let sum = 0;
            for (let k = 0; k < length; k++) sum += A[i * length + k] * B[k * columns + j];
            assert.ok(Math.abs(found[i * columns + j] - sum) < 1e-14);
          }
        }
      }
    }
  }
});

test("an unknown operation is named in the error", () => {
  assert.throws(() => applied("sort", [column(1)], [1]), { message: "The operation 'sort' is not known to this page." });
});

test("operands that do not fit are an error", () => {
  assert.throws(() => applied("add", [column(1, 2, 3), column(1, 2)], [3]), /operand of 2 numbers/);
  assert.throws(() => applied("tanh", [column(1, 2, 3)], [2]), /operand of 3 numbers for a result of 2/);
  assert.throws(() => applied("take", [column(1)], [1], { indices: [1] }), /do not fit/);
});

test("memory that is used again does not disturb values that are still needed", () => {
  // y = tanh(h) ; z = y * y ; w = z + y ; v = reshape(y) ; u = v - z: y is read after z took its turn
  const program = {
    inputs: [[3]], constants: [], literals: [2],
    equations: [
      { op: "tanh", in: [0], out: 2, shape: [3] },
      { op: "mul", in: [2, 2], out: 3, shape: [3] },
      { op: "add", in: [3, 2], out: 4, shape: [3] },
      { op: "reshape", in: [2], out: 5, shape: [3, 1] },
      { op: "reshape", in: [3], out: 6, shape: [3, 1] },
      { op: "sub", in: [5, 6], out: 7, shape: [3, 1] },
      { op: "mul", in: [7, 1], out: 8, shape: [3, 1] },
      { op: "neg", in: [8], out: 9, shape: [3, 1] },
    ],
    outputs: [4, 9, 0],
  };
  const h = [0.1, -0.4, 2];
  const y = h.map(Math.tanh);
  const [w, u, same] = run(program, [h]);
  y.forEach((value, k) => {
    assert.ok(Math.abs(w[k] - (value * value + value)) < 1e-15);
    assert.ok(Math.abs(u[k] + 2 * (value - value * value)) < 1e-15);
  });
  assert.deepEqual(same, h);
});
