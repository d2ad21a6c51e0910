/** Operations along axes. */
import { sizeOf } from "../arrays";
import { places, stridesOf, table, whole, wholes, type Maker } from "./types";

type Fold = (values: Float64Array, first: number, offsets: Int32Array) => number;

const FOLDS: Record<string, Fold> = {
  reduce_sum: (a, first, at) => { let sum = 0; for (let k = 0; k < at.length; k++) sum += a[first + at[k]]; return sum; },
  reduce_prod: (a, first, at) => { let product = 1; for (let k = 0; k < at.length; k++) product *= a[first + at[k]]; return product; },
  reduce_max: (a, first, at) => { let most = -Infinity; for (let k = 0; k < at.length; k++) most = Math.max(most, a[first + at[k]]); return most; },
  reduce_min: (a, first, at) => { let least = Infinity; for (let k = 0; k < at.length; k++) least = Math.min(least, a[first + at[k]]); return least; },
  reduce_and: (a, first, at) => { for (let k = 0; k < at.length; k++) if (a[first + at[k]] === 0) return 0; return 1; },
  reduce_or: (a, first, at) => { for (let k = 0; k < at.length; k++) if (a[first + at[k]] !== 0) return 1; return 0; },
};

const reduction = (fold: Fold): Maker => (equation, [operand], out) => {
  const axes = wholes(equation, "axes");
  const strides = stridesOf(operand.shape);
  const kept = operand.shape.map((_length, axis) => axis).filter((axis) => !axes.includes(axis));
  const of = (chosen: number[]): Int32Array => places(chosen.map((axis) => operand.shape[axis]), chosen.map((axis) => strides[axis]));
  const firsts = of(kept);
  const offsets = of(axes);
  const a = operand.data;
  return () => { for (let i = 0; i < firsts.length; i++) out[i] = fold(a, firsts[i], offsets); };
};

const ACCUMULATIONS: Record<string, (sum: number, next: number) => number> = {
  cumsum: (sum, next) => sum + next,
  cumprod: (product, next) => product * next,
  cummax: (most, next) => Math.max(most, next),
  cummin: (least, next) => Math.min(least, next),
};

const accumulation = (combine: (sum: number, next: number) => number): Maker => (equation, [operand], out) => {
  const axis = whole(equation, "axis");
  const length = operand.shape[axis];
  const stride = stridesOf(operand.shape)[axis];
  const rows = sizeOf(operand.shape.slice(0, axis));
  const a = operand.data;
  const [begin, step] = equation.reverse === true ? [length - 1, -1] : [0, 1];
  return () => {
    for (let row = 0; row < rows; row++) {
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

export const REDUCTIONS: Record<string, Maker> = { ...table(FOLDS, reduction), ...table(ACCUMULATIONS, accumulation) };
