/** Sums of products. Nearly all the time of a network is spent here. */
import { sizeOf } from "../arrays";
import { keepsOrder } from "./shapes";
import { gather, places, stridesOf, type Maker, type Value } from "./types";

type Axes = [[number[], number[]], [number[], number[]]];

/** Both operands are brought to [batch, free, contracted], and then every entry of the result is one sum over a run of memory. */
const dotGeneral: Maker = (equation, [left, right], out) => {
  const [[leftSum, rightSum], [leftBatch, rightBatch]] = equation.dimension_numbers as Axes;
  const a = arranged(left, leftBatch, leftSum);
  const b = arranged(right, rightBatch, rightSum);
  const batches = sizeOf(leftBatch.map((axis) => left.shape[axis]));
  const length = sizeOf(leftSum.map((axis) => left.shape[axis]));
  const rows = free(left, leftBatch, leftSum);
  const columns = free(right, rightBatch, rightSum);
  if (batches * rows * columns !== out.length) throw new Error("The operation 'dot_general' has operands that do not fit its result.");
  const [A, B] = [a.data, b.data];
  return () => {
    a.arrange();
    b.arrange();
    for (let batch = 0; batch < batches; batch++) {
      multiply(A, batch * rows * length, B, batch * columns * length, out, batch * rows * columns, rows, columns, length);
    }
  };
};

/** The number of entries of an operand for each place in a batch and in a sum: of its axes that stay. Sums of nothing are zero. */
function free(value: Value, batch: number[], summed: number[]): number {
  return sizeOf(value.shape.filter((_length, axis) => !batch.includes(axis) && !summed.includes(axis)));
}

interface Arranged {
  data: Float64Array;
  arrange: () => void;
}

const nothing = (): void => {};

function arranged(value: Value, batch: number[], summed: number[]): Arranged {
  const free = value.shape.map((_length, axis) => axis).filter((axis) => !batch.includes(axis) && !summed.includes(axis));
  const permutation = [...batch, ...free, ...summed];
  if (keepsOrder(value.shape, permutation)) return { data: value.data, arrange: nothing };
  const own = stridesOf(value.shape);
  const data = new Float64Array(value.data.length);
  const indices = places(permutation.map((axis) => value.shape[axis]), permutation.map((axis) => own[axis]));
  const arrange = gather(value.data, indices, data);
  if (!value.isConstant) return { data, arrange };
  arrange();
  return { data, arrange: nothing };
}

/** C = A B^T, with A of `rows`, B of `columns` rows of `length` numbers. The letters a, b, c are where each begins. */
function multiply(
  A: Float64Array, a: number, B: Float64Array, b: number, C: Float64Array, c: number, rows: number, columns: number, length: number,
): void {
  if (rows === 1) matrixTimesVector(B, b, A, a, C, c, columns, length);
  else if (columns === 1) matrixTimesVector(A, a, B, b, C, c, rows, length);
  else matrixTimesMatrix(A, a, B, b, C, c, rows, columns, length);
}

/** Four rows at a time, so that each number of the vector is read once for four products. */
function matrixTimesVector(
  M: Float64Array, m: number, V: Float64Array, v: number, C: Float64Array, c: number, rows: number, length: number,
): void {
  let i = 0;
  for (; i + 4 <= rows; i += 4) {
    const r0 = m + i * length;
    const r1 = r0 + length;
    const r2 = r1 + length;
    const r3 = r2 + length;
    let s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    for (let k = 0; k < length; k++) {
      const x = V[v + k];
      s0 += M[r0 + k] * x;
      s1 += M[r1 + k] * x;
      s2 += M[r2 + k] * x;
      s3 += M[r3 + k] * x;
    }
    C[c + i] = s0;
    C[c + i + 1] = s1;
    C[c + i + 2] = s2;
    C[c + i + 3] = s3;
  }
  for (; i < rows; i++) {
    const r = m + i * length;
    let s = 0;
    for (let k = 0; k < length; k++) s += M[r + k] * V[v + k];
    C[c + i] = s;
  }
}

/** Blocks of 2 x 4 sums, which is what fits the registers; the edges by single rows. */
function matrixTimesMatrix(
  A: Float64Array, a: number, B: Float64Array, b: number, C: Float64Array, c: number, rows: number, columns: number, length: number,
): void {
  const evenRows = rows - (rows % 2);
  let j = 0;
  for (; j + 4 <= columns; j += 4) {
    const b0 = b + j * length;
    const b1 = b0 + length;
    const b2 = b1 + length;
    const b3 = b2 + length;
    for (let i = 0; i < evenRows; i += 2) {
      const a0 = a + i * length;
      const a1 = a0 + length;
      let s0 = 0, s1 = 0, s2 = 0, s3 = 0, t0 = 0, t1 = 0, t2 = 0, t3 = 0;
      for (let k = 0; k < length; k++) {
        const x = A[a0 + k];
        const y = A[a1 + k];
        const p = B[b0 + k];
        const q = B[b1 + k];
        s0 += x * p;
        t0 += y * p;
        s1 += x * q;
        t1 += y * q;
        const r = B[b2 + k];
        const s = B[b3 + k];
        s2 += x * r;
        t2 += y * r;
        s3 += x * s;
        t3 += y * s;
      }
      const at = c + i * columns + j;
      C[at] = s0;
      C[at + 1] = s1;
      C[at + 2] = s2;
      C[at + 3] = s3;
      C[at + columns] = t0;
      C[at + columns + 1] = t1;
      C[at + columns + 2] = t2;
      C[at + columns + 3] = t3;
    }
  }
  for (let i = 0; i < rows; i++) {
    for (let column = i < evenRows ? j : 0; column < columns; column++) {
      C[c + i * columns + column] = dot(A, a + i * length, B, b + column * length, length);
    }
  }
}

/** The sum of products of two runs of memory. */
function dot(A: Float64Array, a: number, B: Float64Array, b: number, length: number): number {
  let sum = 0;
  for (let k = 0; k < length; k++) sum += A[a + k] * B[b + k];
  return sum;
}

export const PRODUCTS: Record<string, Maker> = { dot_general: dotGeneral };
