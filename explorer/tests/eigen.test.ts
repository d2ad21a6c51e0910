import assert from "node:assert/strict";
import { test } from "node:test";
import { eigen, type Eigen } from "../src/math/eigen";
import { solve, solvePositive, symmetricEigen } from "../src/math/linear";
import { numbers } from "./systems";

const flat = (rows: number[][]): Float64Array => Float64Array.from(rows.flat());

/** The largest |A v - lambda v| over all pairs, as a share of the largest entry; and all vectors have length one. */
function residual(A: Float64Array, n: number, { values, vectors: { re, im } }: Eigen): number {
  const size = A.reduce((most, entry) => Math.max(most, Math.abs(entry)), 0) || 1;
  let worst = 0;
  for (let j = 0; j < n; j++) {
    let length = 0;
    for (let i = 0; i < n; i++) {
      let real = -(values[j].re * re[i * n + j] - values[j].im * im[i * n + j]);
      let imaginary = -(values[j].re * im[i * n + j] + values[j].im * re[i * n + j]);
      for (let k = 0; k < n; k++) {
        real += A[i * n + k] * re[k * n + j];
        imaginary += A[i * n + k] * im[k * n + j];
      }
      worst = Math.max(worst, Math.hypot(real, imaginary) / size);
      length += re[i * n + j] ** 2 + im[i * n + j] ** 2;
    }
    assert.ok(Math.abs(length - 1) < 1e-12, `vector ${j} has the length ${length}`);
  }
  return worst;
}

test("random matrices satisfy A v = lambda v", () => {
  const next = numbers();
  for (const n of [1, 2, 3, 4, 5, 8, 13, 30, 64]) {
    for (let round = 0; round < 3; round++) {
      const A = Float64Array.from({ length: n * n }, next);
      const found = eigen(A, n);
      assert.ok(residual(A, n, found) < 1e-13 * n);
      const trace = A.reduce((sum, entry, k) => (k % (n + 1) === 0 ? sum + entry : sum), 0);
      assert.ok(Math.abs(found.values.reduce((sum, value) => sum + value.re, 0) - trace) < 1e-13 * n);
    }
  }
});

test("known eigenvalues, by decreasing real part", () => {
  const { values } = eigen(flat([[0, 1, 0], [-4, 0, 0], [0, 0, 3]]), 3);
  assert.deepEqual(values.map(({ re, im }) => [Math.round(re * 1e12) / 1e12 + 0, Math.round(im * 1e12) / 1e12]), [[3, 0], [0, 2], [0, -2]]);
});

test("by decreasing modulus for a map", () => {
  const { values } = eigen(flat([[0.5, 0], [0, -0.9]]), 2, "map");
  assert.deepEqual(values.map(({ re }) => re), [-0.9, 0.5]);
});

test("matrices on which other methods fail", () => {
  const hard: Record<string, number[][]> = {
    "hangs the usual routine": [[0, 0, 0, 0, 0], [0, 0, 0, 0, 1], [0, 0, 0, 1, 0], [1, 1, 0, 0, 1], [1, 0, 1, 0, 1]],
    "cyclic": [[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [1, 0, 0, 0]],
    "defective": [[2, 1, 0], [0, 2, 1], [0, 0, 2]],
    "zero": [[0, 0], [0, 0]],
    "multiple": [[-1, 0, 0], [0, -1, 0], [0, 0, -1]],
    "tiny": [[1e-300, 2e-300], [3e-300, -1e-300]],
    "huge": [[1e300, 2e300], [3e300, -1e300]],
    "nilpotent": [[0, 1, 1], [0, 0, 1], [0, 0, 0]],
  };
  for (const [name, rows] of Object.entries(hard)) {
    const A = flat(rows);
    assert.ok(residual(A, rows.length, eigen(A, rows.length)) < 1e-13, name);
  }
});

test("small matrices of whole numbers all converge", () => {
  const next = numbers(7);
  for (let round = 0; round < 3000; round++) {
    const n = 2 + (round % 5);
    const A = Float64Array.from({ length: n * n }, () => Math.round(2.4 * next()));
    assert.ok(eigen(A, n).values.every(({ re, im }) => Number.isFinite(re) && Number.isFinite(im)));
  }
});

test("matrices whose eigenvalues are nearly equal, or many of them equal, converge", () => {
  const next = numbers(13);
  for (const n of [3, 10, 50]) {
    for (const size of [1e-6, 1e-10, 1e-14]) {
      const A = Float64Array.from({ length: n * n }, (_entry, k) => size * next() + (k % (n + 1) === 0 ? 1 : 0));
      assert.ok(residual(A, n, eigen(A, n)) < 1e-13 * n, `identity and ${size}`);
    }
    for (let round = 0; round < 10; round++) { // the Jacobian of a rate network of which some units are silent
      const silent = Array.from({ length: n }, () => next() > -0.2);
      const A = Float64Array.from({ length: n * n }, (_entry, k) => (silent[k % n] ? 0 : 20 * Math.max(0, next())) - (k % (n + 1) === 0 ? 10 : 0));
      assert.ok(residual(A, n, eigen(A, n)) < 1e-12 * n, "silent units");
    }
  }
});

test("vectors of a multiple eigenvalue with enough of them are independent", () => {
  const { vectors } = eigen(flat([[-1, 0, 0], [0, -1, 0], [0, 0, -1]]), 3);
  assert.deepEqual(Array.from(vectors.re), [1, 0, 0, 0, 1, 0, 0, 0, 1]);
});

test("entries that are not finite give NaN, not a hang", () => {
  for (const bad of [NaN, Infinity]) {
    const found = eigen(flat([[1, bad], [0, 1]]), 2);
    assert.ok(found.values.every(({ re }) => Number.isNaN(re)));
    assert.ok(found.vectors.re.every(Number.isNaN));
  }
});

test("linear equations", () => {
  const next = numbers(3);
  for (const n of [1, 2, 7, 20]) {
    const A = Float64Array.from({ length: n * n }, next);
    const x = Float64Array.from({ length: n }, next);
    const b = Float64Array.from({ length: n }, (_value, i) => x.reduce((sum, value, j) => sum + A[i * n + j] * value, 0));
    assert.ok(solve(Float64Array.from(A), b, n) > 0);
    x.forEach((value, i) => assert.ok(Math.abs(b[i] - value) < 1e-9));
    const S = new Float64Array(n * n);
    for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) for (let k = 0; k < n; k++) S[i * n + j] += A[k * n + i] * A[k * n + j];
    const c = Float64Array.from({ length: n }, (_value, i) => x.reduce((sum, value, j) => sum + S[i * n + j] * value, 0));
    assert.ok(solvePositive(S, c, n));
    x.forEach((value, i) => assert.ok(Math.abs(c[i] - value) < 1e-6));
  }
  assert.equal(solve(flat([[1, 2], [2, 4]]), Float64Array.of(1, 1), 2), 0);
  assert.equal(solvePositive(flat([[1, 2], [2, 1]]), Float64Array.of(1, 1), 2), false);
});

test("symmetric matrices have orthonormal eigenvectors, largest value first", () => {
  const n = 12;
  const next = numbers(5);
  const A = new Float64Array(n * n);
  for (let i = 0; i < n; i++) for (let j = 0; j <= i; j++) A[i * n + j] = A[j * n + i] = next();
  const { values, vectors } = symmetricEigen(A, n);
  for (let a = 0; a < n; a++) {
    if (a > 0) assert.ok(values[a - 1] >= values[a]);
    for (let b = 0; b < n; b++) {
      const product = vectors[a].reduce((sum, value, k) => sum + value * vectors[b][k], 0);
      assert.ok(Math.abs(product - (a === b ? 1 : 0)) < 1e-12);
    }
    for (let i = 0; i < n; i++) {
      const row = vectors[a].reduce((sum, value, k) => sum + A[i * n + k] * value, 0);
      assert.ok(Math.abs(row - values[a] * vectors[a][i]) < 1e-12);
    }
  }
});
