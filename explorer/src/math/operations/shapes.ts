/** Operations that rearrange numbers. Each becomes a list of places, made once. */
import { sizeOf } from "../arrays";
import type { Equation } from "../document";
import { gather, places, stridesOf, whole, wholes, type Maker, type Value } from "./types";

const broadcast: Maker = (equation, [operand], out) => {
  const axes = wholes(equation, "broadcast_dimensions");
  const own = stridesOf(operand.shape);
  const strides = equation.shape.map(() => 0);
  axes.forEach((axis, k) => { strides[axis] = operand.shape[k] === 1 ? 0 : own[k]; });
  if (out.length > 0 && operand.data.length === 1) return () => out.fill(operand.data[0]);
  return gather(operand.data, places(equation.shape, strides), out);
};

const transpose: Maker = (equation, [operand], out) => {
  const own = stridesOf(operand.shape);
  const strides = wholes(equation, "permutation").map((axis) => own[axis]);
  return gather(operand.data, places(equation.shape, strides), out);
};

const slice: Maker = (equation, [operand], out) => {
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

const concatenate: Maker = (equation, operands, out) => {
  const axis = whole(equation, "dimension");
  const runs = operands.map(({ shape }) => sizeOf(shape.slice(axis)));
  const wholeRun = sizeOf(equation.shape.slice(axis));
  const before = sizeOf(equation.shape.slice(0, axis));
  const data = operands.map((operand) => operand.data);
  return () => {
    for (let row = 0; row < before; row++) {
      let at = row * wholeRun;
      for (let k = 0; k < data.length; k++) {
        const from = data[k];
        for (let i = row * runs[k], end = i + runs[k]; i < end; i++) out[at++] = from[i];
      }
    }
  };
};

const iota: Maker = (equation, _, out) => {
  const axis = whole(equation, "dimension");
  const indices = places(equation.shape, equation.shape.map((_length, k) => (k === axis ? 1 : 0)));
  return () => out.set(indices);
};

const take: Maker = (equation, [operand], out) => {
  const indices = checkedIndices(equation, operand, out.length);
  return gather(operand.data, indices, out);
};

const put: Maker = (equation, [operand, updates], out) => {
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

function checkedIndices(equation: Equation, operand: Value, count: number): Int32Array {
  const indices = wholes(equation, "indices");
  if (indices.length !== count || indices.some((index) => index < 0 || index >= operand.data.length)) {
    throw new Error(`The operation '${equation.op}' has indices that do not fit its operand.`);
  }
  return Int32Array.from(indices);
}

export const SHAPES: Record<string, Maker> = {
  broadcast_in_dim: broadcast,
  transpose,
  slice,
  concatenate,
  iota,
  take,
  put,
};

/** Whether the result of an equation is its operand, the same numbers in the same order, seen in another shape. */
export function isRenamed(equation: Equation, operands: readonly { shape: readonly number[] }[]): boolean {
  if (equation.op === "reshape") return true;
  if (equation.op === "broadcast_in_dim") return sizeOf(operands[0].shape) === sizeOf(equation.shape);
  return equation.op === "transpose" && keepsOrder(operands[0].shape, wholes(equation, "permutation"));
}

/** Whether a permutation of axes leaves the order in memory as it is, since it only moves axes of length one. */
export function keepsOrder(shape: readonly number[], permutation: readonly number[]): boolean {
  const moved = permutation.filter((axis) => shape[axis] !== 1);
  return moved.every((axis, k) => k === 0 || moved[k - 1] < axis);
}
