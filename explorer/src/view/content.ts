/** What a portrait shows besides the flow: contours, and the names of its axes. */
import { contour, density } from "./contours";
import type { PlaneFrame } from "./frame";
import type { Grid } from "./grid";
import type { Model } from "./model";
import type { Line } from "./overlay";
import type { PlaneChoice } from "./store";

const REGION_SIZE = 72;
const REGION_LEVEL = 0.05;
const REGION_ROUNDS = 5;

/** Segments in units of cells, as pixels of the plot. */
function inPixels(found: Float32Array, size: number, frame: PlaneFrame): Float32Array {
  const made = new Float32Array(found.length);
  for (let k = 0; k < found.length; k += 2) {
    made[k] = (found[k] / (size - 1)) * frame.size.width;
    made[k + 1] = (1 - found[k + 1] / (size - 1)) * frame.size.height;
  }
  return made;
}

/** Where each of the two states stands still. */
export function nullclines(grid: Grid): Line[] {
  const { u, v } = grid.frame.plane;
  if (u.length !== 2) return [];
  return [0, 1].map((i) => {
    const values = new Float32Array(grid.speed.length);
    for (let k = 0; k < values.length; k++) values[k] = grid.velocity[2 * k] * u[i] + grid.velocity[2 * k + 1] * v[i];
    return { class: `nullcline nullcline-${i + 1}`, segments: inPixels(contour(values, grid.size, 0), grid.size, grid.frame) };
  });
}

/** For a network with one state: dh/dt as a curve over the state, scaled to the height of the plot; it crosses its middle at fixed points. */
export function graph(grid: Grid): Line[] {
  const { size, velocity, frame } = grid;
  if (frame.plane.u.length !== 1) return [];
  const rates = Array.from({ length: size }, (_, i) => velocity[2 * i]);
  const largest = Math.max(...rates.map(Math.abs), Number.MIN_VALUE);
  const places = rates.map((rate, i) => [(i / (size - 1)) * frame.size.width, (0.5 - (0.45 * rate) / largest) * frame.size.height]);
  return [
    { class: "graph-zero", segments: Float32Array.of(0, frame.size.height / 2, frame.size.width, frame.size.height / 2) },
    { class: "graph", segments: Float32Array.from(places.slice(1).flatMap((to, k) => [...places[k], ...to])) },
  ];
}

/** The outline of the states that were visited. */
export function region(model: Model, frame: PlaneFrame): Line[] {
  if (!model.visited || model.n === 1) return [];
  const n = model.n;
  const rows = Math.floor(model.states.length / n);
  const stride = Math.max(1, Math.floor(rows / 12000));
  const places: number[] = [];
  const found = new Float64Array(2);
  for (let k = 0; k < rows; k += stride) {
    frame.coordinates(model.states.subarray(k * n, (k + 1) * n), found);
    places.push(found[0], found[1]);
  }
  const counted = density(places, frame.limits, REGION_SIZE, REGION_ROUNDS);
  return [{ class: "region", segments: inPixels(contour(counted, REGION_SIZE, REGION_LEVEL), REGION_SIZE, frame) }];
}

/** A state's name; states of two kinds (as of an LSTM) are numbered through. */
export function stateName(i: number): string {
  return `state ${i + 1}`;
}

export function axisNames(model: Model, choice: PlaneChoice): [string, string] {
  if (model.n === 1) return [stateName(0), "dh/dt, scaled"];
  if (!model.has(choice)) return [stateName(0), stateName(1)]; // the plane that is shown in its place
  switch (choice.kind) {
    case "outputs":
      return [model.network.output_names[choice.i] ?? `output ${choice.i + 1}`, model.network.output_names[choice.j] ?? `output ${choice.j + 1}`];
    case "components":
      return [`component ${choice.i + 1}`, `component ${choice.j + 1}`];
    case "points":
      return ["from the first point to the second", "towards the third point"];
    default:
      return [stateName(choice.i), stateName(choice.j)];
  }
}

/** The plane in words, for captions. */
export function planeWords(model: Model, choice: PlaneChoice): string {
  if (model.n === 1) return "on the line of its one state";
  if (choice.kind === "points") return "in the plane through three chosen points";
  const [first, second] = axisNames(model, choice);
  if (choice.kind === "components") return `in the plane of principal components ${choice.i + 1} and ${choice.j + 1} of the visited states`;
  return `in the plane of ${first} and ${second}`;
}

/** The integrator of a network; that of a cell or a function was never trained with. */
export function solverWords({ network }: Model): string {
  return network.trained === false ? `the solver (${network.method})` : `the trained solver (${network.method})`;
}

/** Recorded paths of the state. */
export function pathWords({ network }: Model): string {
  return network.trained === false ? "trajectories" : "training trajectories";
}

/** Which plane a network is shown in at first: its outputs if the plane shows two of them, else where it varies most. */
export function firstPlane(model: Model): PlaneChoice {
  const { n, p } = model.base;
  if (n <= 2) return { kind: "states", i: 0, j: 1 };
  const outputs: PlaneChoice = { kind: "outputs", i: 0, j: 1 };
  if (p >= 2 && model.network.classes === null && model.has(outputs)) return outputs;
  return { kind: "components", i: 0, j: 1 };
}
