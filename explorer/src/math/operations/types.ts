/** What the parts of a program have in common. */
import type { Equation } from "../document";

/** A value of a program: its shape and the memory that it lives in, which is written once in every run. */
export interface Value {
  shape: readonly number[];
  data: Float64Array;
  /** Whether it follows from the weights alone, so that it never changes. */
  isConstant: boolean;
}

/** Makes the function that computes an equation: from the memory of its operands into the memory of its result. */
export type Maker = (equation: Equation, operands: Value[], out: Float64Array) => () => void;

/** Makers of all entries of a table. */
export function table<T>(entries: Record<string, T>, made: (entry: T) => Maker): Record<string, Maker> {
  return Object.fromEntries(Object.entries(entries).map(([name, entry]) => [name, made(entry)]));
}

/** Reads a parameter that is a list of whole numbers. */
export function wholes(equation: Equation, name: string): number[] {
  const found = equation[name];
  if (!Array.isArray(found) || !found.every(Number.isInteger)) {
    throw new Error(`The operation '${equation.op}' needs '${name}' as a list of whole numbers.`);
  }
  return found;
}

/** Reads a parameter that is one whole number. */
export function whole(equation: Equation, name: string): number {
  const found = equation[name];
  if (!Number.isInteger(found)) throw new Error(`The operation '${equation.op}' needs '${name}' as a whole number.`);
  return found as number;
}

/** The distance in memory between neighbours along each axis, in row-major order. */
export function stridesOf(shape: readonly number[]): number[] {
  const strides = new Array<number>(shape.length).fill(1);
  for (let axis = shape.length - 2; axis >= 0; axis--) strides[axis] = strides[axis + 1] * shape[axis + 1];
  return strides;
}

/**
 * The place in memory of every element of `shape`, in row-major order, where a step along axis k moves by `strides[k]`.
 * Everything that only rearranges numbers is a list of such places.
 */
export function places(shape: readonly number[], strides: readonly number[], first = 0): Int32Array {
  let found = Int32Array.of(first);
  shape.forEach((length, axis) => {
    const next = new Int32Array(found.length * length);
    for (let i = 0; i < found.length; i++) for (let j = 0; j < length; j++) next[i * length + j] = found[i] + j * strides[axis];
    found = next;
  });
  return found;
}

/** A function that copies `from[indices[k]]` to `to[k]`. */
export function gather(from: Float64Array, indices: Int32Array, to: Float64Array): () => void {
  return () => { for (let k = 0; k < indices.length; k++) to[k] = from[indices[k]]; };
}
