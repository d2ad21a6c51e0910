/** A network as a dynamical system: its field, Jacobian, map and readout as functions of numbers. */
import { unpackWeights, type NumberArray } from "./arrays";
import { mapJacobianByDifferences } from "./derivatives";
import type { NetworkDocument, ProgramName } from "./document";
import { compile, type Compiled } from "./program";

export type { Equation, ExplorerDocument, Kind, NetworkDocument, PackedArray, Program, Status, TrialsDocument } from "./document";

export interface Options {
  /** Multiplies tau. */
  timeScale?: number;
  /** Whether the gate is held open, G = 1. */
  openGate?: boolean;
}

export interface System {
  readonly name: string;
  /** The dimension of the state space. */
  readonly n: number;
  /** The number of inputs. */
  readonly m: number;
  /** The number of outputs. */
  readonly p: number;
  /** tau in seconds; the mean if each unit has its own. */
  readonly tau: number;
  readonly dt: number;
  readonly hasGate: boolean;
  /** Whether `step` is the map that was trained; otherwise it is one Euler step. */
  readonly hasStep: boolean;
  field(h: Float64Array, x: Float64Array, out: Float64Array): void;
  /** dh/dt at `count` states, the rows of `hs`. */
  fieldMany(hs: Float64Array, count: number, x: Float64Array, out: Float64Array): void;
  /** df/dh, n x n by rows. */
  jacobian(h: Float64Array, x: Float64Array, out: Float64Array): void;
  /** One bin of the solver that the network was trained with. */
  step(h: Float64Array, x: Float64Array, dt: number, out: Float64Array): void;
  /** The derivative of `step` by the state, n x n by rows. */
  mapJacobian(h: Float64Array, x: Float64Array, dt: number, out: Float64Array): void;
  readout(h: Float64Array, out: Float64Array): void;
  /** The gate of each component of the state; ones without a gate. */
  gate(h: Float64Array, x: Float64Array, out: Float64Array): void;
  /** What vanishes at an equilibrium, in units of state: -h + F where there is a gate (whatever its value), else tau f. */
  drift(h: Float64Array, x: Float64Array, out: Float64Array): void;
  /** The derivative of `drift` by the state, n x n by rows. */
  driftJacobian(h: Float64Array, x: Float64Array, out: Float64Array): void;
  /** The state before the first bin, given its input; zero if the network has no rule for it. */
  initial(x: Float64Array, out: Float64Array): void;
  /** The same network with these options in place of its own; what is left out stays. */
  withOptions(options: Options): System;
}

/** Fewer states than this share of a batch are computed one by one, which is less work than a padded batch. */
const LEAST_SHARE_OF_BATCH = 0.5;

export function systemOf(network: NetworkDocument): System {
  return new ProgramSystem(new Programs(network), {});
}

/** The programs of a network, compiled when they are first needed. */
class Programs {
  private weights: Map<string, NumberArray> | null = null;
  private readonly compiled = new Map<ProgramName, Compiled>();

  constructor(readonly network: NetworkDocument) {}

  has(name: ProgramName): boolean {
    return this.network.programs[name] !== undefined;
  }

  get(name: ProgramName): Compiled {
    let found = this.compiled.get(name);
    if (found === undefined) {
      const program = this.network.programs[name];
      if (program === undefined) throw new Error(`The network has no program '${name}'.`);
      this.weights ??= unpackWeights(this.network.weights);
      found = compile(program, this.weights);
      this.compiled.set(name, found);
    }
    return found;
  }

  /** Runs a program on a state, an input and at most one number more. */
  run(name: ProgramName, out: Float64Array, ...inputs: (Float64Array | number)[]): void {
    const program = this.get(name);
    for (let k = 0; k < inputs.length; k++) {
      const input = inputs[k];
      if (typeof input === "number") program.inputs[k][0] = input;
      else program.inputs[k].set(input);
    }
    program.run();
    out.set(program.outputs[0]);
  }
}

class ProgramSystem implements System {
  readonly name: string;
  readonly n: number;
  readonly m: number;
  readonly p: number;
  readonly tau: number;
  readonly dt: number;
  readonly hasGate: boolean;
  readonly hasStep: boolean;
  private readonly scale: number;
  private readonly isOpen: boolean;
  private readonly taus: Float64Array;
  private readonly velocity: Float64Array;

  constructor(private readonly programs: Programs, private readonly options: Options) {
    const { network } = programs;
    this.name = network.name;
    this.n = network.state_size;
    this.m = network.inputs;
    this.p = network.outputs;
    this.dt = network.dt;
    this.hasGate = programs.has("gate") && programs.has("field_open_gate");
    this.isOpen = this.hasGate && options.openGate === true;
    this.hasStep = programs.has(this.stepName);
    this.scale = options.timeScale ?? 1;
    const taus = typeof network.tau === "number" ? [network.tau] : network.tau;
    const mean = taus.reduce((sum, tau) => sum + tau, 0) / taus.length;
    this.tau = mean * this.scale;
    this.taus = new Float64Array(this.n).fill(mean);
    if (this.hasGate && taus.length === this.n) this.taus.set(taus);
    this.velocity = new Float64Array(this.n);
  }

  field(h: Float64Array, x: Float64Array, out: Float64Array): void {
    this.programs.run(this.isOpen ? "field_open_gate" : "field", out, h, x);
    this.slow(out, this.n);
  }

  fieldMany(hs: Float64Array, count: number, x: Float64Array, out: Float64Array): void {
    const { n } = this;
    const batch = this.programs.get(this.isOpen && this.programs.has("field_open_gate_batch") ? "field_open_gate_batch" : "field_batch");
    const block = batch.inputs[0].length / n;
    const isUsable = !this.isOpen || this.programs.has("field_open_gate_batch");
    let done = 0;
    if (isUsable) {
      batch.inputs[1].set(x);
      while (count - done >= LEAST_SHARE_OF_BATCH * block) {
        const size = Math.min(block, count - done) * n;
        batch.inputs[0].set(hs.subarray(done * n, done * n + size));
        batch.run();
        out.set(size === batch.outputs[0].length ? batch.outputs[0] : batch.outputs[0].subarray(0, size), done * n);
        done += size / n;
      }
      this.slow(out, done * n);
    }
    for (; done < count; done++) this.field(hs.subarray(done * n, (done + 1) * n), x, out.subarray(done * n, (done + 1) * n));
  }

  jacobian(h: Float64Array, x: Float64Array, out: Float64Array): void {
    this.programs.run(this.isOpen ? "jacobian_open_gate" : "jacobian", out, h, x);
    this.slow(out, out.length);
  }

  step(h: Float64Array, x: Float64Array, dt: number, out: Float64Array): void {
    // Every method steps by dt times the field, so that a tau twice as long is a step half as long.
    if (this.hasStep) {
      this.programs.run(this.stepName, out, h, x, dt / this.scale);
      return;
    }
    this.field(h, x, this.velocity);
    for (let i = 0; i < this.n; i++) out[i] = h[i] + dt * this.velocity[i];
  }

  mapJacobian(h: Float64Array, x: Float64Array, dt: number, out: Float64Array): void {
    const { n } = this;
    const { method, substeps = 1 } = this.programs.network;
    if (this.hasStep && !this.isOpen && this.programs.has("jacobian_step")) {
      this.programs.run("jacobian_step", out, h, x, dt / this.scale);
    } else if (!this.hasStep || (method === "euler" && substeps === 1)) {
      this.jacobian(h, x, out);
      for (let k = 0; k < n * n; k++) out[k] *= dt;
      for (let i = 0; i < n; i++) out[i * n + i] += 1;
    } else {
      mapJacobianByDifferences(this, h, x, dt, out);
    }
  }

  readout(h: Float64Array, out: Float64Array): void {
    if (this.programs.has("readout")) this.programs.run("readout", out, h);
    else out.set(h.subarray(0, this.p)); // without a readout the state itself is seen
  }

  gate(h: Float64Array, x: Float64Array, out: Float64Array): void {
    if (this.hasGate && !this.isOpen) this.programs.run("gate", out, h, x);
    else out.fill(1);
  }

  drift(h: Float64Array, x: Float64Array, out: Float64Array): void {
    this.programs.run(this.hasGate ? "field_open_gate" : "field", out, h, x);
    for (let i = 0; i < this.n; i++) out[i] *= this.taus[i];
  }

  driftJacobian(h: Float64Array, x: Float64Array, out: Float64Array): void {
    const { n } = this;
    this.programs.run(this.hasGate ? "jacobian_open_gate" : "jacobian", out, h, x);
    for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) out[i * n + j] *= this.taus[i];
  }

  initial(x: Float64Array, out: Float64Array): void {
    if (this.programs.has("initial")) this.programs.run("initial", out, x);
    else out.fill(0);
  }

  withOptions(options: Options): System {
    return new ProgramSystem(this.programs, { ...this.options, ...options });
  }

  private get stepName(): ProgramName {
    return this.isOpen ? "step_open_gate" : "step";
  }

  /** Divides the first `count` rates by the time scale. */
  private slow(rates: Float64Array, count: number): void {
    if (this.scale === 1) return;
    for (let k = 0; k < count; k++) rates[k] /= this.scale;
  }
}
