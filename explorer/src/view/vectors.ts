/** Eigenvectors at a fixed point: arrows towards it where pushes die out, away from it where they grow. */
import type { FixedPoint } from "../math/fixed-points";
import type { Frame } from "./frame";
import { px, svg } from "./svg";

const LENGTH = 30;
const GAP = 9;
/** Directions that lie almost across the view have no direction on the page. */
const LEAST_SHARE = 0.15;
const MOST = 3;

/** Whether a small push along the j-th eigenvector grows; the eigenvalues of a map are multipliers, but time constants fit both. */
function grows(point: FixedPoint, j: number): boolean {
  return point.timeConstants[j] < 0;
}

/** The direction of the j-th eigenvector on the page, its share of the longest such vector as length. */
function onPage(frame: Frame, point: FixedPoint, part: Float64Array, j: number, scale: number): [number, number] {
  const n = point.h.length;
  const from = new Float64Array(3);
  const to = new Float64Array(3);
  const moved = Float64Array.from(point.h, (value, i) => value + scale * part[i * n + j]);
  frame.place(point.h, from);
  frame.place(moved, to);
  return [to[0] - from[0], to[1] - from[1]];
}

export function drawVectors(frame: Frame, point: FixedPoint): SVGPathElement[] {
  const centre = new Float64Array(3);
  frame.place(point.h, centre);
  const directions: { d: [number, number]; j: number; whirl: boolean }[] = [];
  point.eigenvalues.forEach((value, j) => {
    const whirl = Math.abs(value.im) > 1e-9;
    const part = whirl && value.im < 0 ? point.eigenvectors.im : point.eigenvectors.re;
    directions.push({ d: onPage(frame, point, part, j, 1e-3), j, whirl });
  });
  const longest = Math.max(...directions.map(({ d }) => Math.hypot(d[0], d[1])), 1e-12);
  return directions
    .filter(({ d }) => Math.hypot(d[0], d[1]) > LEAST_SHARE * longest)
    .slice(0, MOST)
    .flatMap(({ d, j, whirl }) => {
      const size = Math.hypot(d[0], d[1]);
      const length = LENGTH * (0.5 + (0.5 * size) / longest);
      const kind = `vector ${grows(point, j) ? "vector-out" : "vector-in"}${whirl ? " vector-whirl" : ""}`;
      return [1, -1].map((sign) => arrow(centre, [(sign * d[0]) / size, (sign * d[1]) / size], length, grows(point, j), kind));
    });
}

function arrow(centre: Float64Array, direction: readonly [number, number], length: number, outwards: boolean, name: string): SVGPathElement {
  const at = (along: number, across: number): string =>
    `${px(centre[0] + along * direction[0] - across * direction[1])} ${px(centre[1] + along * direction[1] + across * direction[0])}`;
  const tip = outwards ? length : GAP;
  const back = outwards ? length - 5 : GAP + 5;
  return svg("path", { class: name, d: `M${at(GAP, 0)}L${at(length, 0)}M${at(back, 3.2)}L${at(tip, 0)}L${at(back, -3.2)}` });
}
