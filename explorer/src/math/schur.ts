/**
 * The real Schur form A = Q T Q^T, T with blocks of size one and two on its diagonal: Householder reflections to
 * Hessenberg form, then Francis's double shifts. Every loop has an end, whatever the matrix; the packages that were tried
 * hang on some small matrices of whole numbers, and with them the page.
 */

/** Reflects A to Hessenberg form in place; `Q` (the identity, or null) gathers the reflections. */
export function toHessenberg(A: Float64Array, n: number, Q: Float64Array | null): void {
  const v = new Float64Array(n);
  for (let k = 0; k + 2 < n; k++) {
    let scale = 0;
    for (let i = k + 1; i < n; i++) scale = Math.max(scale, Math.abs(A[i * n + k]));
    if (scale === 0) continue;
    let square = 0;
    for (let i = k + 1; i < n; i++) {
      v[i] = A[i * n + k] / scale;
      square += v[i] * v[i];
    }
    const length = v[k + 1] < 0 ? -Math.sqrt(square) : Math.sqrt(square);
    const beta = 1 / (square + length * v[k + 1]); // 2 / |v|^2 after the next line
    v[k + 1] += length;
    fromLeft(A, n, v, beta, k + 1, n, k);
    fromRight(A, n, v, beta, k + 1, n, 0, n);
    if (Q !== null) fromRight(Q, n, v, beta, k + 1, n, 0, n);
    for (let i = k + 2; i < n; i++) A[i * n + k] = 0;
  }
}

/** A = (1 - beta v v^T) A on rows `low` to `high`, from the column `first` on. */
function fromLeft(A: Float64Array, n: number, v: Float64Array, beta: number, low: number, high: number, first: number): void {
  const sums = new Float64Array(n);
  for (let i = low; i < high; i++) for (let j = first; j < n; j++) sums[j] += v[i] * A[i * n + j];
  for (let i = low; i < high; i++) {
    const factor = beta * v[i];
    for (let j = first; j < n; j++) A[i * n + j] -= factor * sums[j];
  }
}

/** A = A (1 - beta v v^T) on columns `low` to `high`, of the rows `top` to `bottom`. */
function fromRight(
  A: Float64Array, n: number, v: Float64Array, beta: number, low: number, high: number, top: number, bottom: number,
): void {
  for (let i = top; i < bottom; i++) {
    let sum = 0;
    for (let j = low; j < high; j++) sum += A[i * n + j] * v[j];
    sum *= beta;
    for (let j = low; j < high; j++) A[i * n + j] -= sum * v[j];
  }
}

const MOST_SHIFTS = 60; // for one eigenvalue; two or three are usual
const EXCEPTIONAL = 10; // after every so many shifts without progress another one breaks a cycle

/**
 * Brings a Hessenberg matrix to Schur form in place, or, without `Q`, only its diagonal blocks, which is less work.
 * Returns false if it did not converge.
 */
export function toSchur(H: Float64Array, n: number, Q: Float64Array | null): boolean {
  let size = 0;
  for (let k = 0; k < n * n; k++) size = Math.max(size, Math.abs(H[k]));
  const smallest = Number.EPSILON * size;
  let bottom = n - 1;
  let shifts = 0;
  while (bottom > 0) {
    const top = startOfBlock(H, n, bottom, smallest);
    if (top === bottom || top === bottom - 1) {
      if (top < bottom) splitBlock(H, n, top, Q);
      bottom = top - 1;
      shifts = 0;
      continue;
    }
    if (shifts++ > MOST_SHIFTS) return false;
    doubleShift(H, n, top, bottom, shifts, Q);
  }
  return true;
}

/** The first row of the block that ends at `bottom`; entries below the diagonal that are zero up to rounding are made zero. */
function startOfBlock(H: Float64Array, n: number, bottom: number, smallest: number): number {
  let top = bottom;
  for (; top > 0; top--) {
    const beside = Math.abs(H[top * n + top]) + Math.abs(H[(top - 1) * n + top - 1]);
    const below = Math.abs(H[top * n + top - 1]);
    if (below <= Number.EPSILON * beside || below <= Number.EPSILON * smallest) {
      H[top * n + top - 1] = 0;
      break;
    }
  }
  return top;
}

/** One implicit double shift on the rows `top` to `bottom`: a bulge is made near the top and chased to the bottom. */
function doubleShift(H: Float64Array, n: number, top: number, bottom: number, shifts: number, Q: Float64Array | null): void {
  const [first, ...column] = bulgeOf(H, n, top, bottom, shiftsOf(H, n, bottom, shifts));
  let [x, y, z] = column;
  for (let k = first; k < bottom; k++) {
    const rows = k + 2 <= bottom ? 3 : 2;
    if (k > first) {
      x = H[k * n + k - 1];
      y = H[(k + 1) * n + k - 1];
      z = rows === 3 ? H[(k + 2) * n + k - 1] : 0;
    }
    if (rows === 2) z = 0;
    reflect(H, n, k, rows, x, y, z, top, bottom, Q);
    if (k > top) {
      H[(k + 1) * n + k - 1] = 0;
      if (rows === 3) H[(k + 2) * n + k - 1] = 0;
    }
  }
}

/** Two shifts as the matrix [[a, b], [c, d]] whose eigenvalues they are: a, d and the product b c. */
type Shifts = [number, number, number];

/** The last two rows themselves; now and then something else. */
function shiftsOf(H: Float64Array, n: number, bottom: number, shifts: number): Shifts {
  const d = H[bottom * n + bottom];
  if (shifts % EXCEPTIONAL === 0) {
    const size = Math.abs(H[bottom * n + bottom - 1]) + Math.abs(H[(bottom - 1) * n + bottom - 2]);
    return [d + 0.75 * size, d + 0.75 * size, -0.4375 * size * size];
  }
  return [H[(bottom - 1) * n + bottom - 1], d, H[(bottom - 1) * n + bottom] * H[bottom * n + bottom - 1]];
}

/**
 * The lowest row from which the bulge can begin, since two entries below the diagonal are small together, and the first column
 * of the product of H minus each shift, divided by an entry. It is written with differences, so that nothing cancels where all
 * eigenvalues are nearly equal.
 */
function bulgeOf(H: Float64Array, n: number, top: number, bottom: number, [a, d, bc]: Shifts): [number, number, number, number] {
  for (let k = bottom - 2; ; k--) {
    const here = H[k * n + k];
    const next = H[(k + 1) * n + k + 1];
    const x = ((a - here) * (d - here) - bc) / H[(k + 1) * n + k] + H[k * n + k + 1];
    const y = next - here - (a - here) - (d - here);
    const z = H[(k + 2) * n + k + 1];
    if (k === top) return [k, x, y, z];
    const left = Math.abs(H[k * n + k - 1]) * (Math.abs(y) + Math.abs(z));
    const diagonal = Math.abs(H[(k - 1) * n + k - 1]) + Math.abs(here) + Math.abs(next);
    if (left <= Number.EPSILON * Math.abs(x) * diagonal) return [k, x, y, z];
  }
}

/** Applies the reflection that turns (x, y, z) to the first axis, to two or three rows and columns from k on. */
function reflect(
  H: Float64Array, n: number, k: number, rows: number, x: number, y: number, z: number, top: number, bottom: number, Q: Float64Array | null,
): void {
  const scale = Math.abs(x) + Math.abs(y) + Math.abs(z);
  if (!(scale > 0)) return;
  const [a, b, c] = [x / scale, y / scale, z / scale];
  const length = a < 0 ? -Math.sqrt(a * a + b * b + c * c) : Math.sqrt(a * a + b * b + c * c);
  const [v1, v2] = [b / (a + length), c / (a + length)]; // v = (1, v1, v2)
  const beta = (a + length) / length;
  const last = Q === null ? bottom : n - 1;
  const [r0, r1, r2] = [k * n, (k + 1) * n, (k + 2) * n];
  for (let j = Math.max(k - 1, Q === null ? top : 0); j <= last; j++) {
    const sum = beta * (H[r0 + j] + v1 * H[r1 + j] + (rows === 3 ? v2 * H[r2 + j] : 0));
    H[r0 + j] -= sum;
    H[r1 + j] -= sum * v1;
    if (rows === 3) H[r2 + j] -= sum * v2;
  }
  columns(H, n, k, rows, v1, v2, beta, Q === null ? top : 0, Math.min(bottom, k + 3));
  if (Q !== null) columns(Q, n, k, rows, v1, v2, beta, 0, n - 1);
}

function columns(A: Float64Array, n: number, k: number, rows: number, v1: number, v2: number, beta: number, from: number, to: number): void {
  for (let i = from; i <= to; i++) {
    const at = i * n + k;
    const sum = beta * (A[at] + v1 * A[at + 1] + (rows === 3 ? v2 * A[at + 2] : 0));
    A[at] -= sum;
    A[at + 1] -= sum * v1;
    if (rows === 3) A[at + 2] -= sum * v2;
  }
}

/** Makes a block of two rows triangular by a rotation if its eigenvalues are real. */
function splitBlock(H: Float64Array, n: number, k: number, Q: Float64Array | null): void {
  const [a, b, c, d] = [H[k * n + k], H[k * n + k + 1], H[(k + 1) * n + k], H[(k + 1) * n + k + 1]];
  const half = (a - d) / 2;
  const discriminant = half * half + b * c;
  if (c === 0 || discriminant < 0) return;
  const root = half + (half < 0 ? -1 : 1) * Math.sqrt(discriminant); // the eigenvalue farther from d, minus d
  const length = Math.hypot(root, c);
  const [cosine, sine] = [root / length, c / length]; // (root, c) is its eigenvector
  const last = Q === null ? k + 1 : n - 1;
  for (let j = k; j <= last; j++) {
    const [p, q] = [H[k * n + j], H[(k + 1) * n + j]];
    H[k * n + j] = cosine * p + sine * q;
    H[(k + 1) * n + j] = cosine * q - sine * p;
  }
  for (const [M, from, to] of [[H, Q === null ? k : 0, k + 1], [Q, 0, n - 1]] as const) {
    if (M === null) continue;
    for (let i = from; i <= to; i++) {
      const [p, q] = [M[i * n + k], M[i * n + k + 1]];
      M[i * n + k] = cosine * p + sine * q;
      M[i * n + k + 1] = cosine * q - sine * p;
    }
  }
  H[(k + 1) * n + k] = 0;
}
