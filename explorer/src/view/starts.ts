/** From which states fixed points are searched. */
import { middles, slowNodesOf, spread, type Lattice } from "../math/slow-states";
import { firstPlane } from "./content";
import type { Model } from "./model";
import type { Tracked } from "./overlay";
import { KINDS } from "./symbols";
import type { Conditions } from "./tracker";

/** Of a continuum of points, so many serve as starts. */
const MOST_MARGINAL = 60;
/** The most points between which starts are sought: there are as many pairs as their square. */
const MOST_BETWEEN = 100;
/** The lattice reaches beyond the visited states, by this share of their extent. */
const BEYOND = 0.15;

/** The points that Python found, of a continuum evenly, and a few slow and visited states. */
export function knownStarts(model: Model): Float64Array[] {
  const { n, slow, states, network } = model;
  const few = n > 12 ? 4 : 24;
  const order = (kind: string): number => KINDS.indexOf(kind as (typeof KINDS)[number]);
  const points = [...(network.points ?? [])].sort((a, b) => order(a.kind) - order(b.kind)); // so that numbers go by kind
  const isolated = points.filter(({ kind }) => kind !== "marginal").map(({ h }) => Float64Array.from(h));
  const continuum = points.filter(({ kind }) => kind === "marginal").map(({ h }) => Float64Array.from(h));
  const picked = [...isolated, ...spread(continuum, MOST_MARGINAL)];
  for (const rows of [slow, states]) {
    const count = Math.floor(rows.length / n);
    for (let k = 0; k < Math.min(few, count); k++) {
      const row = Math.floor((k / few) * count) * n;
      picked.push(rows.slice(row, row + n));
    }
  }
  return picked;
}

/** First states away from the visited ones where the flow is slow, then middles between the points that are known by now. */
export function* scatteredStarts(model: Model, conditions: Conditions, known: readonly Tracked[], round: number): Generator<void, Float64Array[], void> {
  const { n } = model;
  const most = n <= 3 ? 60 : n <= 12 ? 24 : 6;
  if (round === 0) return yield* slowNodesOf(conditions.system, conditions.x, latticeOf(model), most);
  const isolated = known.filter(({ point }) => point.kind !== "marginal").map(({ point }) => point.h);
  return middles(isolated.slice(0, MOST_BETWEEN), most);
}

/** All of a space of up to three states; of a larger one the plane that is shown first. */
function latticeOf(model: Model): Lattice {
  const { n } = model;
  if (n > 3) {
    const { origin, u, v, limits } = model.plane(firstPlane(model));
    return { origin, sides: [{ vector: u, low: limits[0], high: limits[1] }, { vector: v, low: limits[2], high: limits[3] }] };
  }
  const { centre, half } = model.box();
  const sides = half.map((size, i) => ({
    vector: Float64Array.from({ length: n }, (_, k) => (k === i ? 1 : 0)), low: -(1 + BEYOND) * size, high: (1 + BEYOND) * size,
  }));
  return { origin: Float64Array.from(centre), sides };
}
