/** Linear algebra on matrices by rows in one array. */

/** Solves A x = b in place by elimination with partial pivoting: `b` becomes x, `A` is destroyed. Returns the smallest pivot's size. */
export function solve(A: Float64Array, b: Float64Array, n: number): number {
  let smallest = Infinity;
  for (let k = 0; k < n; k++) {
    let pivot = k;
    for (let i = k + 1; i < n; i++) if (Math.abs(A[i * n + k]) > Math.abs(A[pivot * n + k])) pivot = i;
    const size = Math.abs(A[pivot * n + k]);
    if (!(size >= smallest)) smallest = size; // a NaN stays
    if (!(size > 0)) return size;
    if (pivot !== k) swapRows(A, b, pivot, k, n);
    const row = k * n;
    for (let i = k + 1; i < n; i++) {
      const factor = A[i * n + k] / A[row + k];
      if (factor === 0) continue;
      const at = i * n;
      for (let j = k + 1; j < n; j++) A[at + j] -= factor * A[row + j];
      b[i] -= factor * b[k];
    }
  }
  for (let i = n - 1; i >= 0; i--) {
    let sum = b[i];
    for (let j = i + 1; j < n; j++) sum -= A[i * n + j] * b[j];
    b[i] = sum / A[i * n + i];
  }
  return smallest;
}

function swapRows(A: Float64Array, b: Float64Array, i: number, k: number, n: number): void {
  for (let j = 0; j < n; j++) {
    const kept = A[i * n + j];
    A[i * n + j] = A[k * n + j];
    A[k * n + j] = kept;
  }
  const kept = b[i];
  b[i] = b[k];
  b[k] = kept;
}

/** Solves S x = b in place for a symmetric positive definite S (its lower half is read and destroyed). False if it is not. */
export function solvePositive(S: Float64Array, b: Float64Array, n: number): boolean {
  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) {
      let sum = S[i * n + j];
      for (let k = 0; k < j; k++) sum -= S[i * n + k] * S[j * n + k];
      if (i > j) S[i * n + j] = sum / S[j * n + j];
      else if (sum > 0) S[i * n + i] = Math.sqrt(sum);
      else return false;
    }
  }
  for (let i = 0; i < n; i++) {
    for (let k = 0; k < i; k++) b[i] -= S[i * n + k] * b[k];
    b[i] /= S[i * n + i];
  }
  for (let i = n - 1; i >= 0; i--) {
    for (let k = i + 1; k < n; k++) b[i] -= S[k * n + i] * b[k];
    b[i] /= S[i * n + i];
  }
  return true;
}

/** The sum of products of two vectors. */
export function dot(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
  return sum;
}

/** The length of a vector. */
export function norm(a: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * a[i];
  return Math.sqrt(sum);
}

/** The distance of two points. */
export function distance(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] - b[i]) ** 2;
  return Math.sqrt(sum);
}

const MOST_SWEEPS = 60;

/** Eigenvalues, largest first, and orthonormal eigenvectors (rows) of a symmetric matrix, by Jacobi's rotations. */
export function symmetricEigen(matrix: Float64Array, n: number): { values: Float64Array; vectors: Float64Array[] } {
  const A = Float64Array.from(matrix);
  const V = Array.from({ length: n }, (_row, i) => Float64Array.from({ length: n }, (_entry, j) => (i === j ? 1 : 0)));
  for (let sweep = 0; sweep < MOST_SWEEPS; sweep++) {
    let largest = 0;
    let off = 0;
    for (let i = 0; i < n; i++) {
      largest = Math.max(largest, Math.abs(A[i * n + i]));
      for (let j = 0; j < i; j++) off = Math.max(off, Math.abs(A[i * n + j]));
    }
    if (!(off > 1e-15 * largest)) break;
    for (let p = 0; p < n; p++) for (let q = p + 1; q < n; q++) rotate(A, V, n, p, q);
  }
  const order = Array.from({ length: n }, (_value, i) => i).sort((i, j) => A[j * n + j] - A[i * n + i]);
  return { values: Float64Array.from(order, (i) => A[i * n + i]), vectors: order.map((i) => V[i]) };
}

/** Turns the plane of two axes so that the entry (p, q) becomes zero. */
function rotate(A: Float64Array, V: Float64Array[], n: number, p: number, q: number): void {
  const entry = A[p * n + q];
  if (entry === 0) return;
  const half = (A[q * n + q] - A[p * n + p]) / (2 * entry);
  const tangent = (half < 0 ? -1 : 1) / (Math.abs(half) + Math.hypot(1, half));
  const c = 1 / Math.hypot(1, tangent);
  const s = tangent * c;
  for (let k = 0; k < n; k++) {
    const [a, b] = [A[p * n + k], A[q * n + k]];
    A[p * n + k] = c * a - s * b;
    A[q * n + k] = s * a + c * b;
  }
  for (let k = 0; k < n; k++) {
    const [a, b] = [A[k * n + p], A[k * n + q]];
    A[k * n + p] = c * a - s * b;
    A[k * n + q] = s * a + c * b;
  }
  const [first, second] = [V[p], V[q]];
  for (let k = 0; k < n; k++) {
    const [a, b] = [first[k], second[k]];
    first[k] = c * a - s * b;
    second[k] = s * a + c * b;
  }
}
