/** The document that Python writes into the page: types only, see gnode/explore/_document.py. */

/** One equation of a program; `in` and `out` are places of values, and the rest are parameters of the operation. */
export interface Equation {
  op: string;
  in: number[];
  out: number;
  shape: number[];
  [parameter: string]: unknown;
}

/**
 * A function with static shapes. Values are numbered: first the inputs, then the constants (names of arrays of weights),
 * then the literals (numbers), then one for each equation.
 */
export interface Program {
  inputs: number[][];
  constants: string[];
  literals: number[];
  equations: Equation[];
  outputs: number[];
}

/** Numbers as base64 of little-endian float32, with their shape. */
export interface PackedArray {
  shape: number[];
  data: string;
}

export interface Weights {
  data: string;
  arrays: Record<string, { offset: number; shape: number[] }>;
}

export type ProgramName =
  | "field"
  | "field_batch"
  | "jacobian"
  | "field_open_gate"
  | "field_open_gate_batch"
  | "jacobian_open_gate"
  | "step"
  | "jacobian_step"
  | "step_open_gate"
  | "readout"
  | "gate"
  | "initial";

export interface TrialsDocument {
  inputs: PackedArray;
  targets: PackedArray;
  outputs: PackedArray;
  /** The number of bins of each trial before its padding; all of them if it is left out. */
  lengths?: number[];
  dt: number;
}

export interface PointDocument {
  h: number[];
  kind: Kind;
  residual: number;
  /** An equilibrium if it is left out. */
  status?: Status;
}

/** The classes of gnode/analysis/_stability.py: "undefined" where the derivative is NaN or infinite. */
export type Kind = "stable" | "saddle" | "unstable" | "marginal" | "undefined";

/** The statuses of gnode/analysis/_fixed_points/result.py. */
export type Status = "equilibrium" | "slow" | "closed_gate";

export interface NetworkDocument {
  name: string;
  label: string;
  equation: string;
  units: number;
  state_size: number;
  inputs: number;
  outputs: number;
  /** In seconds; a list has one for each component of the state. */
  tau: number | number[];
  dt: number;
  method: string;
  /** The number of steps of the method in one bin, 1 if it is left out. */
  substeps?: number;
  input_names: string[];
  output_names: string[];
  classes: string[] | null;
  weights: Weights;
  programs: Partial<Record<ProgramName, Program>> & { field: Program; field_batch: Program; jacobian: Program };
  /** Sentences about what the page cannot do with this network. */
  notes: string[];
  epoch: number | null;
  /** The constant input at which `points` and `slow` were found; zero if it is left out or null. */
  x?: number[] | null;
  states: PackedArray | null;
  trials: TrialsDocument | null;
  /** Why there are no trials, if there is more to say. */
  without_trials?: string | null;
  /** Whether the network was trained; it was if this is left out. */
  trained?: boolean;
  points: PointDocument[] | null;
  slow: PackedArray | null;
}

export interface ExplorerDocument {
  format: number;
  title: string;
  verdict: string | null;
  networks: NetworkDocument[];
}
