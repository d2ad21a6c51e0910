/** Eigenvalues and eigenvectors of matrices that need not be symmetric. */
import { toHessenberg, toSchur } from "./schur";

export interface Complex { re: number; im: number }

/** Eigenvectors by columns: component i of vector j is `re[i * n + j]` + i `im[i * n + j]`, of length one. */
export interface Eigen {
  /** By decreasing real part; a pair of conjugates is adjacent, the one above the real axis first. */
  values: Complex[];
  /** Computed when they are first asked for: they cost more than the values. */
  readonly vectors: { re: Float64Array; im: Float64Array };
}

/** The order of eigenvalues: by decreasing real part ("flow"), or by decreasing modulus ("map"). */
export type Order = "flow" | "map";

/** Computes eigenvalues, and eigenvectors on demand. A matrix with NaN or infinite entries has NaN for both. */
export function eigen(matrix: Float64Array, n: number, order: Order = "flow"): Eigen {
  let size = 0; // squares of numbers of size one neither overflow nor vanish
  for (let k = 0; k < n * n; k++) size = Math.max(size, Math.abs(matrix[k]));
  const unit = size > 0 ? size : 1;
  const A = Float64Array.from(matrix.subarray(0, n * n), (entry) => entry / unit);
  const found = Number.isFinite(size) ? unordered(A, n) : null;
  const ranks = found === null ? [] : ranked(found, order);
  let vectors: Eigen["vectors"] | null = null;
  return {
    values: found === null ? Array.from({ length: n }, () => ({ re: NaN, im: 0 })) : ranks.map((k) => ({ re: unit * found[k].re, im: unit * found[k].im })),
    get vectors() {
      vectors ??= found === null ? undefinedVectors(n) : vectorsOf(A, n, ranks);
      return vectors;
    },
  };
}

/** The eigenvalues in the order of the blocks of the Schur form; null if it was not reached. */
function unordered(A: Float64Array, n: number): Complex[] | null {
  const T = Float64Array.from(A);
  toHessenberg(T, n, null);
  return toSchur(T, n, null) ? diagonalOf(T, n) : null;
}

function diagonalOf(T: Float64Array, n: number): Complex[] {
  const values: Complex[] = [];
  for (let k = 0; k < n; k++) {
    const a = T[k * n + k];
    const below = k + 1 < n ? T[(k + 1) * n + k] : 0;
    if (below === 0) {
      values.push({ re: a, im: 0 });
      continue;
    }
    const d = T[(k + 1) * n + k + 1];
    const half = (a - d) / 2;
    const im = Math.sqrt(Math.max(0, -(half * half + T[k * n + k + 1] * below)));
    values.push({ re: (a + d) / 2, im }, { re: (a + d) / 2, im: -im });
    k++;
  }
  return values;
}

function ranked(values: Complex[], order: Order): number[] {
  const key = order === "flow" ? (value: Complex) => value.re : (value: Complex) => Math.hypot(value.re, value.im);
  return values.map((_value, k) => k).sort((i, j) => key(values[j]) - key(values[i]) || i - j);
}

function undefinedVectors(n: number): Eigen["vectors"] {
  return { re: new Float64Array(n * n).fill(NaN), im: new Float64Array(n * n).fill(NaN) };
}

/** The vectors y of (T - lambda) y = 0, from the last row upwards, turned back by Q and normalised. */
function vectorsOf(A: Float64Array, n: number, ranks: number[]): Eigen["vectors"] {
  const T = Float64Array.from(A);
  const Q = new Float64Array(n * n);
  for (let i = 0; i < n; i++) Q[i * n + i] = 1;
  toHessenberg(T, n, Q);
  if (!toSchur(T, n, Q)) return undefinedVectors(n);
  const values = diagonalOf(T, n);
  const vectors = { re: new Float64Array(n * n), im: new Float64Array(n * n) };
  let size = 0;
  for (let k = 0; k < n * n; k++) size = Math.max(size, Math.abs(T[k]));
  const smallest = Number.EPSILON * (size === 0 ? 1 : size);
  const y = { re: new Float64Array(n), im: new Float64Array(n) };
  ranks.forEach((k, column) => {
    if (values[k].im < 0) { // the one before it is its conjugate
      const before = ranks.indexOf(k - 1);
      for (let i = 0; i < n; i++) {
        vectors.re[i * n + column] = vectors.re[i * n + before];
        vectors.im[i * n + column] = -vectors.im[i * n + before];
      }
      return;
    }
    substitute(T, n, k, values[k], smallest, y);
    turnBack(Q, n, Math.min(n - 1, values[k].im > 0 ? k + 1 : k), y, vectors, column);
  });
  return vectors;
}

interface Vector { re: Float64Array; im: Float64Array }

/** Solves (T - lambda) y = 0 for the eigenvalue of row k, which is the first of its block. */
function substitute(T: Float64Array, n: number, k: number, lambda: Complex, smallest: number, y: Vector): void {
  y.re.fill(0);
  y.im.fill(0);
  let last = k;
  if (lambda.im > 0) { // the vector of the block itself: (T[k][k] - lambda) y0 + T[k][k+1] y1 = 0
    last = k + 1;
    y.re[k] = -T[k * n + k + 1];
    y.re[k + 1] = T[k * n + k] - lambda.re;
    y.im[k + 1] = -lambda.im;
  } else {
    y.re[k] = 1;
  }
  for (let i = k - 1; i >= 0; i--) {
    const isPair = i > 0 && T[i * n + i - 1] !== 0;
    const [re, im] = rest(T, n, i, last, y);
    if (!isPair) {
      const d = nonzero({ re: T[i * n + i] - lambda.re, im: -lambda.im }, smallest);
      set(y, i, quotient({ re: -re, im: -im }, d));
    } else {
      const [above, beside] = rest(T, n, i - 1, last, y, i + 1);
      solvePair(T, n, i, lambda, { re: -above, im: -beside }, { re: -re, im: -im }, smallest, y);
      i--;
    }
    scaleDown(y, Math.max(0, i), last);
  }
}

/** The sum of T[i][j] y[j] over the j from `from` (i + 1) to `last`. */
function rest(T: Float64Array, n: number, i: number, last: number, y: Vector, from = i + 1): [number, number] {
  let re = 0;
  let im = 0;
  for (let j = from; j <= last; j++) {
    re += T[i * n + j] * y.re[j];
    im += T[i * n + j] * y.im[j];
  }
  return [re, im];
}

/** Two rows at once, by elimination with the larger pivot: rows i - 1 and i of (T - lambda) y = (f, g). */
function solvePair(
  T: Float64Array, n: number, i: number, lambda: Complex, f: Complex, g: Complex, smallest: number, y: Vector,
): void {
  const a = { re: T[(i - 1) * n + i - 1] - lambda.re, im: -lambda.im };
  const d = { re: T[i * n + i] - lambda.re, im: -lambda.im };
  const b = { re: T[(i - 1) * n + i], im: 0 };
  const c = { re: T[i * n + i - 1], im: 0 };
  const isSwapped = Math.hypot(a.re, a.im) < Math.abs(c.re);
  const [p, q, r, s, first, second] = isSwapped ? [c, d, a, b, g, f] : [a, b, c, d, f, g]; // rows (p, q) and (r, s)
  const factor = quotient(r, p);
  const pivot = nonzero(minus(s, times(factor, q)), smallest);
  const below = quotient(minus(second, times(factor, first)), pivot);
  set(y, i, below);
  set(y, i - 1, quotient(minus(first, times(q, below)), p));
}

const GREAT = 1e100;

/** Keeps a vector from overflowing where eigenvalues nearly coincide. */
function scaleDown(y: Vector, first: number, last: number): void {
  let largest = 0;
  for (let j = first; j <= last; j++) largest = Math.max(largest, Math.abs(y.re[j]), Math.abs(y.im[j]));
  if (largest < GREAT) return;
  for (let j = first; j <= last; j++) {
    y.re[j] /= largest;
    y.im[j] /= largest;
  }
}

/** Writes Q y, of length one, and its largest component real and positive, as a column. */
function turnBack(Q: Float64Array, n: number, last: number, y: Vector, out: Vector, column: number): void {
  let square = 0;
  let largest = 0;
  let turn: Complex = { re: 1, im: 0 };
  for (let i = 0; i < n; i++) {
    const [re, im] = rest(Q, n, i, last, y, 0);
    out.re[i * n + column] = re;
    out.im[i * n + column] = im;
    const size = re * re + im * im;
    square += size;
    if (size > largest * (1 + 1e-9)) { // among equal ones the first
      largest = size;
      turn = { re, im };
    }
  }
  const modulus = Math.hypot(turn.re, turn.im) * Math.sqrt(square);
  if (modulus === 0) return;
  for (let k = column; k < n * n; k += n) {
    const [re, im] = [out.re[k], out.im[k]];
    out.re[k] = (re * turn.re + im * turn.im) / modulus;
    out.im[k] = (im * turn.re - re * turn.im) / modulus;
  }
}

function times(a: Complex, b: Complex): Complex {
  return { re: a.re * b.re - a.im * b.im, im: a.re * b.im + a.im * b.re };
}

function minus(a: Complex, b: Complex): Complex {
  return { re: a.re - b.re, im: a.im - b.im };
}

function quotient(a: Complex, b: Complex): Complex {
  const scale = Math.max(Math.abs(b.re), Math.abs(b.im));
  const [c, d] = [b.re / scale, b.im / scale];
  const square = (c * c + d * d) * scale;
  return { re: (a.re * c + a.im * d) / square, im: (a.im * c - a.re * d) / square };
}

/** A divisor that is zero up to rounding becomes as small as rounding: two eigenvalues coincide. */
function nonzero(value: Complex, smallest: number): Complex {
  return Math.abs(value.re) + Math.abs(value.im) > smallest ? value : { re: smallest, im: 0 };
}

function set(y: Vector, i: number, value: Complex): void {
  y.re[i] = value.re;
  y.im[i] = value.im;
}
