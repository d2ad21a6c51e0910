/** The operations that programs are made of, named like the primitives of jax. */
import { ELEMENTWISE } from "./elementwise";
import { PRODUCTS } from "./products";
import { REDUCTIONS } from "./reductions";
import { SHAPES } from "./shapes";
import type { Maker } from "./types";

const MAKERS: Record<string, Maker> = { ...ELEMENTWISE, ...PRODUCTS, ...REDUCTIONS, ...SHAPES };

/** The names of all operations that the page knows. */
export const OPERATIONS: string[] = [...Object.keys(MAKERS), "reshape"].sort();

/** The maker of an operation. */
export function makerOf(op: string): Maker {
  if (!Object.hasOwn(MAKERS, op)) throw new Error(`The operation '${op}' is not known to this page.`);
  return MAKERS[op];
}

/** Whether the result may be written over an operand of the same size. */
export function isElementwise(op: string): boolean {
  return Object.hasOwn(ELEMENTWISE, op);
}

export { isRenamed } from "./shapes";
export type { Maker, Value } from "./types";
