/** A small gated network as Python writes it: tau dh/dt = G (-h + tanh(W h + U x)), G = logistic(V h). */
import type { NetworkDocument, Program, Weights } from "../src/math/document";

export const W = [[1.5, -0.25], [0.25, 0.5]];
export const U = [[1], [-0.5]];
export const V = [[2, 0], [0, -1]];
export const TAU = 0.5;
export const BATCH = 4;

export function packed(values: number[]): string {
  return Buffer.from(Float32Array.from(values).buffer).toString("base64");
}

export function weightsOf(arrays: Record<string, number[][]>): Weights {
  const found: Weights = { data: "", arrays: {} };
  const all: number[] = [];
  for (const [name, rows] of Object.entries(arrays)) {
    found.arrays[name] = { offset: all.length, shape: [rows.length, rows[0].length] };
    all.push(...rows.flat());
  }
  found.data = packed(all);
  return found;
}

/** The field of one state ([]) or of a batch ([BATCH]), with the gate or with the gate held open. */
function field(batch: number[], isGated: boolean): Program {
  const shape = [...batch, 2];
  const last = batch.length;
  const times = [[[last], [1]], [[], []]];
  const equations = [
    { op: "dot_general", in: [0, 2], out: 6, shape, dimension_numbers: times },
    { op: "dot_general", in: [1, 3], out: 7, shape: [2], dimension_numbers: [[[0], [1]], [[], []]] },
    { op: "broadcast_in_dim", in: [7], out: 8, shape, broadcast_dimensions: [last] },
    { op: "add", in: [6, 8], out: 9, shape },
    { op: "tanh", in: [9], out: 10, shape },
    { op: "sub", in: [10, 0], out: 11, shape },
    { op: "div", in: [11, 5], out: 12, shape },
    { op: "dot_general", in: [0, 4], out: 13, shape, dimension_numbers: times },
    { op: "logistic", in: [13], out: 14, shape },
    { op: "mul", in: [12, 14], out: 15, shape },
  ];
  return { inputs: [shape, [1]], constants: ["W", "U", "V"], literals: [TAU], equations, outputs: [isGated ? 15 : 12] };
}

const gate: Program = {
  inputs: [[2], [1]], constants: ["V"], literals: [],
  equations: [
    { op: "dot_general", in: [0, 2], out: 3, shape: [2], dimension_numbers: [[[0], [1]], [[], []]] },
    { op: "logistic", in: [3], out: 4, shape: [2] },
  ],
  outputs: [4],
};

/** h + dt (h -> -h): not the Euler step of the field, so that a test can tell which of the two was taken. */
const step: Program = {
  inputs: [[2], [1], []], constants: [], literals: [],
  equations: [
    { op: "mul", in: [0, 2], out: 3, shape: [2] },
    { op: "sub", in: [0, 3], out: 4, shape: [2] },
  ],
  outputs: [4],
};

/** The Jacobian of the open field, row by row: (diag(1 - tanh^2) W - 1) / tau. */
const jacobianOpen: Program = {
  inputs: [[2], [1]], constants: ["W", "U", "identity"], literals: [1, TAU],
  equations: [
    { op: "dot_general", in: [0, 2], out: 7, shape: [2], dimension_numbers: [[[0], [1]], [[], []]] },
    { op: "dot_general", in: [1, 3], out: 8, shape: [2], dimension_numbers: [[[0], [1]], [[], []]] },
    { op: "add", in: [7, 8], out: 9, shape: [2] },
    { op: "tanh", in: [9], out: 10, shape: [2] },
    { op: "square", in: [10], out: 11, shape: [2] },
    { op: "sub", in: [5, 11], out: 12, shape: [2] },
    { op: "broadcast_in_dim", in: [12], out: 13, shape: [2, 2], broadcast_dimensions: [0] },
    { op: "mul", in: [13, 2], out: 14, shape: [2, 2] },
    { op: "sub", in: [14, 4], out: 15, shape: [2, 2] },
    { op: "div", in: [15, 6], out: 16, shape: [2, 2] },
  ],
  outputs: [16],
};

export function network(changes: Partial<NetworkDocument> = {}): NetworkDocument {
  return {
    name: "small", label: "small", equation: "", units: 2, state_size: 2, inputs: 1, outputs: 1, tau: TAU, dt: 0.1, method: "rk4",
    input_names: ["x"], output_names: ["y"], classes: null,
    weights: weightsOf({ W, U, V, identity: [[1, 0], [0, 1]] }),
    programs: {
      field: field([], true),
      field_batch: field([BATCH], true),
      jacobian: jacobianOpen, // of the open field: tests that need the other one compute it
      field_open_gate: field([], false),
      field_open_gate_batch: field([BATCH], false),
      jacobian_open_gate: jacobianOpen,
      gate,
      step,
    },
    notes: [], epoch: null, states: null, trials: null, points: null, slow: null,
    ...changes,
  };
}
