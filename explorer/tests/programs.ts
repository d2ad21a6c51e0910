/** Small programs by hand. */
import type { NumberArray } from "../src/math/arrays";
import type { Equation, Program } from "../src/math/document";
import { compile } from "../src/math/program";

export interface Operand { shape: number[]; values: number[] }

export const array = (shape: number[], values: number[]): Operand => ({ shape, values });
export const column = (...values: number[]): Operand => ({ shape: [values.length], values });
export const scalar = (value: number): Operand => ({ shape: [], values: [value] });

/** The result of one operation, with its operands once as inputs and once as constants, which must agree. */
export function applied(op: string, operands: Operand[], shape: number[], parameters: Record<string, unknown> = {}): number[] {
  const equation: Equation = { op, in: operands.map((_operand, k) => k), out: operands.length, shape, ...parameters };
  const asInputs: Program = { inputs: operands.map((operand) => operand.shape), constants: [], literals: [], equations: [equation], outputs: [operands.length] };
  const asConstants: Program = { ...asInputs, inputs: [], constants: operands.map((_operand, k) => `array ${k}`) };
  const first = run(asInputs, operands.map((operand) => operand.values));
  const arrays = new Map<string, NumberArray>(operands.map(({ shape: own, values }, k) => [`array ${k}`, { shape: own, data: Float64Array.from(values) }]));
  const second = run(asConstants, [], arrays);
  if (!first[0].every((value, k) => Object.is(value, second[0][k]))) throw new Error(`${op} differs between inputs and constants`);
  return first[0];
}

export function run(program: Program, inputs: number[][], arrays: Map<string, NumberArray> = new Map()): number[][] {
  const compiled = compile(program, arrays);
  for (let round = 0; round < 2; round++) { // a second run must not depend on what the first has left behind
    inputs.forEach((values, k) => compiled.inputs[k].set(values));
    compiled.run();
  }
  return compiled.outputs.map((values) => Array.from(values));
}
