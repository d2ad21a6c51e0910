/** Programs of the document as functions: each equation becomes a closure over memory that is set aside once. */
import { sizeOf, type NumberArray } from "./arrays";
import type { Equation, Program } from "./document";
import { isElementwise, isRenamed, makerOf, type Value } from "./operations";

/** A program that can be run: write its inputs, run it, and read its outputs before the next run. */
export interface Compiled {
  readonly inputs: Float64Array[];
  readonly outputs: Float64Array[];
  readonly outputShapes: (readonly number[])[];
  run(): void;
}

/** Makes a program runnable. What depends on the weights alone is computed here, once. */
export function compile(program: Program, arrays: ReadonlyMap<string, NumberArray>): Compiled {
  const values: Value[] = [];
  for (const shape of program.inputs) values.push({ shape, data: new Float64Array(sizeOf(shape)), isConstant: false });
  for (const name of program.constants) {
    const array = arrays.get(name);
    if (array === undefined) throw new Error(`The weights have no array '${name}'.`);
    values.push({ ...array, isConstant: true });
  }
  for (const literal of program.literals) values.push({ shape: [], data: Float64Array.of(Number(literal)), isConstant: true });
  const steps = computed(program, values);
  const outputs = program.outputs.map((place) => at(values, place));
  return {
    inputs: values.slice(0, program.inputs.length).map((value) => value.data),
    outputs: outputs.map((value) => value.data),
    outputShapes: outputs.map((value) => value.shape),
    run: () => { for (let k = 0; k < steps.length; k++) steps[k](); },
  };
}

/** Appends the result of every equation to `values`, and returns what has to be done in each run. */
function computed(program: Program, values: Value[]): (() => void)[] {
  const given = values.length;
  const lastUse = lastUses(program, values);
  const memory = new Memory();
  const steps: (() => void)[] = [];
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

/** For each value the last equation that reads its memory, under whatever name; infinite for outputs and what is given. */
function lastUses(program: Program, values: readonly Value[]): number[] {
  const given = values.length;
  const shapes: { shape: readonly number[] }[] = [...values];
  const owner = values.map((_value, place) => place);
  const last = values.map(() => Infinity);
  program.equations.forEach((equation: Equation, k) => {
    const renames = isRenamed(equation, equation.in.map((place) => at(shapes, place)));
    owner.push(renames ? owner[equation.in[0]] : given + k);
    shapes.push({ shape: equation.shape });
    last.push(k);
    for (const place of equation.in) last[owner[place]] = Math.max(last[owner[place]], k);
  });
  for (const place of program.outputs) if (place < owner.length) last[owner[place]] = Infinity;
  return owner.map((place) => last[place]);
}

function at<T>(values: readonly T[], place: number): T {
  if (!(place >= 0 && place < values.length)) throw new Error(`A program uses the value ${place} before it is computed.`);
  return values[place];
}

/** Memory that is used again when what it holds is no longer needed, so that a program stays in the processor's cache. */
class Memory {
  private readonly free = new Map<number, Float64Array[]>();

  allocate(size: number): Float64Array {
    return this.free.get(size)?.pop() ?? new Float64Array(size);
  }

  release(values: readonly Value[]): void {
    for (const data of new Set(values.map((value) => value.data))) {
      const list = this.free.get(data.length) ?? [];
      list.push(data);
      this.free.set(data.length, list);
    }
  }
}
