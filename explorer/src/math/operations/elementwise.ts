/** Operations on each number by itself. Every one has its own loop, so that the engine compiles it without calls. */
import { erf, roundToEven, wholePower } from "../special";
import { table, whole, type Maker } from "./types";

type Unary = (a: Float64Array, out: Float64Array) => void;
/** `s` and `t` are 1, or 0 where the operand is one number for all. */
type Binary = (a: Float64Array, s: number, b: Float64Array, t: number, out: Float64Array) => void;

const UNARY: Record<string, Unary> = {
  neg: (a, o) => { for (let i = 0; i < o.length; i++) o[i] = -a[i]; },
  exp: (a, o) => { for (let i = 0; i < o.length; i++) o[i] = Math.exp(a[i]); },
  log: (a, o) => { for (let i = 0; i < o.length; i++) o[i] = Math.log(a[i]); },
  log1p: (a, o) => { for (let i = 0; i < o.length; i++) o[i] = Math.log1p(a[i]); },
  expm1: (a, o) => { for (let i = 0; i < o.length; i++) o[i] = Math.expm1(a[i]); },
  tanh: (a, o) => { for (let i = 0; i < o.length; i++) o[i] = Math.tanh(a[i]); },
  logistic: (a, o) => { for (let i = 0; i < o.length; i++) o[i] = 1 / (1 + Math.exp(-a[i])); },
  erf: (a, o) => { for (let i = 0; i < o.length; i++) o[i] = erf(a[i]); },
  sin: (a, o) => { for (let i = 0; i < o.length; i++) o[i] = Math.sin(a[i]); },
  cos: (a, o) => { for (let i = 0; i < o.length; i++) o[i] = Math.cos(a[i]); },
  tan: (a, o) => { for (let i = 0; i < o.length; i++) o[i] = Math.tan(a[i]); },
  asin: (a, o) => { for (let i = 0; i < o.length; i++) o[i] = Math.asin(a[i]); },
  acos: (a, o) => { for (let i = 0; i < o.length; i++) o[i] = Math.acos(a[i]); },
  atan: (a, o) => { for (let i = 0; i < o.length; i++) o[i] = Math.atan(a[i]); },
  sinh: (a, o) => { for (let i = 0; i < o.length; i++) o[i] = Math.sinh(a[i]); },
  cosh: (a, o) => { for (let i = 0; i < o.length; i++) o[i] = Math.cosh(a[i]); },
  asinh: (a, o) => { for (let i = 0; i < o.length; i++) o[i] = Math.asinh(a[i]); },
  acosh: (a, o) => { for (let i = 0; i < o.length; i++) o[i] = Math.acosh(a[i]); },
  atanh: (a, o) => { for (let i = 0; i < o.length; i++) o[i] = Math.atanh(a[i]); },
  abs: (a, o) => { for (let i = 0; i < o.length; i++) o[i] = Math.abs(a[i]); },
  sign: (a, o) => { for (let i = 0; i < o.length; i++) o[i] = Math.sign(a[i]); },
  sqrt: (a, o) => { for (let i = 0; i < o.length; i++) o[i] = Math.sqrt(a[i]); },
  rsqrt: (a, o) => { for (let i = 0; i < o.length; i++) o[i] = 1 / Math.sqrt(a[i]); },
  cbrt: (a, o) => { for (let i = 0; i < o.length; i++) o[i] = Math.cbrt(a[i]); },
  square: (a, o) => { for (let i = 0; i < o.length; i++) o[i] = a[i] * a[i]; },
  floor: (a, o) => { for (let i = 0; i < o.length; i++) o[i] = Math.floor(a[i]); },
  ceil: (a, o) => { for (let i = 0; i < o.length; i++) o[i] = Math.ceil(a[i]); },
  round: (a, o) => { for (let i = 0; i < o.length; i++) o[i] = roundToEven(a[i]); },
  trunc: (a, o) => { for (let i = 0; i < o.length; i++) o[i] = Math.trunc(a[i]); },
  not: (a, o) => { for (let i = 0; i < o.length; i++) o[i] = a[i] === 0 ? 1 : 0; },
  is_finite: (a, o) => { for (let i = 0; i < o.length; i++) o[i] = Number.isFinite(a[i]) ? 1 : 0; },
};

const BINARY: Record<string, Binary> = {
  add: (a, s, b, t, o) => { for (let i = 0, j = 0, k = 0; i < o.length; i++, j += s, k += t) o[i] = a[j] + b[k]; },
  sub: (a, s, b, t, o) => { for (let i = 0, j = 0, k = 0; i < o.length; i++, j += s, k += t) o[i] = a[j] - b[k]; },
  mul: (a, s, b, t, o) => { for (let i = 0, j = 0, k = 0; i < o.length; i++, j += s, k += t) o[i] = a[j] * b[k]; },
  div: (a, s, b, t, o) => { for (let i = 0, j = 0, k = 0; i < o.length; i++, j += s, k += t) o[i] = a[j] / b[k]; },
  rem: (a, s, b, t, o) => { for (let i = 0, j = 0, k = 0; i < o.length; i++, j += s, k += t) o[i] = a[j] % b[k]; },
  max: (a, s, b, t, o) => { for (let i = 0, j = 0, k = 0; i < o.length; i++, j += s, k += t) o[i] = Math.max(a[j], b[k]); },
  min: (a, s, b, t, o) => { for (let i = 0, j = 0, k = 0; i < o.length; i++, j += s, k += t) o[i] = Math.min(a[j], b[k]); },
  pow: (a, s, b, t, o) => { for (let i = 0, j = 0, k = 0; i < o.length; i++, j += s, k += t) o[i] = Math.pow(a[j], b[k]); },
  atan2: (a, s, b, t, o) => { for (let i = 0, j = 0, k = 0; i < o.length; i++, j += s, k += t) o[i] = Math.atan2(a[j], b[k]); },
  lt: (a, s, b, t, o) => { for (let i = 0, j = 0, k = 0; i < o.length; i++, j += s, k += t) o[i] = a[j] < b[k] ? 1 : 0; },
  le: (a, s, b, t, o) => { for (let i = 0, j = 0, k = 0; i < o.length; i++, j += s, k += t) o[i] = a[j] <= b[k] ? 1 : 0; },
  gt: (a, s, b, t, o) => { for (let i = 0, j = 0, k = 0; i < o.length; i++, j += s, k += t) o[i] = a[j] > b[k] ? 1 : 0; },
  ge: (a, s, b, t, o) => { for (let i = 0, j = 0, k = 0; i < o.length; i++, j += s, k += t) o[i] = a[j] >= b[k] ? 1 : 0; },
  eq: (a, s, b, t, o) => { for (let i = 0, j = 0, k = 0; i < o.length; i++, j += s, k += t) o[i] = a[j] === b[k] ? 1 : 0; },
  ne: (a, s, b, t, o) => { for (let i = 0, j = 0, k = 0; i < o.length; i++, j += s, k += t) o[i] = a[j] !== b[k] ? 1 : 0; },
  and: (a, s, b, t, o) => { for (let i = 0, j = 0, k = 0; i < o.length; i++, j += s, k += t) o[i] = a[j] !== 0 && b[k] !== 0 ? 1 : 0; },
  or: (a, s, b, t, o) => { for (let i = 0, j = 0, k = 0; i < o.length; i++, j += s, k += t) o[i] = a[j] !== 0 || b[k] !== 0 ? 1 : 0; },
  xor: (a, s, b, t, o) => { for (let i = 0, j = 0, k = 0; i < o.length; i++, j += s, k += t) o[i] = (a[j] !== 0) !== (b[k] !== 0) ? 1 : 0; },
};

/** 0 for an operand of one element, which is the same for all; 1 for one of the size of the result. */
function strideOf(op: string, operand: Float64Array, size: number): number {
  if (operand.length === size) return size === 1 ? 0 : 1;
  if (operand.length === 1) return 0;
  throw new Error(`The operation '${op}' has an operand of ${operand.length} numbers for a result of ${size}.`);
}

const unary = (apply: Unary): Maker => (equation, [operand], out) => {
  const a = operand.data;
  if (strideOf(equation.op, a, out.length) === 1) return () => apply(a, out);
  const one = out.subarray(0, 1);
  return () => {
    apply(a, one);
    out.fill(one[0]);
  };
};

const binary = (apply: Binary): Maker => (equation, [first, second], out) => {
  const a = first.data;
  const b = second.data;
  const s = strideOf(equation.op, a, out.length);
  const t = strideOf(equation.op, b, out.length);
  return () => apply(a, s, b, t, out);
};

const integerPower: Maker = (equation, operands, out) => {
  const y = whole(equation, "y");
  const power: Unary = (a, o) => { for (let i = 0; i < o.length; i++) o[i] = wholePower(a[i], y); };
  return unary(y === 2 ? UNARY.square : power)(equation, operands, out);
};

const select: Maker = (equation, [which, ...cases], out) => {
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

/** The result of these may be written over an operand. */
export const ELEMENTWISE: Record<string, Maker> = {
  ...table(UNARY, unary),
  ...table(BINARY, binary),
  integer_pow: integerPower,
  select_n: select,
};
