// tests/evaluate.ts
import { readFileSync, writeFileSync } from "node:fs";

// src/math/arrays.ts
function sizeOf(shape) {
  return shape.reduce((product, length) => product * length, 1);
}
function unpack(packed) {
  const data = doubles(packed.data);
  if (data.length !== sizeOf(packed.shape)) {
    throw new Error(`An array of shape [${packed.shape}] must hold ${sizeOf(packed.shape)} numbers, but holds ${data.length}.`);
  }
  return { shape: packed.shape, data };
}
function unpackWeights(weights) {
  const all = doubles(weights.data);
  const arrays = /* @__PURE__ */ new Map();
  for (const [name, { offset, shape }] of Object.entries(weights.arrays)) {
    const end = offset + sizeOf(shape);
    if (end > all.length) throw new Error(`The array '${name}' ends after the last of the weights.`);
    arrays.set(name, { shape, data: all.subarray(offset, end) });
  }
  return arrays;
}
function doubles(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  const view = new DataView(bytes.buffer);
  const data = new Float64Array(bytes.length >> 2);
  for (let i = 0; i < data.length; i++) data[i] = view.getFloat32(4 * i, true);
  return data;
}

// src/math/schur.ts
function toHessenberg(A, n, Q) {
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
    const beta = 1 / (square + length * v[k + 1]);
    v[k + 1] += length;
    fromLeft(A, n, v, beta, k + 1, n, k);
    fromRight(A, n, v, beta, k + 1, n, 0, n);
    if (Q !== null) fromRight(Q, n, v, beta, k + 1, n, 0, n);
    for (let i = k + 2; i < n; i++) A[i * n + k] = 0;
  }
}
function fromLeft(A, n, v, beta, low, high, first) {
  const sums = new Float64Array(n);
  for (let i = low; i < high; i++) for (let j = first; j < n; j++) sums[j] += v[i] * A[i * n + j];
  for (let i = low; i < high; i++) {
    const factor = beta * v[i];
    for (let j = first; j < n; j++) A[i * n + j] -= factor * sums[j];
  }
}
function fromRight(A, n, v, beta, low, high, top, bottom) {
  for (let i = top; i < bottom; i++) {
    let sum = 0;
    for (let j = low; j < high; j++) sum += A[i * n + j] * v[j];
    sum *= beta;
    for (let j = low; j < high; j++) A[i * n + j] -= sum * v[j];
  }
}
var MOST_SHIFTS = 60;
var EXCEPTIONAL = 10;
function toSchur(H, n, Q) {
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
function startOfBlock(H, n, bottom, smallest) {
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
function doubleShift(H, n, top, bottom, shifts, Q) {
  const [first, ...column] = bulgeOf(H, n, top, bottom, shiftsOf(H, n, bottom, shifts));
  let [x, y, z] = column;
  for (let k = first; k < bottom; k++) {
    const rows2 = k + 2 <= bottom ? 3 : 2;
    if (k > first) {
      x = H[k * n + k - 1];
      y = H[(k + 1) * n + k - 1];
      z = rows2 === 3 ? H[(k + 2) * n + k - 1] : 0;
    }
    if (rows2 === 2) z = 0;
    reflect(H, n, k, rows2, x, y, z, top, bottom, Q);
    if (k > top) {
      H[(k + 1) * n + k - 1] = 0;
      if (rows2 === 3) H[(k + 2) * n + k - 1] = 0;
    }
  }
}
function shiftsOf(H, n, bottom, shifts) {
  const d = H[bottom * n + bottom];
  if (shifts % EXCEPTIONAL === 0) {
    const size = Math.abs(H[bottom * n + bottom - 1]) + Math.abs(H[(bottom - 1) * n + bottom - 2]);
    return [d + 0.75 * size, d + 0.75 * size, -0.4375 * size * size];
  }
  return [H[(bottom - 1) * n + bottom - 1], d, H[(bottom - 1) * n + bottom] * H[bottom * n + bottom - 1]];
}
function bulgeOf(H, n, top, bottom, [a, d, bc]) {
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
function reflect(H, n, k, rows2, x, y, z, top, bottom, Q) {
  const scale = Math.abs(x) + Math.abs(y) + Math.abs(z);
  if (!(scale > 0)) return;
  const [a, b, c] = [x / scale, y / scale, z / scale];
  const length = a < 0 ? -Math.sqrt(a * a + b * b + c * c) : Math.sqrt(a * a + b * b + c * c);
  const [v1, v2] = [b / (a + length), c / (a + length)];
  const beta = (a + length) / length;
  const last = Q === null ? bottom : n - 1;
  const [r0, r1, r2] = [k * n, (k + 1) * n, (k + 2) * n];
  for (let j = Math.max(k - 1, Q === null ? top : 0); j <= last; j++) {
    const sum = beta * (H[r0 + j] + v1 * H[r1 + j] + (rows2 === 3 ? v2 * H[r2 + j] : 0));
    H[r0 + j] -= sum;
    H[r1 + j] -= sum * v1;
    if (rows2 === 3) H[r2 + j] -= sum * v2;
  }
  columns(H, n, k, rows2, v1, v2, beta, Q === null ? top : 0, Math.min(bottom, k + 3));
  if (Q !== null) columns(Q, n, k, rows2, v1, v2, beta, 0, n - 1);
}
function columns(A, n, k, rows2, v1, v2, beta, from, to) {
  for (let i = from; i <= to; i++) {
    const at2 = i * n + k;
    const sum = beta * (A[at2] + v1 * A[at2 + 1] + (rows2 === 3 ? v2 * A[at2 + 2] : 0));
    A[at2] -= sum;
    A[at2 + 1] -= sum * v1;
    if (rows2 === 3) A[at2 + 2] -= sum * v2;
  }
}
function splitBlock(H, n, k, Q) {
  const [a, b, c, d] = [H[k * n + k], H[k * n + k + 1], H[(k + 1) * n + k], H[(k + 1) * n + k + 1]];
  const half = (a - d) / 2;
  const discriminant = half * half + b * c;
  if (c === 0 || discriminant < 0) return;
  const root = half + (half < 0 ? -1 : 1) * Math.sqrt(discriminant);
  const length = Math.hypot(root, c);
  const [cosine, sine] = [root / length, c / length];
  const last = Q === null ? k + 1 : n - 1;
  for (let j = k; j <= last; j++) {
    const [p, q] = [H[k * n + j], H[(k + 1) * n + j]];
    H[k * n + j] = cosine * p + sine * q;
    H[(k + 1) * n + j] = cosine * q - sine * p;
  }
  for (const [M, from, to] of [[H, Q === null ? k : 0, k + 1], [Q, 0, n - 1]]) {
    if (M === null) continue;
    for (let i = from; i <= to; i++) {
      const [p, q] = [M[i * n + k], M[i * n + k + 1]];
      M[i * n + k] = cosine * p + sine * q;
      M[i * n + k + 1] = cosine * q - sine * p;
    }
  }
  H[(k + 1) * n + k] = 0;
}

// src/math/eigen.ts
function eigen(matrix, n, order = "flow") {
  let size = 0;
  for (let k = 0; k < n * n; k++) size = Math.max(size, Math.abs(matrix[k]));
  const unit = size > 0 ? size : 1;
  const A = Float64Array.from(matrix.subarray(0, n * n), (entry) => entry / unit);
  const found = Number.isFinite(size) ? unordered(A, n) : null;
  const ranks = found === null ? [] : ranked(found, order);
  let vectors2 = null;
  return {
    values: found === null ? Array.from({ length: n }, () => ({ re: NaN, im: 0 })) : ranks.map((k) => ({ re: unit * found[k].re, im: unit * found[k].im })),
    get vectors() {
      vectors2 ??= found === null ? undefinedVectors(n) : vectorsOf(A, n, ranks);
      return vectors2;
    }
  };
}
function unordered(A, n) {
  const T = Float64Array.from(A);
  toHessenberg(T, n, null);
  return toSchur(T, n, null) ? diagonalOf(T, n) : null;
}
function diagonalOf(T, n) {
  const values = [];
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
function ranked(values, order) {
  const key = order === "flow" ? (value) => value.re : (value) => Math.hypot(value.re, value.im);
  return values.map((_value, k) => k).sort((i, j) => key(values[j]) - key(values[i]) || i - j);
}
function undefinedVectors(n) {
  return { re: new Float64Array(n * n).fill(NaN), im: new Float64Array(n * n).fill(NaN) };
}
function vectorsOf(A, n, ranks) {
  const T = Float64Array.from(A);
  const Q = new Float64Array(n * n);
  for (let i = 0; i < n; i++) Q[i * n + i] = 1;
  toHessenberg(T, n, Q);
  if (!toSchur(T, n, Q)) return undefinedVectors(n);
  const values = diagonalOf(T, n);
  const vectors2 = { re: new Float64Array(n * n), im: new Float64Array(n * n) };
  let size = 0;
  for (let k = 0; k < n * n; k++) size = Math.max(size, Math.abs(T[k]));
  const smallest = Number.EPSILON * (size === 0 ? 1 : size);
  const y = { re: new Float64Array(n), im: new Float64Array(n) };
  ranks.forEach((k, column) => {
    if (values[k].im < 0) {
      const before = ranks.indexOf(k - 1);
      for (let i = 0; i < n; i++) {
        vectors2.re[i * n + column] = vectors2.re[i * n + before];
        vectors2.im[i * n + column] = -vectors2.im[i * n + before];
      }
      return;
    }
    substitute(T, n, k, values[k], smallest, y);
    turnBack(Q, n, Math.min(n - 1, values[k].im > 0 ? k + 1 : k), y, vectors2, column);
  });
  return vectors2;
}
function substitute(T, n, k, lambda, smallest, y) {
  y.re.fill(0);
  y.im.fill(0);
  let last = k;
  if (lambda.im > 0) {
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
function rest(T, n, i, last, y, from = i + 1) {
  let re = 0;
  let im = 0;
  for (let j = from; j <= last; j++) {
    re += T[i * n + j] * y.re[j];
    im += T[i * n + j] * y.im[j];
  }
  return [re, im];
}
function solvePair(T, n, i, lambda, f, g, smallest, y) {
  const a = { re: T[(i - 1) * n + i - 1] - lambda.re, im: -lambda.im };
  const d = { re: T[i * n + i] - lambda.re, im: -lambda.im };
  const b = { re: T[(i - 1) * n + i], im: 0 };
  const c = { re: T[i * n + i - 1], im: 0 };
  const isSwapped = Math.hypot(a.re, a.im) < Math.abs(c.re);
  const [p, q, r, s, first, second] = isSwapped ? [c, d, a, b, g, f] : [a, b, c, d, f, g];
  const factor = quotient(r, p);
  const pivot = nonzero(minus(s, times(factor, q)), smallest);
  const below = quotient(minus(second, times(factor, first)), pivot);
  set(y, i, below);
  set(y, i - 1, quotient(minus(first, times(q, below)), p));
}
var GREAT = 1e100;
function scaleDown(y, first, last) {
  let largest = 0;
  for (let j = first; j <= last; j++) largest = Math.max(largest, Math.abs(y.re[j]), Math.abs(y.im[j]));
  if (largest < GREAT) return;
  for (let j = first; j <= last; j++) {
    y.re[j] /= largest;
    y.im[j] /= largest;
  }
}
function turnBack(Q, n, last, y, out, column) {
  let square = 0;
  let largest = 0;
  let turn = { re: 1, im: 0 };
  for (let i = 0; i < n; i++) {
    const [re, im] = rest(Q, n, i, last, y, 0);
    out.re[i * n + column] = re;
    out.im[i * n + column] = im;
    const size = re * re + im * im;
    square += size;
    if (size > largest * (1 + 1e-9)) {
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
function times(a, b) {
  return { re: a.re * b.re - a.im * b.im, im: a.re * b.im + a.im * b.re };
}
function minus(a, b) {
  return { re: a.re - b.re, im: a.im - b.im };
}
function quotient(a, b) {
  const scale = Math.max(Math.abs(b.re), Math.abs(b.im));
  const [c, d] = [b.re / scale, b.im / scale];
  const square = (c * c + d * d) * scale;
  return { re: (a.re * c + a.im * d) / square, im: (a.im * c - a.re * d) / square };
}
function nonzero(value, smallest) {
  return Math.abs(value.re) + Math.abs(value.im) > smallest ? value : { re: smallest, im: 0 };
}
function set(y, i, value) {
  y.re[i] = value.re;
  y.im[i] = value.im;
}

// src/math/linear.ts
function solve(A, b, n) {
  let smallest = Infinity;
  for (let k = 0; k < n; k++) {
    let pivot = k;
    for (let i = k + 1; i < n; i++) if (Math.abs(A[i * n + k]) > Math.abs(A[pivot * n + k])) pivot = i;
    const size = Math.abs(A[pivot * n + k]);
    if (!(size >= smallest)) smallest = size;
    if (!(size > 0)) return size;
    if (pivot !== k) swapRows(A, b, pivot, k, n);
    const row = k * n;
    for (let i = k + 1; i < n; i++) {
      const factor = A[i * n + k] / A[row + k];
      if (factor === 0) continue;
      const at2 = i * n;
      for (let j = k + 1; j < n; j++) A[at2 + j] -= factor * A[row + j];
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
function swapRows(A, b, i, k, n) {
  for (let j = 0; j < n; j++) {
    const kept2 = A[i * n + j];
    A[i * n + j] = A[k * n + j];
    A[k * n + j] = kept2;
  }
  const kept = b[i];
  b[i] = b[k];
  b[k] = kept;
}
function solvePositive(S, b, n) {
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
function dot(a, b) {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
  return sum;
}
function norm(a) {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * a[i];
  return Math.sqrt(sum);
}
function distance(a, b) {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] - b[i]) ** 2;
  return Math.sqrt(sum);
}
var MOST_SWEEPS = 60;
function symmetricEigen(matrix, n) {
  const A = Float64Array.from(matrix);
  const V = Array.from({ length: n }, (_row, i) => Float64Array.from({ length: n }, (_entry, j) => i === j ? 1 : 0));
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
function rotate(A, V, n, p, q) {
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

// src/math/newton.ts
var NEWTON_LENGTHS = [1, 0.5, 0.25];
var DAMPED_LENGTHS = [1, 0.5, 0.25, 0.0625, 39e-4];
var MOST_AMPLIFICATION = 100;
var LEAST_DECREASE = 0.01;
var GOOD_DECREASE = 0.1;
var FIRST_DAMPING = 0.01;
var DAMPING_FACTOR = 4;
var DAMPING_BOUNDS = [1e-8, 1e8];
var MOST_WEAK_STEPS = 2;
var ACCEPTED_AT_ONCE = 0.5;
var MOST_POLISHING = 3;
var NO_STEP = { size: Infinity, length: 0 };
var Newton = class {
  constructor(system, tolerance, maxIterations) {
    this.system = system;
    this.tolerance = tolerance;
    this.maxIterations = maxIterations;
    this.n = system.n;
    this.J = new Float64Array(this.n * this.n);
    this.copy = new Float64Array(this.n * this.n);
    [this.r, this.p, this.trial, this.trialDrift, this.best] = Array.from({ length: 5 }, () => new Float64Array(this.n));
  }
  system;
  tolerance;
  maxIterations;
  n;
  J;
  copy;
  r;
  p;
  trial;
  trialDrift;
  best;
  /** Iterates from a start; yields after every iteration. Other starts must wait until it has ended. */
  *from(start, x) {
    const root = { h: Float64Array.from(start), size: this.sizeAt(start, x), converged: false, iterations: 0, firstStep: 0 };
    let isDamped = false;
    let damping = FIRST_DAMPING;
    let weak = 0;
    while (Number.isFinite(root.size) && root.size > this.tolerance && root.iterations < this.maxIterations) {
      const before = root.size;
      const hasStep = isDamped ? this.dampedStep(root.h, x, before, damping) : this.newtonStep(root.h, x, before);
      const lengths = isDamped ? DAMPED_LENGTHS : NEWTON_LENGTHS;
      const { size, length } = hasStep ? this.bestAlong(root.h, x, lengths, before) : NO_STEP;
      const improved = size < (1 - LEAST_DECREASE) * before;
      const isWeak = !(size <= (1 - GOOD_DECREASE) * before);
      if (improved) {
        if (root.iterations === 0) root.firstStep = distance(this.best, root.h);
        root.h.set(this.best);
        root.size = size;
      }
      root.iterations += 1;
      yield;
      if (!isDamped) {
        isDamped = isWeak;
        continue;
      }
      const factor = length === 1 ? 1 / DAMPING_FACTOR : DAMPING_FACTOR;
      if (improved) damping = Math.min(Math.max(damping * factor, DAMPING_BOUNDS[0]), DAMPING_BOUNDS[1]);
      weak = isWeak ? weak + 1 : 0;
      if (!improved || weak >= MOST_WEAK_STEPS) break;
    }
    root.converged = root.size <= this.tolerance;
    if (root.converged && root.iterations > 0) this.polish(root, x);
    return root;
  }
  /** A few more full steps, down to rounding, so that different starts end at the same numbers. */
  polish(root, x) {
    for (let k = 0; k < MOST_POLISHING && root.size > 0; k++) {
      if (!this.newtonStep(root.h, x, root.size)) return;
      const { size } = this.bestAlong(root.h, x, [1], root.size);
      if (!(size < 0.5 * root.size)) return;
      root.h.set(this.best);
      root.size = size;
    }
  }
  sizeAt(h, x) {
    this.system.drift(h, x, this.trialDrift);
    return norm(this.trialDrift);
  }
  linearise(h, x) {
    this.system.drift(h, x, this.r);
    this.system.driftJacobian(h, x, this.J);
  }
  /** p = -J^(-1) r; false where J is singular. */
  newtonStep(h, x, before) {
    const { n, J, copy, r, p } = this;
    this.linearise(h, x);
    copy.set(J);
    for (let i = 0; i < n; i++) p[i] = -r[i];
    const pivot = solve(copy, p, n);
    const size = norm(J) / Math.sqrt(n);
    return pivot >= Math.sqrt(Number.EPSILON) * size && pivot > 0 && norm(p) * size <= MOST_AMPLIFICATION * before;
  }
  /** p = -(J^T J + damping |r|)^(-1) J^T r. */
  dampedStep(h, x, before, damping) {
    const { n, J, copy, r, p } = this;
    this.linearise(h, x);
    copy.fill(0);
    p.fill(0);
    for (let k = 0; k < n; k++) {
      const row = k * n;
      for (let i = 0; i < n; i++) {
        const entry = J[row + i];
        if (entry === 0) continue;
        p[i] -= entry * r[k];
        for (let j = 0; j <= i; j++) copy[i * n + j] += entry * J[row + j];
      }
    }
    const floor = Number.EPSILON * norm(J) ** 2;
    for (let i = 0; i < n; i++) copy[i * n + i] += damping * before + floor;
    return solvePositive(copy, p, n);
  }
  /** Puts the best of h + t p over the step lengths t into `best`. */
  bestAlong(h, x, lengths, before) {
    let found = NO_STEP;
    for (const length of lengths) {
      for (let i = 0; i < this.n; i++) this.trial[i] = h[i] + length * this.p[i];
      const size = this.sizeAt(this.trial, x);
      if (size < found.size) {
        found = { size, length };
        this.best.set(this.trial);
      }
      if (length === 1 && size <= ACCEPTED_AT_ONCE * before) break;
    }
    return found;
  }
};

// src/math/stability.ts
var DEFAULT_MARGIN = 0.01;
function growthRates(values, by, dt) {
  if (by === "flow") return values.map((value) => value.re);
  return values.map((value) => Math.log(Math.hypot(value.re, value.im)) / dt);
}
function classify(rates, margin) {
  if (rates.some(Number.isNaN)) return "undefined";
  const grows = rates.some((rate) => rate > margin);
  const decays = rates.some((rate) => rate < -margin);
  if (grows) return decays ? "saddle" : "unstable";
  return rates.some((rate) => Math.abs(rate) <= margin) ? "marginal" : "stable";
}
function timeConstant(rate) {
  return rate === 0 ? Infinity : -1 / rate + 0;
}

// src/math/following.ts
var SMALLEST_SHARE = 1 / 64;

// src/math/fixed-points.ts
var TOLERANCE = 1e-9;
var MERGE_RADIUS = 1e-6;
var MOST_ITERATIONS = 100;
var SLOW_SPEED = 0.01;
var SHUT = 1e-3;
function fixedPoints(system, x, starts, options = {}) {
  return finished(searching(system, x, starts, options));
}
function* searching(system, x, starts, options = {}) {
  const newton = new Newton(system, options.tolerance ?? TOLERANCE, options.maxIterations ?? MOST_ITERATIONS);
  const found = [];
  for (const start of starts) {
    const root = yield* newton.from(start, x);
    const end = measure(system, x, root.h, options);
    if (end !== null) found.push(end);
    else if (options.keepSlow === true && system.hasGate) {
      const here = measure(system, x, start, options);
      if (here?.status === "closed_gate") found.push(here);
    }
  }
  const points = [];
  const radius = options.mergeRadius ?? MERGE_RADIUS;
  for (const kept of merged(found, radius)) {
    if (options.known?.some((other) => other.status === kept.status && distance(other.h, kept.h) <= radius)) continue;
    const point = described(system, x, kept, options);
    if (!isSpaced(point, options.known ?? [], options) || !isSpaced(point, points, options)) continue;
    points.push(point);
    yield;
  }
  return points.sort(byFirstComponent);
}
function finished(work2) {
  let step = work2.next();
  while (step.done !== true) step = work2.next();
  return step.value;
}
function measure(system, x, h, options) {
  const out = new Float64Array(system.n);
  system.field(h, x, out);
  const speed = norm(out);
  system.drift(h, x, out);
  const drift = norm(out);
  let gate = 1;
  let residual = drift;
  if (system.hasGate) {
    system.gate(h, x, out);
    gate = out.reduce((most, component) => Math.max(most, component), -Infinity);
  } else {
    system.step(h, x, options.dt ?? system.dt, out);
    residual = distance(out, h);
  }
  if (!Number.isFinite(speed) || !Number.isFinite(drift)) return null;
  const isRoot = drift <= (options.tolerance ?? TOLERANCE);
  const isSlow = speed <= (options.slowSpeed ?? SLOW_SPEED);
  const openness = speed * system.tau / Math.max(drift, Number.MIN_VALUE);
  const isShut = system.hasGate && (gate < SHUT || !isRoot && openness < SHUT);
  if (!isRoot && !(options.keepSlow === true && isSlow)) return null;
  const status = isSlow && isShut ? "closed_gate" : isRoot ? "equilibrium" : "slow";
  return { h: Float64Array.from(h), residual, speed, gate, status };
}
function merged(points, radius) {
  const kept = [];
  for (const point of [...points].sort((a, b) => a.residual - b.residual)) {
    if (!kept.some((other) => other.status === point.status && distance(other.h, point.h) <= radius)) kept.push(point);
  }
  return kept;
}
function isSpaced(point, others, options) {
  const spacing = options.spacing ?? 0;
  if (point.kind !== "marginal" || spacing === 0) return true;
  return !others.some((other) => other.kind === "marginal" && distance(other.h, point.h) <= spacing);
}
function described(system, x, measured, options) {
  const { n } = system;
  const by = options.kind ?? "flow";
  const dt = options.dt ?? system.dt;
  const J = new Float64Array(n * n);
  if (by === "flow") system.jacobian(measured.h, x, J);
  else system.mapJacobian(measured.h, x, dt, J);
  const found = eigen(J, n, by);
  const rates = growthRates(found.values, by, dt);
  return {
    ...measured,
    kind: classify(rates, (options.margin ?? DEFAULT_MARGIN) / system.tau),
    eigenvalues: found.values,
    get eigenvectors() {
      return found.vectors;
    },
    timeConstants: rates.map(timeConstant)
  };
}
function byFirstComponent(a, b) {
  for (let i = 0; i < a.h.length; i++) {
    const difference = Math.round(a.h[i] * 1e6) - Math.round(b.h[i] * 1e6);
    if (difference !== 0) return difference;
  }
  return 0;
}

// src/math/memory.ts
var TOLERANCE2 = 0.1;
var HORIZON_IN_BINS = 1e3;
var BINS_AT_A_TIME = 20;
function memoryTime(system, h, x, options = {}) {
  return finished(measuringMemory(system, h, x, options));
}
function* measuringMemory(system, h, x, options = {}) {
  const { tolerance = TOLERANCE2, dt = system.dt } = options;
  const bins = Math.max(1, Math.round((options.horizon ?? HORIZON_IN_BINS * dt) / dt));
  const first = new Float64Array(system.p);
  const y = new Float64Array(system.p);
  const [state, next] = [Float64Array.from(h), new Float64Array(system.n)];
  system.readout(state, first);
  for (let bin = 1; bin <= bins; bin++) {
    system.step(state, x, dt, next);
    state.set(next);
    system.readout(state, y);
    if (!(distance(y, first) <= tolerance)) return bin * dt;
    if (bin % BINS_AT_A_TIME === 0) yield;
  }
  return Infinity;
}

// src/math/special.ts
var TWO_OVER_ROOT_PI = 2 / Math.sqrt(Math.PI);
var ROOT_PI = Math.sqrt(Math.PI);
var TAIL = 2.5;
var FRACTION_TERMS = 60;
function erf(x) {
  const size = Math.abs(x);
  if (size < TAIL) return series(x);
  if (size > 6) return Math.sign(x);
  return Number.isNaN(x) ? NaN : Math.sign(x) * (1 - tail(size));
}
function series(x) {
  const square = x * x;
  let term = x;
  let sum = x;
  for (let k = 1; Math.abs(term) > 1e-17 * Math.abs(sum); k++) {
    term *= 2 * square / (2 * k + 1);
    sum += term;
  }
  return TWO_OVER_ROOT_PI * Math.exp(-square) * sum;
}
function tail(x) {
  let fraction = x;
  for (let k = FRACTION_TERMS; k >= 1; k--) fraction = x + k / 2 / fraction;
  return Math.exp(-x * x) / ROOT_PI / fraction;
}
function roundToEven(x) {
  const below = Math.floor(x);
  const rest2 = x - below;
  if (rest2 !== 0.5) return rest2 < 0.5 ? below : below + 1;
  return below % 2 === 0 ? below : below + 1;
}
function wholePower(x, y) {
  let result = 1;
  let factor = x;
  for (let rest2 = Math.abs(y); rest2 > 0; rest2 = Math.floor(rest2 / 2)) {
    if (rest2 % 2 === 1) result *= factor;
    factor *= factor;
  }
  return y < 0 ? 1 / result : result;
}

// src/math/operations/types.ts
function table(entries, made) {
  return Object.fromEntries(Object.entries(entries).map(([name, entry]) => [name, made(entry)]));
}
function wholes(equation, name) {
  const found = equation[name];
  if (!Array.isArray(found) || !found.every(Number.isInteger)) {
    throw new Error(`The operation '${equation.op}' needs '${name}' as a list of whole numbers.`);
  }
  return found;
}
function whole(equation, name) {
  const found = equation[name];
  if (!Number.isInteger(found)) throw new Error(`The operation '${equation.op}' needs '${name}' as a whole number.`);
  return found;
}
function stridesOf(shape) {
  const strides = new Array(shape.length).fill(1);
  for (let axis = shape.length - 2; axis >= 0; axis--) strides[axis] = strides[axis + 1] * shape[axis + 1];
  return strides;
}
function places(shape, strides, first = 0) {
  let found = Int32Array.of(first);
  shape.forEach((length, axis) => {
    const next = new Int32Array(found.length * length);
    for (let i = 0; i < found.length; i++) for (let j = 0; j < length; j++) next[i * length + j] = found[i] + j * strides[axis];
    found = next;
  });
  return found;
}
function gather(from, indices, to) {
  return () => {
    for (let k = 0; k < indices.length; k++) to[k] = from[indices[k]];
  };
}

// src/math/operations/elementwise.ts
var UNARY = {
  neg: (a, o) => {
    for (let i = 0; i < o.length; i++) o[i] = -a[i];
  },
  exp: (a, o) => {
    for (let i = 0; i < o.length; i++) o[i] = Math.exp(a[i]);
  },
  log: (a, o) => {
    for (let i = 0; i < o.length; i++) o[i] = Math.log(a[i]);
  },
  log1p: (a, o) => {
    for (let i = 0; i < o.length; i++) o[i] = Math.log1p(a[i]);
  },
  expm1: (a, o) => {
    for (let i = 0; i < o.length; i++) o[i] = Math.expm1(a[i]);
  },
  tanh: (a, o) => {
    for (let i = 0; i < o.length; i++) o[i] = Math.tanh(a[i]);
  },
  logistic: (a, o) => {
    for (let i = 0; i < o.length; i++) o[i] = 1 / (1 + Math.exp(-a[i]));
  },
  erf: (a, o) => {
    for (let i = 0; i < o.length; i++) o[i] = erf(a[i]);
  },
  sin: (a, o) => {
    for (let i = 0; i < o.length; i++) o[i] = Math.sin(a[i]);
  },
  cos: (a, o) => {
    for (let i = 0; i < o.length; i++) o[i] = Math.cos(a[i]);
  },
  tan: (a, o) => {
    for (let i = 0; i < o.length; i++) o[i] = Math.tan(a[i]);
  },
  asin: (a, o) => {
    for (let i = 0; i < o.length; i++) o[i] = Math.asin(a[i]);
  },
  acos: (a, o) => {
    for (let i = 0; i < o.length; i++) o[i] = Math.acos(a[i]);
  },
  atan: (a, o) => {
    for (let i = 0; i < o.length; i++) o[i] = Math.atan(a[i]);
  },
  sinh: (a, o) => {
    for (let i = 0; i < o.length; i++) o[i] = Math.sinh(a[i]);
  },
  cosh: (a, o) => {
    for (let i = 0; i < o.length; i++) o[i] = Math.cosh(a[i]);
  },
  asinh: (a, o) => {
    for (let i = 0; i < o.length; i++) o[i] = Math.asinh(a[i]);
  },
  acosh: (a, o) => {
    for (let i = 0; i < o.length; i++) o[i] = Math.acosh(a[i]);
  },
  atanh: (a, o) => {
    for (let i = 0; i < o.length; i++) o[i] = Math.atanh(a[i]);
  },
  abs: (a, o) => {
    for (let i = 0; i < o.length; i++) o[i] = Math.abs(a[i]);
  },
  sign: (a, o) => {
    for (let i = 0; i < o.length; i++) o[i] = Math.sign(a[i]);
  },
  sqrt: (a, o) => {
    for (let i = 0; i < o.length; i++) o[i] = Math.sqrt(a[i]);
  },
  rsqrt: (a, o) => {
    for (let i = 0; i < o.length; i++) o[i] = 1 / Math.sqrt(a[i]);
  },
  cbrt: (a, o) => {
    for (let i = 0; i < o.length; i++) o[i] = Math.cbrt(a[i]);
  },
  square: (a, o) => {
    for (let i = 0; i < o.length; i++) o[i] = a[i] * a[i];
  },
  floor: (a, o) => {
    for (let i = 0; i < o.length; i++) o[i] = Math.floor(a[i]);
  },
  ceil: (a, o) => {
    for (let i = 0; i < o.length; i++) o[i] = Math.ceil(a[i]);
  },
  round: (a, o) => {
    for (let i = 0; i < o.length; i++) o[i] = roundToEven(a[i]);
  },
  trunc: (a, o) => {
    for (let i = 0; i < o.length; i++) o[i] = Math.trunc(a[i]);
  },
  not: (a, o) => {
    for (let i = 0; i < o.length; i++) o[i] = a[i] === 0 ? 1 : 0;
  },
  is_finite: (a, o) => {
    for (let i = 0; i < o.length; i++) o[i] = Number.isFinite(a[i]) ? 1 : 0;
  }
};
var BINARY = {
  add: (a, s, b, t, o) => {
    for (let i = 0, j = 0, k = 0; i < o.length; i++, j += s, k += t) o[i] = a[j] + b[k];
  },
  sub: (a, s, b, t, o) => {
    for (let i = 0, j = 0, k = 0; i < o.length; i++, j += s, k += t) o[i] = a[j] - b[k];
  },
  mul: (a, s, b, t, o) => {
    for (let i = 0, j = 0, k = 0; i < o.length; i++, j += s, k += t) o[i] = a[j] * b[k];
  },
  div: (a, s, b, t, o) => {
    for (let i = 0, j = 0, k = 0; i < o.length; i++, j += s, k += t) o[i] = a[j] / b[k];
  },
  rem: (a, s, b, t, o) => {
    for (let i = 0, j = 0, k = 0; i < o.length; i++, j += s, k += t) o[i] = a[j] % b[k];
  },
  max: (a, s, b, t, o) => {
    for (let i = 0, j = 0, k = 0; i < o.length; i++, j += s, k += t) o[i] = Math.max(a[j], b[k]);
  },
  min: (a, s, b, t, o) => {
    for (let i = 0, j = 0, k = 0; i < o.length; i++, j += s, k += t) o[i] = Math.min(a[j], b[k]);
  },
  pow: (a, s, b, t, o) => {
    for (let i = 0, j = 0, k = 0; i < o.length; i++, j += s, k += t) o[i] = Math.pow(a[j], b[k]);
  },
  atan2: (a, s, b, t, o) => {
    for (let i = 0, j = 0, k = 0; i < o.length; i++, j += s, k += t) o[i] = Math.atan2(a[j], b[k]);
  },
  lt: (a, s, b, t, o) => {
    for (let i = 0, j = 0, k = 0; i < o.length; i++, j += s, k += t) o[i] = a[j] < b[k] ? 1 : 0;
  },
  le: (a, s, b, t, o) => {
    for (let i = 0, j = 0, k = 0; i < o.length; i++, j += s, k += t) o[i] = a[j] <= b[k] ? 1 : 0;
  },
  gt: (a, s, b, t, o) => {
    for (let i = 0, j = 0, k = 0; i < o.length; i++, j += s, k += t) o[i] = a[j] > b[k] ? 1 : 0;
  },
  ge: (a, s, b, t, o) => {
    for (let i = 0, j = 0, k = 0; i < o.length; i++, j += s, k += t) o[i] = a[j] >= b[k] ? 1 : 0;
  },
  eq: (a, s, b, t, o) => {
    for (let i = 0, j = 0, k = 0; i < o.length; i++, j += s, k += t) o[i] = a[j] === b[k] ? 1 : 0;
  },
  ne: (a, s, b, t, o) => {
    for (let i = 0, j = 0, k = 0; i < o.length; i++, j += s, k += t) o[i] = a[j] !== b[k] ? 1 : 0;
  },
  and: (a, s, b, t, o) => {
    for (let i = 0, j = 0, k = 0; i < o.length; i++, j += s, k += t) o[i] = a[j] !== 0 && b[k] !== 0 ? 1 : 0;
  },
  or: (a, s, b, t, o) => {
    for (let i = 0, j = 0, k = 0; i < o.length; i++, j += s, k += t) o[i] = a[j] !== 0 || b[k] !== 0 ? 1 : 0;
  },
  xor: (a, s, b, t, o) => {
    for (let i = 0, j = 0, k = 0; i < o.length; i++, j += s, k += t) o[i] = a[j] !== 0 !== (b[k] !== 0) ? 1 : 0;
  }
};
function strideOf(op, operand, size) {
  if (operand.length === size) return size === 1 ? 0 : 1;
  if (operand.length === 1) return 0;
  throw new Error(`The operation '${op}' has an operand of ${operand.length} numbers for a result of ${size}.`);
}
var unary = (apply) => (equation, [operand], out) => {
  const a = operand.data;
  if (strideOf(equation.op, a, out.length) === 1) return () => apply(a, out);
  const one = out.subarray(0, 1);
  return () => {
    apply(a, one);
    out.fill(one[0]);
  };
};
var binary = (apply) => (equation, [first, second], out) => {
  const a = first.data;
  const b = second.data;
  const s = strideOf(equation.op, a, out.length);
  const t = strideOf(equation.op, b, out.length);
  return () => apply(a, s, b, t, out);
};
var integerPower = (equation, operands, out) => {
  const y = whole(equation, "y");
  const power = (a, o) => {
    for (let i = 0; i < o.length; i++) o[i] = wholePower(a[i], y);
  };
  return unary(y === 2 ? UNARY.square : power)(equation, operands, out);
};
var select = (equation, [which, ...cases], out) => {
  const s = strideOf(equation.op, which.data, out.length);
  const chosen = which.data;
  const data = cases.map((value) => value.data);
  const t = data.map((value) => strideOf(equation.op, value, out.length));
  return () => {
    for (let i = 0; i < out.length; i++) {
      const k = chosen[i * s];
      out[i] = data[k][i * t[k]];
    }
  };
};
var ELEMENTWISE = {
  ...table(UNARY, unary),
  ...table(BINARY, binary),
  integer_pow: integerPower,
  select_n: select
};

// src/math/operations/shapes.ts
var broadcast = (equation, [operand], out) => {
  const axes = wholes(equation, "broadcast_dimensions");
  const own = stridesOf(operand.shape);
  const strides = equation.shape.map(() => 0);
  axes.forEach((axis, k) => {
    strides[axis] = operand.shape[k] === 1 ? 0 : own[k];
  });
  if (out.length > 0 && operand.data.length === 1) return () => out.fill(operand.data[0]);
  return gather(operand.data, places(equation.shape, strides), out);
};
var transpose = (equation, [operand], out) => {
  const own = stridesOf(operand.shape);
  const strides = wholes(equation, "permutation").map((axis) => own[axis]);
  return gather(operand.data, places(equation.shape, strides), out);
};
var slice = (equation, [operand], out) => {
  const own = stridesOf(operand.shape);
  const start = wholes(equation, "start");
  const steps = Array.isArray(equation.strides) ? wholes(equation, "strides") : operand.shape.map(() => 1);
  const first = start.reduce((sum, index, axis) => sum + index * own[axis], 0);
  const isRun = sizeOf(equation.shape) === equation.shape[0] * own[0] && steps.every((step) => step === 1);
  if (isRun) {
    const part = operand.data.subarray(first, first + out.length);
    return () => out.set(part);
  }
  return gather(operand.data, places(equation.shape, own.map((stride, axis) => stride * steps[axis]), first), out);
};
var concatenate = (equation, operands, out) => {
  const axis = whole(equation, "dimension");
  const runs = operands.map(({ shape }) => sizeOf(shape.slice(axis)));
  const wholeRun = sizeOf(equation.shape.slice(axis));
  const before = sizeOf(equation.shape.slice(0, axis));
  const data = operands.map((operand) => operand.data);
  return () => {
    for (let row = 0; row < before; row++) {
      let at2 = row * wholeRun;
      for (let k = 0; k < data.length; k++) {
        const from = data[k];
        for (let i = row * runs[k], end = i + runs[k]; i < end; i++) out[at2++] = from[i];
      }
    }
  };
};
var iota = (equation, _, out) => {
  const axis = whole(equation, "dimension");
  const indices = places(equation.shape, equation.shape.map((_length, k) => k === axis ? 1 : 0));
  return () => out.set(indices);
};
var take = (equation, [operand], out) => {
  const indices = checkedIndices(equation, operand, out.length);
  return gather(operand.data, indices, out);
};
var put = (equation, [operand, updates], out) => {
  const indices = checkedIndices(equation, operand, updates.data.length);
  const adds = equation.add === true;
  return () => {
    out.set(operand.data);
    for (let k = 0; k < indices.length; k++) {
      const place = indices[k];
      out[place] = adds ? out[place] + updates.data[k] : updates.data[k];
    }
  };
};
function checkedIndices(equation, operand, count) {
  const indices = wholes(equation, "indices");
  if (indices.length !== count || indices.some((index) => index < 0 || index >= operand.data.length)) {
    throw new Error(`The operation '${equation.op}' has indices that do not fit its operand.`);
  }
  return Int32Array.from(indices);
}
var SHAPES = {
  broadcast_in_dim: broadcast,
  transpose,
  slice,
  concatenate,
  iota,
  take,
  put
};
function isRenamed(equation, operands) {
  if (equation.op === "reshape") return true;
  if (equation.op === "broadcast_in_dim") return sizeOf(operands[0].shape) === sizeOf(equation.shape);
  return equation.op === "transpose" && keepsOrder(operands[0].shape, wholes(equation, "permutation"));
}
function keepsOrder(shape, permutation) {
  const moved = permutation.filter((axis) => shape[axis] !== 1);
  return moved.every((axis, k) => k === 0 || moved[k - 1] < axis);
}

// src/math/operations/products.ts
var dotGeneral = (equation, [left, right], out) => {
  const [[leftSum, rightSum], [leftBatch, rightBatch]] = equation.dimension_numbers;
  const a = arranged(left, leftBatch, leftSum);
  const b = arranged(right, rightBatch, rightSum);
  const batches = sizeOf(leftBatch.map((axis) => left.shape[axis]));
  const length = sizeOf(leftSum.map((axis) => left.shape[axis]));
  const rows2 = free(left, leftBatch, leftSum);
  const columns2 = free(right, rightBatch, rightSum);
  if (batches * rows2 * columns2 !== out.length) throw new Error("The operation 'dot_general' has operands that do not fit its result.");
  const [A, B] = [a.data, b.data];
  return () => {
    a.arrange();
    b.arrange();
    for (let batch = 0; batch < batches; batch++) {
      multiply(A, batch * rows2 * length, B, batch * columns2 * length, out, batch * rows2 * columns2, rows2, columns2, length);
    }
  };
};
function free(value, batch, summed) {
  return sizeOf(value.shape.filter((_length, axis) => !batch.includes(axis) && !summed.includes(axis)));
}
var nothing = () => {
};
function arranged(value, batch, summed) {
  const free2 = value.shape.map((_length, axis) => axis).filter((axis) => !batch.includes(axis) && !summed.includes(axis));
  const permutation = [...batch, ...free2, ...summed];
  if (keepsOrder(value.shape, permutation)) return { data: value.data, arrange: nothing };
  const own = stridesOf(value.shape);
  const data = new Float64Array(value.data.length);
  const indices = places(permutation.map((axis) => value.shape[axis]), permutation.map((axis) => own[axis]));
  const arrange = gather(value.data, indices, data);
  if (!value.isConstant) return { data, arrange };
  arrange();
  return { data, arrange: nothing };
}
function multiply(A, a, B, b, C, c, rows2, columns2, length) {
  if (rows2 === 1) matrixTimesVector(B, b, A, a, C, c, columns2, length);
  else if (columns2 === 1) matrixTimesVector(A, a, B, b, C, c, rows2, length);
  else matrixTimesMatrix(A, a, B, b, C, c, rows2, columns2, length);
}
function matrixTimesVector(M, m, V, v, C, c, rows2, length) {
  let i = 0;
  for (; i + 4 <= rows2; i += 4) {
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
  for (; i < rows2; i++) {
    const r = m + i * length;
    let s = 0;
    for (let k = 0; k < length; k++) s += M[r + k] * V[v + k];
    C[c + i] = s;
  }
}
function matrixTimesMatrix(A, a, B, b, C, c, rows2, columns2, length) {
  const evenRows = rows2 - rows2 % 2;
  let j = 0;
  for (; j + 4 <= columns2; j += 4) {
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
      const at2 = c + i * columns2 + j;
      C[at2] = s0;
      C[at2 + 1] = s1;
      C[at2 + 2] = s2;
      C[at2 + 3] = s3;
      C[at2 + columns2] = t0;
      C[at2 + columns2 + 1] = t1;
      C[at2 + columns2 + 2] = t2;
      C[at2 + columns2 + 3] = t3;
    }
  }
  for (let i = 0; i < rows2; i++) {
    for (let column = i < evenRows ? j : 0; column < columns2; column++) {
      C[c + i * columns2 + column] = dot2(A, a + i * length, B, b + column * length, length);
    }
  }
}
function dot2(A, a, B, b, length) {
  let sum = 0;
  for (let k = 0; k < length; k++) sum += A[a + k] * B[b + k];
  return sum;
}
var PRODUCTS = { dot_general: dotGeneral };

// src/math/operations/reductions.ts
var FOLDS = {
  reduce_sum: (a, first, at2) => {
    let sum = 0;
    for (let k = 0; k < at2.length; k++) sum += a[first + at2[k]];
    return sum;
  },
  reduce_prod: (a, first, at2) => {
    let product = 1;
    for (let k = 0; k < at2.length; k++) product *= a[first + at2[k]];
    return product;
  },
  reduce_max: (a, first, at2) => {
    let most = -Infinity;
    for (let k = 0; k < at2.length; k++) most = Math.max(most, a[first + at2[k]]);
    return most;
  },
  reduce_min: (a, first, at2) => {
    let least = Infinity;
    for (let k = 0; k < at2.length; k++) least = Math.min(least, a[first + at2[k]]);
    return least;
  },
  reduce_and: (a, first, at2) => {
    for (let k = 0; k < at2.length; k++) if (a[first + at2[k]] === 0) return 0;
    return 1;
  },
  reduce_or: (a, first, at2) => {
    for (let k = 0; k < at2.length; k++) if (a[first + at2[k]] !== 0) return 1;
    return 0;
  }
};
var reduction = (fold) => (equation, [operand], out) => {
  const axes = wholes(equation, "axes");
  const strides = stridesOf(operand.shape);
  const kept = operand.shape.map((_length, axis) => axis).filter((axis) => !axes.includes(axis));
  const of = (chosen) => places(chosen.map((axis) => operand.shape[axis]), chosen.map((axis) => strides[axis]));
  const firsts = of(kept);
  const offsets = of(axes);
  const a = operand.data;
  return () => {
    for (let i = 0; i < firsts.length; i++) out[i] = fold(a, firsts[i], offsets);
  };
};
var ACCUMULATIONS = {
  cumsum: (sum, next) => sum + next,
  cumprod: (product, next) => product * next,
  cummax: (most, next) => Math.max(most, next),
  cummin: (least, next) => Math.min(least, next)
};
var accumulation = (combine) => (equation, [operand], out) => {
  const axis = whole(equation, "axis");
  const length = operand.shape[axis];
  const stride = stridesOf(operand.shape)[axis];
  const rows2 = sizeOf(operand.shape.slice(0, axis));
  const a = operand.data;
  const [begin, step] = equation.reverse === true ? [length - 1, -1] : [0, 1];
  return () => {
    for (let row = 0; row < rows2; row++) {
      for (let column = 0; column < stride; column++) {
        const first = row * length * stride + column;
        let sum = a[first + begin * stride];
        out[first + begin * stride] = sum;
        for (let k = 1; k < length; k++) {
          const place = first + (begin + k * step) * stride;
          sum = combine(sum, a[place]);
          out[place] = sum;
        }
      }
    }
  };
};
var REDUCTIONS = { ...table(FOLDS, reduction), ...table(ACCUMULATIONS, accumulation) };

// src/math/operations/index.ts
var MAKERS = { ...ELEMENTWISE, ...PRODUCTS, ...REDUCTIONS, ...SHAPES };
var OPERATIONS = [...Object.keys(MAKERS), "reshape"].sort();
function makerOf(op) {
  if (!Object.hasOwn(MAKERS, op)) throw new Error(`The operation '${op}' is not known to this page.`);
  return MAKERS[op];
}
function isElementwise(op) {
  return Object.hasOwn(ELEMENTWISE, op);
}

// src/math/derivatives.ts
var STEP = Math.cbrt(Number.EPSILON);
function differences(apply, h, rows2, out) {
  const n = h.length;
  const moved = Float64Array.from(h);
  const above = new Float64Array(rows2);
  const below = new Float64Array(rows2);
  for (let j = 0; j < n; j++) {
    const step = STEP * Math.max(1, Math.abs(h[j]));
    moved[j] = h[j] + step;
    const high = moved[j];
    apply(moved, above);
    moved[j] = h[j] - step;
    const low = moved[j];
    apply(moved, below);
    moved[j] = h[j];
    for (let i = 0; i < rows2; i++) out[i * n + j] = (above[i] - below[i]) / (high - low);
  }
}
function mapJacobianByDifferences(system, h, x, dt, out) {
  differences((state, next) => system.step(state, x, dt, next), h, system.n, out);
}

// src/math/planes.ts
function planeOfStates(n, i, j, states) {
  const origin = meanOf(states, n);
  const u = new Float64Array(n);
  const v = new Float64Array(n);
  u[i] = 1;
  if (i !== j) v[j] = 1;
  origin[i] = 0;
  origin[j] = 0;
  return limited({ name: `states ${i + 1} and ${j + 1}`, origin, u, v, limits: [-1, 1, -1, 1] }, states);
}
function planeOfOutputs(system, i, j, states) {
  const { n, p } = system;
  if (i === j || Math.max(i, j) >= p) throw new Error("A plane of outputs needs two different outputs.");
  const centre = meanOf(states, n);
  const C = readoutJacobian(system, centre);
  for (const shift of [1, -0.5]) {
    const other = readoutJacobian(system, centre.map((value) => value + shift));
    const size = Math.max(...C.map(Math.abs), 1e-3);
    if (!other.every((entry, k) => Math.abs(entry - C[k]) <= 1e-6 * size)) {
      throw new Error("The readout is not affine, so that its outputs span no plane.");
    }
  }
  const [first, second] = [C.subarray(i * n, (i + 1) * n), C.subarray(j * n, (j + 1) * n)];
  const [aa, ab, bb] = [dot(first, first), dot(first, second), dot(second, second)];
  const determinant = aa * bb - ab * ab;
  if (!(determinant > 1e-12 * aa * bb)) throw new Error("The two outputs are multiples of each other, so that they span no plane.");
  const u = first.map((value, k) => (bb * value - ab * second[k]) / determinant);
  const v = second.map((value, k) => (aa * value - ab * first[k]) / determinant);
  const y = new Float64Array(p);
  system.readout(centre, y);
  const origin = centre.map((value, k) => value - y[i] * u[k] - y[j] * v[k]);
  return limited({ name: `outputs ${i + 1} and ${j + 1}`, origin, u, v, limits: [-1, 1, -1, 1] }, states);
}
function planeOfComponents(n, i, j, states) {
  const { mean, components, explained } = principalComponents(n, states);
  const share = (k) => `${k + 1} (${Math.round(100 * explained[k])} %)`;
  const plane = {
    name: `components ${share(i)} and ${share(j)}`,
    origin: Float64Array.from(mean),
    u: components[i],
    v: i === j ? new Float64Array(n) : components[j],
    limits: [-1, 1, -1, 1]
  };
  return limited(plane, states);
}
function planeThrough(a, b, c, states) {
  const along = b.map((value, k) => value - a[k]);
  const across = c.map((value, k) => value - a[k]);
  const length = norm(along);
  const u = along.map((value) => value / length);
  const share = dot(across, u);
  const v = across.map((value, k) => value - share * u[k]);
  const height = norm(v);
  if (!(length > 0) || !(height > 1e-12 * Math.max(length, norm(across)))) {
    throw new Error("The three states lie on one line, but a plane needs three that do not.");
  }
  const plane = { name: "through three points", origin: Float64Array.from(a), u, v: v.map((value) => value / height), limits: [-1, 1, -1, 1] };
  const n = a.length;
  const corners = new Float64Array(3 * n);
  [a, b, c].forEach((corner, k) => corners.set(corner, k * n));
  const all = new Float64Array(states.length + corners.length);
  all.set(states);
  all.set(corners, states.length);
  return limited(plane, all);
}
function project(plane, h) {
  const { u, v, origin } = plane;
  let [along, across, uu, uv, vv] = [0, 0, 0, 0, 0];
  for (let k = 0; k < h.length; k++) {
    const d = h[k] - origin[k];
    along += u[k] * d;
    across += v[k] * d;
    uu += u[k] * u[k];
    uv += u[k] * v[k];
    vv += v[k] * v[k];
  }
  return coordinates(along, across, uu, uv, vv);
}
function coordinates(along, across, uu, uv, vv) {
  const determinant = uu * vv - uv * uv;
  if (determinant > 0) return [(vv * along - uv * across) / determinant, (uu * across - uv * along) / determinant];
  return [uu > 0 ? along / uu : 0, 0];
}
var known = /* @__PURE__ */ new WeakMap();
function principalComponents(n, states) {
  const found = known.get(states) ?? computedComponents(n, states);
  known.set(states, found);
  return found;
}
function computedComponents(n, states) {
  const mean = meanOf(states, n);
  const covariance = new Float64Array(n * n);
  const d = new Float64Array(n);
  for (let k = 0; k + n <= states.length; k += n) {
    for (let i = 0; i < n; i++) d[i] = states[k + i] - mean[i];
    for (let i = 0; i < n; i++) for (let j = 0; j <= i; j++) covariance[i * n + j] += d[i] * d[j];
  }
  for (let i = 0; i < n; i++) for (let j = 0; j < i; j++) covariance[j * n + i] = covariance[i * n + j];
  const { values, vectors: vectors2 } = symmetricEigen(covariance, n);
  const total = values.reduce((sum, value) => sum + Math.max(0, value), 0);
  for (const vector of vectors2) {
    const largest = vector.reduce((best, value) => Math.abs(value) > Math.abs(best) + 1e-12 ? value : best, 0);
    if (largest < 0) for (let i = 0; i < n; i++) vector[i] = -vector[i];
  }
  return { mean, components: vectors2, explained: Array.from(values, (value) => total > 0 ? Math.max(0, value) / total : 0) };
}
function meanOf(states, n) {
  const mean = new Float64Array(n);
  const count = Math.floor(states.length / n);
  for (let k = 0; k < count * n; k++) mean[k % n] += states[k] / count;
  return mean;
}
function readoutJacobian(system, h) {
  const C = new Float64Array(system.p * system.n);
  differences((state, y) => system.readout(state, y), h, system.p, C);
  return C;
}
function limited(plane, states) {
  const n = plane.origin.length;
  let [left, right, bottom, top] = [Infinity, -Infinity, Infinity, -Infinity];
  for (let k = 0; k + n <= states.length; k += n) {
    const [a2, b2] = project(plane, states.subarray(k, k + n));
    if (!Number.isFinite(a2) || !Number.isFinite(b2)) continue;
    [left, right, bottom, top] = [Math.min(left, a2), Math.max(right, a2), Math.min(bottom, b2), Math.max(top, b2)];
  }
  if (left > right) [left, right, bottom, top] = [0, 0, 0, 0];
  const widths = [right - left, top - bottom];
  const widest = Math.max(...widths);
  const largest = Math.max(...[left, right, bottom, top].map(Math.abs));
  const isPoint = widest <= 1e-6 * Math.max(1, largest);
  const [a, b] = widths.map((width) => isPoint ? Math.max(1, largest) : 0.25 * (width > 1e-3 * widest ? width : widest));
  return { ...plane, limits: [left - a, right + a, bottom - b, top + b] };
}

// src/math/program.ts
function compile(program, arrays) {
  const values = [];
  for (const shape of program.inputs) values.push({ shape, data: new Float64Array(sizeOf(shape)), isConstant: false });
  for (const name of program.constants) {
    const array = arrays.get(name);
    if (array === void 0) throw new Error(`The weights have no array '${name}'.`);
    values.push({ ...array, isConstant: true });
  }
  for (const literal of program.literals) values.push({ shape: [], data: Float64Array.of(Number(literal)), isConstant: true });
  const steps = computed(program, values);
  const outputs = program.outputs.map((place) => at(values, place));
  return {
    inputs: values.slice(0, program.inputs.length).map((value) => value.data),
    outputs: outputs.map((value) => value.data),
    outputShapes: outputs.map((value) => value.shape),
    run: () => {
      for (let k = 0; k < steps.length; k++) steps[k]();
    }
  };
}
function computed(program, values) {
  const given = values.length;
  const lastUse = lastUses(program, values);
  const memory = new Memory();
  const steps = [];
  program.equations.forEach((equation, k) => {
    if (equation.out !== given + k) throw new Error("A program's equations must be numbered in their order.");
    const operands = equation.in.map((place) => at(values, place));
    if (isRenamed(equation, operands)) {
      if (sizeOf(equation.shape) !== operands[0].data.length) throw new Error(`The operation '${equation.op}' changes the number of elements.`);
      values.push({ shape: equation.shape, data: operands[0].data, isConstant: operands[0].isConstant });
      return;
    }
    const isConstant = operands.every((operand) => operand.isConstant);
    const over = operands.filter((operand, i) => !operand.isConstant && lastUse[equation.in[i]] === k && equation.in[i] >= given);
    if (isElementwise(equation.op)) memory.release(over);
    const size = sizeOf(equation.shape);
    const out = isConstant ? new Float64Array(size) : memory.allocate(size);
    if (!isElementwise(equation.op)) memory.release(over);
    const step = makerOf(equation.op)(equation, operands, out);
    values.push({ shape: equation.shape, data: out, isConstant });
    if (isConstant) step();
    else steps.push(step);
  });
  return steps;
}
function lastUses(program, values) {
  const given = values.length;
  const shapes = [...values];
  const owner = values.map((_value, place) => place);
  const last = values.map(() => Infinity);
  program.equations.forEach((equation, k) => {
    const renames = isRenamed(equation, equation.in.map((place) => at(shapes, place)));
    owner.push(renames ? owner[equation.in[0]] : given + k);
    shapes.push({ shape: equation.shape });
    last.push(k);
    for (const place of equation.in) last[owner[place]] = Math.max(last[owner[place]], k);
  });
  for (const place of program.outputs) if (place < owner.length) last[owner[place]] = Infinity;
  return owner.map((place) => last[place]);
}
function at(values, place) {
  if (!(place >= 0 && place < values.length)) throw new Error(`A program uses the value ${place} before it is computed.`);
  return values[place];
}
var Memory = class {
  free = /* @__PURE__ */ new Map();
  allocate(size) {
    return this.free.get(size)?.pop() ?? new Float64Array(size);
  }
  release(values) {
    for (const data of new Set(values.map((value) => value.data))) {
      const list = this.free.get(data.length) ?? [];
      list.push(data);
      this.free.set(data.length, list);
    }
  }
};

// src/math/steps.ts
var work = /* @__PURE__ */ new Map();
function vectors(n) {
  let found = work.get(n);
  if (found === void 0) {
    found = [0, 1, 2, 3, 4].map(() => new Float64Array(n));
    work.set(n, found);
  }
  return found;
}
function euler(system, h, x, dt, out) {
  const [k] = vectors(system.n);
  system.field(h, x, k);
  for (let i = 0; i < system.n; i++) out[i] = h[i] + dt * k[i];
}
function rk4(system, h, x, dt, out) {
  const { n } = system;
  const [k1, k2, k3, k4, between] = vectors(n);
  system.field(h, x, k1);
  for (let i = 0; i < n; i++) between[i] = h[i] + dt / 2 * k1[i];
  system.field(between, x, k2);
  for (let i = 0; i < n; i++) between[i] = h[i] + dt / 2 * k2[i];
  system.field(between, x, k3);
  for (let i = 0; i < n; i++) between[i] = h[i] + dt * k3[i];
  system.field(between, x, k4);
  for (let i = 0; i < n; i++) out[i] = h[i] + dt / 6 * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]);
}

// src/math/system.ts
var LEAST_SHARE_OF_BATCH = 0.5;
function systemOf(network) {
  return new ProgramSystem(new Programs(network), {});
}
var Programs = class {
  constructor(network) {
    this.network = network;
  }
  network;
  weights = null;
  compiled = /* @__PURE__ */ new Map();
  has(name) {
    return this.network.programs[name] !== void 0;
  }
  get(name) {
    let found = this.compiled.get(name);
    if (found === void 0) {
      const program = this.network.programs[name];
      if (program === void 0) throw new Error(`The network has no program '${name}'.`);
      this.weights ??= unpackWeights(this.network.weights);
      found = compile(program, this.weights);
      this.compiled.set(name, found);
    }
    return found;
  }
  /** Runs a program on a state, an input and at most one number more. */
  run(name, out, ...inputs) {
    const program = this.get(name);
    for (let k = 0; k < inputs.length; k++) {
      const input = inputs[k];
      if (typeof input === "number") program.inputs[k][0] = input;
      else program.inputs[k].set(input);
    }
    program.run();
    out.set(program.outputs[0]);
  }
};
var ProgramSystem = class _ProgramSystem {
  constructor(programs, options) {
    this.programs = programs;
    this.options = options;
    const { network } = programs;
    this.name = network.name;
    this.n = network.state_size;
    this.m = network.inputs;
    this.p = network.outputs;
    this.dt = network.dt;
    this.hasGate = programs.has("gate") && programs.has("field_open_gate");
    this.isOpen = this.hasGate && options.openGate === true;
    this.hasStep = programs.has(this.stepName);
    this.scale = options.timeScale ?? 1;
    const taus = typeof network.tau === "number" ? [network.tau] : network.tau;
    const mean = taus.reduce((sum, tau) => sum + tau, 0) / taus.length;
    this.tau = mean * this.scale;
    this.taus = new Float64Array(this.n).fill(mean);
    if (this.hasGate && taus.length === this.n) this.taus.set(taus);
    this.velocity = new Float64Array(this.n);
  }
  programs;
  options;
  name;
  n;
  m;
  p;
  tau;
  dt;
  hasGate;
  hasStep;
  scale;
  isOpen;
  taus;
  velocity;
  field(h, x, out) {
    this.programs.run(this.isOpen ? "field_open_gate" : "field", out, h, x);
    this.slow(out, this.n);
  }
  fieldMany(hs, count, x, out) {
    const { n } = this;
    const batch = this.programs.get(this.isOpen && this.programs.has("field_open_gate_batch") ? "field_open_gate_batch" : "field_batch");
    const block = batch.inputs[0].length / n;
    const isUsable = !this.isOpen || this.programs.has("field_open_gate_batch");
    let done = 0;
    if (isUsable) {
      batch.inputs[1].set(x);
      while (count - done >= LEAST_SHARE_OF_BATCH * block) {
        const size = Math.min(block, count - done) * n;
        batch.inputs[0].set(hs.subarray(done * n, done * n + size));
        batch.run();
        out.set(size === batch.outputs[0].length ? batch.outputs[0] : batch.outputs[0].subarray(0, size), done * n);
        done += size / n;
      }
      this.slow(out, done * n);
    }
    for (; done < count; done++) this.field(hs.subarray(done * n, (done + 1) * n), x, out.subarray(done * n, (done + 1) * n));
  }
  jacobian(h, x, out) {
    this.programs.run(this.isOpen ? "jacobian_open_gate" : "jacobian", out, h, x);
    this.slow(out, out.length);
  }
  step(h, x, dt, out) {
    if (this.hasStep) {
      this.programs.run(this.stepName, out, h, x, dt / this.scale);
      return;
    }
    this.field(h, x, this.velocity);
    for (let i = 0; i < this.n; i++) out[i] = h[i] + dt * this.velocity[i];
  }
  mapJacobian(h, x, dt, out) {
    const { n } = this;
    const { method, substeps = 1 } = this.programs.network;
    if (this.hasStep && !this.isOpen && this.programs.has("jacobian_step")) {
      this.programs.run("jacobian_step", out, h, x, dt / this.scale);
    } else if (!this.hasStep || method === "euler" && substeps === 1) {
      this.jacobian(h, x, out);
      for (let k = 0; k < n * n; k++) out[k] *= dt;
      for (let i = 0; i < n; i++) out[i * n + i] += 1;
    } else {
      mapJacobianByDifferences(this, h, x, dt, out);
    }
  }
  readout(h, out) {
    if (this.programs.has("readout")) this.programs.run("readout", out, h);
    else out.set(h.subarray(0, this.p));
  }
  gate(h, x, out) {
    if (this.hasGate && !this.isOpen) this.programs.run("gate", out, h, x);
    else out.fill(1);
  }
  drift(h, x, out) {
    this.programs.run(this.hasGate ? "field_open_gate" : "field", out, h, x);
    for (let i = 0; i < this.n; i++) out[i] *= this.taus[i];
  }
  driftJacobian(h, x, out) {
    const { n } = this;
    this.programs.run(this.hasGate ? "jacobian_open_gate" : "jacobian", out, h, x);
    for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) out[i * n + j] *= this.taus[i];
  }
  initial(x, out) {
    if (this.programs.has("initial")) this.programs.run("initial", out, x);
    else out.fill(0);
  }
  withOptions(options) {
    return new _ProgramSystem(this.programs, { ...this.options, ...options });
  }
  get stepName() {
    return this.isOpen ? "step_open_gate" : "step";
  }
  /** Divides the first `count` rates by the time scale. */
  slow(rates, count) {
    if (this.scale === 1) return;
    for (let k = 0; k < count; k++) rates[k] /= this.scale;
  }
};

// tests/evaluate.ts
var rows = (task, size, apply) => task.states.map((h, k) => {
  const out = new Float64Array(size);
  apply(h, task.inputAt(k), out);
  return Array.from(out);
});
var matrices = (task, apply) => {
  const { n } = task.system;
  return rows(task, n * n, apply).map((flat) => Array.from({ length: n }, (_row, i) => flat.slice(i * n, (i + 1) * n)));
};
function flattened(states, n) {
  const flat = new Float64Array(states.length * n);
  states.forEach((state, k) => flat.set(state, k * n));
  return flat;
}
var ANSWERS = {
  field: (task) => rows(task, task.system.n, (h, x, out) => task.system.field(h, x, out)),
  fieldMany: (task) => {
    const { system, states } = task;
    const out = new Float64Array(states.length * system.n);
    system.fieldMany(flattened(states, system.n), states.length, task.inputAt(0), out);
    return states.map((_state, k) => Array.from(out.subarray(k * system.n, (k + 1) * system.n)));
  },
  jacobian: (task) => matrices(task, (h, x, out) => task.system.jacobian(h, x, out)),
  step: (task) => rows(task, task.system.n, (h, x, out) => task.system.step(h, x, task.dt, out)),
  mapJacobian: (task) => matrices(task, (h, x, out) => task.system.mapJacobian(h, x, task.dt, out)),
  euler: (task) => rows(task, task.system.n, (h, x, out) => euler(task.system, h, x, task.dt, out)),
  rk4: (task) => rows(task, task.system.n, (h, x, out) => rk4(task.system, h, x, task.dt, out)),
  readout: (task) => rows(task, task.system.p, (h, _x, out) => task.system.readout(h, out)),
  gate: (task) => rows(task, task.system.n, (h, x, out) => task.system.gate(h, x, out)),
  drift: (task) => rows(task, task.system.n, (h, x, out) => task.system.drift(h, x, out)),
  initial: (task) => {
    const out = new Float64Array(task.system.n);
    task.system.initial(task.inputAt(0), out);
    return Array.from(out);
  },
  eigen: (task) => {
    const { n } = task.system;
    return rows(task, n * n, (h, x, out) => task.system.jacobian(h, x, out)).map((flat) => ({
      values: eigen(Float64Array.from(flat), n).values.map(({ re, im }) => [re, im])
    }));
  },
  fixedPoints: ({ system, states, inputAt, request }) => fixedPoints(system, inputAt(0), states, request.search).map((point) => ({
    h: Array.from(point.h),
    kind: point.kind,
    status: point.status,
    residual: point.residual,
    speed: point.speed,
    gate: point.gate,
    eigenvalues: point.eigenvalues.map(({ re, im }) => [re, im]),
    timeConstants: point.timeConstants
  })),
  memoryTime: ({ system, states, inputAt, dt, request: { tolerance, horizon } }) => states.map((h, k) => memoryTime(system, h, inputAt(k), { dt, tolerance, horizon })),
  plane: ({ system, states, request }) => {
    const { by = "states", first = 0, second = 1 } = request.plane ?? {};
    const flat = flattened(states, system.n);
    const plane = by === "outputs" ? planeOfOutputs(system, first, second, flat) : by === "components" ? planeOfComponents(system.n, first, second, flat) : by === "points" ? planeThrough(states[0], states[1], states[2], flat) : planeOfStates(system.n, first, second, flat);
    return {
      name: plane.name,
      origin: Array.from(plane.origin),
      u: Array.from(plane.u),
      v: Array.from(plane.v),
      limits: plane.limits,
      coordinates: states.map((h) => project(plane, h))
    };
  }
};
function answer(document, request, systems) {
  if (request.what === "operations") return OPERATIONS;
  const index = request.network ?? 0;
  const network = document?.networks[index];
  if (request.what === "program") return runProgram(request, network);
  if (network === void 0) throw new Error(`The document has no network ${index}.`);
  if (!Object.hasOwn(ANSWERS, request.what)) throw new Error(`'${request.what}' is not known.`);
  const base = systems.get(index) ?? systemOf(network);
  systems.set(index, base);
  const system = request.options === void 0 ? base : base.withOptions(request.options);
  const given = request.x ?? new Array(system.m).fill(0);
  const inputs = Array.isArray(given[0]) ? given : [given];
  const task = {
    request,
    system,
    states: (request.states ?? []).map((state) => Float64Array.from(state)),
    inputAt: (k) => Float64Array.from(inputs[inputs.length === 1 ? 0 : k]),
    dt: request.dt ?? system.dt
  };
  return ANSWERS[request.what](task);
}
function runProgram(request, network) {
  const isNamed = typeof request.program === "string";
  const program = isNamed ? network?.programs[request.program] : request.program;
  if (program === void 0) throw new Error(`There is no program '${String(request.program)}'.`);
  const arrays = isNamed && network !== void 0 ? unpackWeights(network.weights) : /* @__PURE__ */ new Map();
  for (const [name, packed] of Object.entries(request.arrays ?? {})) arrays.set(name, unpack(packed));
  const compiled = compile(program, arrays);
  (request.inputs ?? []).forEach((values, k) => compiled.inputs[k].set(values));
  compiled.run();
  return compiled.outputs.map((values) => Array.from(values));
}
var finite = (_key, value) => typeof value === "number" && !Number.isFinite(value) ? String(value) : value;
function main([documentPath, requestsPath, resultsPath]) {
  const document = JSON.parse(readFileSync(documentPath, "utf8"));
  const requests = JSON.parse(readFileSync(requestsPath, "utf8"));
  const systems = /* @__PURE__ */ new Map();
  const results = requests.map((request) => {
    try {
      return { values: answer(document, request, systems) };
    } catch (problem) {
      return { error: problem instanceof Error ? problem.message : String(problem) };
    }
  });
  writeFileSync(resultsPath, JSON.stringify(results, finite));
}
main(process.argv.slice(2));
