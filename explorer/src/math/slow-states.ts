/** Where a flow nearly stands still on a lattice of states: from there Newton's method finds points that trajectories never come near. */
import { distance, norm } from "./linear";
import type { System } from "./system";

/** Nodes along one, two or three directions through an origin. */
export interface Lattice {
  origin: Float64Array;
  /** One direction for each side of the lattice, with the coordinates at which it begins and ends. */
  sides: { vector: Float64Array; low: number; high: number }[];
}

/** Nodes along each side, by the number of sides: about a thousand in all. */
const NODES = [0, 201, 29, 11];

/** The nodes whose drift is smaller than that of their neighbours, at most `most` of them, spread out; yields every few nodes. */
export function* slowNodesOf(system: System, x: Float64Array, lattice: Lattice, most: number): Generator<void, Float64Array[], void> {
  const sides = lattice.sides.length;
  const nodes = NODES[sides];
  const count = nodes ** sides;
  const drift = new Float64Array(system.n);
  const sizes = new Float64Array(count);
  for (let k = 0; k < count; k++) {
    system.drift(stateOf(lattice, k), x, drift);
    const size = norm(drift);
    sizes[k] = Number.isNaN(size) ? Infinity : size;
    if (k % 16 === 15) yield;
  }
  const slow: Float64Array[] = [];
  for (let k = 0; k < count; k++) if (isLeast(sizes, k, nodes, sides)) slow.push(stateOf(lattice, k));
  return spread(slow, most);
}

function stateOf({ origin, sides }: Lattice, node: number): Float64Array {
  const nodes = NODES[sides.length];
  const h = Float64Array.from(origin);
  let rest = node;
  for (const { vector, low, high } of sides) {
    const along = low + ((rest % nodes) / (nodes - 1)) * (high - low);
    rest = Math.floor(rest / nodes);
    for (let i = 0; i < h.length; i++) h[i] += along * vector[i];
  }
  return h;
}

function isLeast(sizes: Float64Array, node: number, nodes: number, sides: number): boolean {
  if (sizes[node] === Infinity) return false;
  for (let k = 0; k < 3 ** sides; k++) {
    let other = 0;
    let inside = true;
    for (let side = 0, stride = 1; side < sides; side++, stride *= nodes) {
      const place = (Math.floor(node / stride) % nodes) + (Math.floor(k / 3 ** side) % 3) - 1;
      inside &&= place >= 0 && place < nodes;
      other += place * stride;
    }
    if (inside && sizes[other] < sizes[node]) return false;
  }
  return true;
}

/** At most `most` of some states, each as far as can be from those before it, so that they cover all of them evenly. */
export function spread(states: readonly Float64Array[], most: number): Float64Array[] {
  if (states.length <= most) return [...states];
  const away = new Float64Array(states.length).fill(Infinity);
  const picked: Float64Array[] = [];
  for (let next = 0; picked.length < most; ) {
    const taken = states[next];
    picked.push(taken);
    let farthest = 0;
    for (let k = 0; k < states.length; k++) {
      away[k] = Math.min(away[k], distance(states[k], taken));
      if (away[k] > away[farthest]) farthest = k;
    }
    if (away[farthest] === 0) break; // the others are the same states again
    next = farthest;
  }
  return picked;
}

/** The middles between states and their nearest others: between two basins there is a boundary, and on it often a saddle. */
export function middles(states: readonly Float64Array[], most: number): Float64Array[] {
  const pairs: { i: number; j: number; apart: number }[] = [];
  for (let i = 0; i < states.length; i++) for (let j = 0; j < i; j++) pairs.push({ i, j, apart: distance(states[i], states[j]) });
  pairs.sort((a, b) => a.apart - b.apart);
  return pairs.slice(0, most).map(({ i, j }) => states[i].map((value, k) => (value + states[j][k]) / 2));
}
