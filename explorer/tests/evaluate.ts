/**
 * Evaluates the page's mathematics outside of a page: node evaluate.mjs document.json requests.json results.json.
 * `node build.mjs --math` bundles it into tests/explorer/evaluate.mjs, with which the Python tests compare the page with gnode.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { unpack, unpackWeights, type NumberArray } from "../src/math/arrays";
import type { ExplorerDocument, NetworkDocument, PackedArray, Program, ProgramName } from "../src/math/document";
import { eigen } from "../src/math/eigen";
import { fixedPoints, type SearchOptions } from "../src/math/fixed-points";
import { memoryTime } from "../src/math/memory";
import { OPERATIONS } from "../src/math/operations";
import { planeOfComponents, planeOfOutputs, planeOfStates, planeThrough, project } from "../src/math/planes";
import { compile } from "../src/math/program";
import { euler, rk4 } from "../src/math/steps";
import { systemOf, type Options, type System } from "../src/math/system";

interface Request {
  what: string;
  network?: number;
  options?: Options;
  states?: number[][];
  x?: number[] | number[][];
  dt?: number;
  search?: SearchOptions;
  tolerance?: number;
  horizon?: number;
  plane?: { by: "states" | "outputs" | "components" | "points"; first?: number; second?: number };
  program?: Program | ProgramName;
  arrays?: Record<string, PackedArray>;
  inputs?: number[][];
}

/** A request with its system, and its states and inputs as the system takes them. */
interface Task {
  request: Request;
  system: System;
  states: Float64Array[];
  inputAt(k: number): Float64Array;
  dt: number;
}

const rows = (task: Task, size: number, apply: (h: Float64Array, x: Float64Array, out: Float64Array) => void): number[][] =>
  task.states.map((h, k) => {
    const out = new Float64Array(size);
    apply(h, task.inputAt(k), out);
    return Array.from(out);
  });

const matrices = (task: Task, apply: (h: Float64Array, x: Float64Array, out: Float64Array) => void): number[][][] => {
  const { n } = task.system;
  return rows(task, n * n, apply).map((flat) => Array.from({ length: n }, (_row, i) => flat.slice(i * n, (i + 1) * n)));
};

function flattened(states: Float64Array[], n: number): Float64Array {
  const flat = new Float64Array(states.length * n);
  states.forEach((state, k) => flat.set(state, k * n));
  return flat;
}

const ANSWERS: Record<string, (task: Task) => unknown> = {
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
      values: eigen(Float64Array.from(flat), n).values.map(({ re, im }) => [re, im]),
    }));
  },
  fixedPoints: ({ system, states, inputAt, request }) =>
    fixedPoints(system, inputAt(0), states, request.search).map((point) => ({
      h: Array.from(point.h),
      kind: point.kind,
      status: point.status,
      residual: point.residual,
      speed: point.speed,
      gate: point.gate,
      eigenvalues: point.eigenvalues.map(({ re, im }) => [re, im]),
      timeConstants: point.timeConstants,
    })),
  memoryTime: ({ system, states, inputAt, dt, request: { tolerance, horizon } }) =>
    states.map((h, k) => memoryTime(system, h, inputAt(k), { dt, tolerance, horizon })),
  plane: ({ system, states, request }) => {
    const { by = "states", first = 0, second = 1 } = request.plane ?? {};
    const flat = flattened(states, system.n);
    const plane =
      by === "outputs" ? planeOfOutputs(system, first, second, flat)
      : by === "components" ? planeOfComponents(system.n, first, second, flat)
      : by === "points" ? planeThrough(states[0], states[1], states[2], flat)
      : planeOfStates(system.n, first, second, flat);
    return {
      name: plane.name,
      origin: Array.from(plane.origin),
      u: Array.from(plane.u),
      v: Array.from(plane.v),
      limits: plane.limits,
      coordinates: states.map((h) => project(plane, h)),
    };
  },
};

function answer(document: ExplorerDocument | null, request: Request, systems: Map<number, System>): unknown {
  if (request.what === "operations") return OPERATIONS;
  const index = request.network ?? 0;
  const network = document?.networks[index];
  if (request.what === "program") return runProgram(request, network);
  if (network === undefined) throw new Error(`The document has no network ${index}.`);
  if (!Object.hasOwn(ANSWERS, request.what)) throw new Error(`'${request.what}' is not known.`);
  const base = systems.get(index) ?? systemOf(network);
  systems.set(index, base);
  const system = request.options === undefined ? base : base.withOptions(request.options);
  const given = request.x ?? new Array<number>(system.m).fill(0);
  const inputs = (Array.isArray(given[0]) ? given : [given]) as number[][];
  const task: Task = {
    request,
    system,
    states: (request.states ?? []).map((state) => Float64Array.from(state)),
    inputAt: (k) => Float64Array.from(inputs[inputs.length === 1 ? 0 : k]),
    dt: request.dt ?? system.dt,
  };
  return ANSWERS[request.what](task);
}

function runProgram(request: Request, network: NetworkDocument | undefined): number[][] {
  const isNamed = typeof request.program === "string";
  const program = isNamed ? network?.programs[request.program as ProgramName] : (request.program as Program);
  if (program === undefined) throw new Error(`There is no program '${String(request.program)}'.`);
  const arrays = isNamed && network !== undefined ? unpackWeights(network.weights) : new Map<string, NumberArray>();
  for (const [name, packed] of Object.entries(request.arrays ?? {})) arrays.set(name, unpack(packed));
  const compiled = compile(program, arrays);
  (request.inputs ?? []).forEach((values, k) => compiled.inputs[k].set(values));
  compiled.run();
  return compiled.outputs.map((values) => Array.from(values));
}

/** JSON has no word for numbers that are not finite. */
const finite = (_key: string, value: unknown): unknown => (typeof value === "number" && !Number.isFinite(value) ? String(value) : value);

function main([documentPath, requestsPath, resultsPath]: string[]): void {
  const document = JSON.parse(readFileSync(documentPath, "utf8")) as ExplorerDocument | null;
  const requests = JSON.parse(readFileSync(requestsPath, "utf8")) as Request[];
  const systems = new Map<number, System>();
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
