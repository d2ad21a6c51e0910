/** A network of the document, unpacked: its system, the states it visited, its trials, and the planes of its state space. */
import { unpack } from "../math/arrays";
import { planeOfComponents, planeOfOutputs, planeOfStates, planeThrough, type Plane } from "../math/planes";
import { systemOf, type NetworkDocument, type PackedArray, type System } from "../math/system";
import { PlaneFrame, type Size } from "./frame";
import { remainingDirection, type Direction } from "./directions";
import type { Limits, PlaneChoice, ViewState } from "./store";

export interface Trials {
  count: number;
  bins: number;
  dt: number;
  inputs: Float64Array;
  /** Null where the task has no target for every bin. */
  targets: Float64Array | null;
  outputs: Float64Array | null;
}

/** The most remaining directions that the slider offers. */
const DIRECTIONS = 8;

export class Model {
  readonly base: System;
  /** Visited states by rows; drawn at random where the document has none. */
  readonly states: Float64Array;
  readonly visited: boolean;
  /** Trajectories that were recorded, each with its states by rows. */
  readonly runs: Float64Array[];
  readonly slow: Float64Array;
  readonly trials: Trials | null;
  /** The largest input of each channel in the trials, one without trials. */
  readonly inputSizes: number[];
  private readonly systems = new Map<string, System>();
  private readonly planes = new Map<string, Plane>();
  private readonly missing = new Set<string>();
  private readonly directions = new Map<string, (Direction | undefined)[]>();

  constructor(readonly network: NetworkDocument) {
    this.base = systemOf(network);
    const n = this.base.n;
    const packed = network.states === null ? null : unpack(network.states);
    this.visited = packed !== null && packed.data.length >= 2 * n;
    this.states = this.visited && packed !== null ? packed.data : scattered(network, n);
    this.runs = packed !== null && packed.shape.length === 3 ? rowsOf(packed.data, packed.shape[1] * n) : [];
    this.slow = network.slow === null ? new Float64Array() : unpack(network.slow).data;
    this.trials = trialsOf(network, this.base);
    this.inputSizes = largestInputs(this.base.m, this.trials);
  }

  get n(): number {
    return this.base.n;
  }

  system(view: Pick<ViewState, "timeScale" | "openGate">): System {
    const openGate = view.openGate && this.base.hasGate;
    const key = `${view.timeScale} ${openGate}`;
    const known = this.systems.get(key);
    if (known !== undefined) return known;
    if (this.systems.size > 24) this.systems.clear();
    const made = view.timeScale === 1 && !openGate ? this.base : this.base.withOptions({ timeScale: view.timeScale, openGate });
    this.systems.set(key, made);
    return made;
  }

  plane(choice: PlaneChoice): Plane {
    const key = JSON.stringify(choice);
    const known = this.planes.get(key);
    if (known !== undefined) return known;
    let made: Plane;
    try {
      made = this.madePlane(choice);
    } catch {
      this.missing.add(key);
      made = this.madePlane({ kind: "states", i: 0, j: 1 }); // three states on a line, or outputs that span no plane
    }
    this.planes.set(key, made);
    return made;
  }

  /** Whether a plane can be shown, and is not replaced by another. */
  has(choice: PlaneChoice): boolean {
    this.plane(choice);
    return !this.missing.has(JSON.stringify(choice));
  }

  private madePlane(choice: PlaneChoice): Plane {
    const { n, p } = this.base;
    const [i, j] = [choice.i, choice.j];
    if (n === 1) return line(this.states);
    if (choice.kind === "outputs" && i < p && j < p) return planeOfOutputs(this.base, i, j, this.states);
    if (choice.kind === "components" && i < n && j < n) return planeOfComponents(n, i, j, this.states);
    if (choice.kind === "points" && choice.points?.length === 3 && choice.points.every((point) => point.length === n)) {
      const [a, b, c] = choice.points.map((point) => Float64Array.from(point));
      return planeThrough(a, b, c, this.states);
    }
    return planeOfStates(n, Math.min(i, n - 1), Math.min(j, n - 1) === i ? (i + 1) % n : Math.min(j, n - 1), this.states);
  }

  /** How many directions leave the plane and can be moved along. */
  get remaining(): number {
    return Math.max(0, Math.min(DIRECTIONS, this.n - 2));
  }

  /** The k-th direction that leaves a plane: the one along which the visited states vary most, then the next. */
  direction(choice: PlaneChoice, k: number): Direction {
    const key = JSON.stringify(choice);
    const found = this.directions.get(key) ?? [];
    this.directions.set(key, found);
    for (let at = 0; at <= k; at++) found[at] ??= remainingDirection(this.plane(choice), this.states, found.slice(0, at) as Direction[]);
    return found[k] as Direction;
  }

  /** The plane that is shown, moved along the remaining directions. */
  frame(view: ViewState, size: Size, limits: Limits | null): PlaneFrame {
    const plane = this.plane(view.plane);
    const origin = plane.origin.slice();
    let reach = 0;
    view.depths.forEach((depth, k) => {
      if (depth === 0 || k >= this.remaining) return;
      const { vector } = this.direction(view.plane, k);
      for (let i = 0; i < origin.length; i++) origin[i] += depth * vector[i];
    });
    if (this.remaining > 0) reach = 2 * this.direction(view.plane, 0).spread;
    return new PlaneFrame({ ...plane, origin }, limits ?? plane.limits, size, reach || 1);
  }

  /** Centre and half width of the box that holds the visited states, for networks with three of them. */
  box(): { centre: number[]; half: number[] } {
    const centre: number[] = [];
    const half: number[] = [];
    for (let i = 0; i < this.n; i++) {
      let low = Infinity;
      let high = -Infinity;
      for (let k = i; k < this.states.length; k += this.n) {
        low = Math.min(low, this.states[k]);
        high = Math.max(high, this.states[k]);
      }
      centre.push((low + high) / 2);
      half.push(0.6 * (high - low) || 1);
    }
    return { centre, half };
  }
}

/** The plane of a network with one state: its second direction is none. */
function line(states: Float64Array): Plane {
  const low = states.reduce((a, b) => Math.min(a, b), Infinity);
  const high = states.reduce((a, b) => Math.max(a, b), -Infinity);
  const margin = 0.15 * (high - low) || 1;
  return { name: "the state", origin: new Float64Array(1), u: Float64Array.of(1), v: new Float64Array(1), limits: [low - margin, high + margin, -1, 1] };
}

function rowsOf(data: Float64Array, length: number): Float64Array[] {
  const rows: Float64Array[] = [];
  for (let from = 0; from + length <= data.length; from += length) rows.push(data.subarray(from, from + length));
  return rows;
}

/** States for a network that was never run: around its fixed points, or around zero. */
function scattered(network: NetworkDocument, n: number): Float64Array {
  const centres = network.points !== null && network.points.length > 0 ? network.points.map((point) => point.h) : [new Array<number>(n).fill(0)];
  const made = new Float64Array(Math.max(300, centres.length) * n);
  let seed = 7;
  const random = (): number => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return seed / 4294967296;
  };
  for (let k = 0; k < made.length; k++) made[k] = centres[Math.floor(k / n) % centres.length][k % n] + 3 * (random() + random() - 1);
  return made;
}

function trialsOf(network: NetworkDocument, system: System): Trials | null {
  if (network.trials === null) return null;
  const inputs = unpack(network.trials.inputs);
  const [count, bins] = inputs.shape;
  const whole = (packed: PackedArray | null): Float64Array | null => {
    if (packed === null || packed === undefined) return null;
    const { shape, data } = unpack(packed);
    return shape.length === 3 && shape[1] === bins && shape[2] === system.p ? data : null;
  };
  if (inputs.shape.length !== 3 || count === 0 || bins === 0) return null;
  return { count, bins, dt: network.trials.dt, inputs: inputs.data, targets: whole(network.trials.targets), outputs: whole(network.trials.outputs) };
}

function largestInputs(m: number, trials: Trials | null): number[] {
  const sizes = new Array<number>(m).fill(0);
  if (trials !== null) trials.inputs.forEach((value, k) => (sizes[k % m] = Math.max(sizes[k % m], Math.abs(value))));
  return sizes.map((size) => (size > 0 && Number.isFinite(size) ? size : 1));
}
