/** Everything of a portrait that is drawn as lines and symbols above the moving flow. */
import type { FixedPoint } from "../math/fixed-points";
import { drawPlaneAxes, drawSpaceAxes, PLANE_MARGINS, type Margins } from "./axes";
import { joined } from "./contours";
import { PlaneFrame, SpaceFrame, type Frame } from "./frame";
import { pathThrough, px, set, svg } from "./svg";
import { symbol } from "./symbols";
import { drawVectors } from "./vectors";

/** A fixed point with an identity that lasts while it is followed. */
export interface Tracked {
  id: number;
  point: FixedPoint;
}

/** Segments in pixels of the plot, with the class that styles them. */
export interface Line {
  class: string;
  segments: Float32Array;
}

export interface Path {
  class: string;
  /** States by rows. */
  states: ArrayLike<number>;
  /** How many of the rows are drawn. */
  rows: number;
  /** Whether each state is marked with a dot, as for a map. */
  dotted?: boolean;
  /** Whether it is a thin line without a beginning that can be taken. */
  plain?: boolean;
}

/** The radius within which a finger takes a state instead of scrolling the page. */
const GRIP = 16;

/** More marginal points than these are a continuum. */
const MANY = 12;

/** In pixels: the live state is at a point if it is so close. */
const ON_POINT = 4;
/** Where points overlap, the stable ones are seen, and the selected one most of all. */
const HEIGHTS: Record<string, number> = { marginal: 0, unstable: 1, saddle: 2, stable: 3 };

function heightOf({ id, point }: Tracked, selected: number | null): number {
  return id === selected ? 4 : (HEIGHTS[point.kind] ?? 0);
}

const GROUPS = ["outline", "lines", "runs", "slow", "paths", "vectors", "points", "live", "cursor"] as const;
type Group = (typeof GROUPS)[number];

function drawnLine(line: Line): SVGPathElement {
  return svg("path", { class: line.class, d: joined(line.segments).map(pathThrough).join("") });
}

export class Overlay {
  readonly svg: SVGSVGElement;
  private readonly plot: SVGGElement;
  private readonly axes = svg("g", { class: "axes" });
  private readonly groups: Record<Group, SVGGElement>;
  /** A drawing of its own, because that cuts off at its edge for less than a clip path. */
  private readonly inside = svg("svg", { overflow: "hidden" });
  private readonly place = new Float64Array(3);
  private margins = PLANE_MARGINS;
  /** Where the points are drawn. */
  private restingPlaces: [number, number][] = [];

  constructor(n: number, readonly title: string) {
    this.n = n;
    this.groups = Object.fromEntries(GROUPS.map((name) => [name, svg("g", { class: `layer-${name}` })])) as Record<Group, SVGGElement>;
    this.inside.append(...GROUPS.map((name) => this.groups[name]));
    this.plot = svg("g", {}, this.axes, this.inside);
    this.svg = svg("svg", { class: "overlay", "aria-hidden": "true" }, this.plot);
  }

  private readonly n: number;

  resize(width: number, height: number, margins: Margins): void {
    this.margins = margins;
    set(this.svg, { width, height, viewBox: `0 0 ${width} ${height}` });
    set(this.plot, { transform: `translate(${margins.left} ${margins.top})` });
    set(this.inside, { x: 0, y: 0, width: width - margins.left - margins.right, height: height - margins.top - margins.bottom });
  }

  drawAxes(frame: Frame, names: readonly string[]): void {
    if (frame instanceof PlaneFrame) drawPlaneAxes(this.axes, frame, [names[0], names[1]], this.margins);
    else if (frame instanceof SpaceFrame) drawSpaceAxes(this.axes, frame, names);
  }

  /** The outline of the visited region, which changes with the view only. */
  drawOutline(lines: readonly Line[]): void {
    this.groups.outline.replaceChildren(...lines.map(drawnLine));
  }

  /** Lines that change with the flow, such as nullclines. */
  drawLines(lines: readonly Line[]): void {
    if (lines.length === 0 && this.groups.lines.childElementCount === 0) return;
    this.groups.lines.replaceChildren(...lines.map(drawnLine));
  }

  /** Recorded trajectories as one path each, and slow states as dots. */
  drawRecorded(frame: Frame, runs: readonly Float64Array[], slow: Float64Array): void {
    this.groups.runs.replaceChildren(...runs.map((run) => svg("path", { class: "run", d: pathThrough(this.places(frame, run, run.length / this.n)) })));
    const dots = this.places(frame, slow, Math.floor(slow.length / this.n));
    const marks: string[] = [];
    for (let k = 0; k < dots.length; k += 2) if (Number.isFinite(dots[k])) marks.push(`M${px(dots[k])} ${px(dots[k + 1])}h0`);
    const d = marks.join("");
    this.groups.slow.replaceChildren(svg("path", { class: "slow-rim", d }), svg("path", { class: "slow", d }));
  }

  drawPaths(frame: Frame, paths: readonly Path[]): void {
    const parts: Node[] = [];
    for (const path of paths) {
      const places = this.places(frame, path.states, path.rows);
      const d = pathThrough(places);
      if (path.plain === true) {
        parts.push(svg("path", { class: path.class, d }));
        continue;
      }
      parts.push(svg("path", { class: "path-halo", d }), svg("path", { class: `path ${path.class}`, d }));
      if (path.dotted === true) parts.push(svg("path", { class: `path-dots ${path.class}`, d: d.replace(/[ML]([^ML]+)/g, "M$1h0") }));
      if (places.length < 2) continue;
      const centre = { cx: px(places[0]), cy: px(places[1]) };
      parts.push(svg("circle", { class: `path-start ${path.class}`, ...centre, r: 4 }), svg("circle", { class: "grip", ...centre, r: GRIP }));
    }
    this.groups.paths.replaceChildren(...parts);
  }

  drawPoints(frame: Frame, points: readonly Tracked[], selected: number | null, dimmed: boolean): void {
    const many = points.filter(({ point }) => point.kind === "marginal").length > MANY;
    this.restingPlaces = [];
    const above = [...points].sort((a, b) => heightOf(a, selected) - heightOf(b, selected));
    const drawn = above.map(({ id, point }) => {
      frame.place(point.h, this.place);
      const [x, y, far] = this.place;
      this.restingPlaces.push([x, y]);
      const mark = svg("g", { transform: `translate(${px(x)} ${px(y)})`, class: id === selected ? "mark selected" : "mark", "data-point": id });
      if (id === selected) mark.append(svg("circle", { r: 13, class: "selection" }));
      const shape = symbol(point.kind);
      if (many && point.kind === "marginal") set(shape, { transform: "scale(0.65)" }); // a continuum is a line of small marks
      mark.append(shape);
      set(mark, { opacity: px(dimmed ? 0.35 : 1 - 0.6 * far) });
      return mark;
    });
    this.groups.points.replaceChildren(...drawn);
    this.markLive();
  }

  drawVectors(frame: Frame, points: readonly Tracked[]): void {
    this.groups.vectors.replaceChildren(...points.flatMap(({ point }) => drawVectors(frame, point)));
  }

  /** The state that moves, with its recent path. */
  drawLive(frame: Frame, state: Float64Array | null, trail: ArrayLike<number>, rows: number): void {
    const group = this.groups.live;
    if (state === null) {
      group.replaceChildren();
      return;
    }
    if (group.childElementCount === 0)
      group.append(
        ...["trail-halo", "trail"].map((name) => svg("path", { class: name })),
        svg("circle", { r: 7, class: "live-halo" }),
        svg("circle", { r: 5, class: "live", "data-test": "live" }),
        svg("circle", { r: GRIP, class: "grip" }),
      );
    const [halo, path, ring, dot, grip] = group.children;
    const d = pathThrough(this.places(frame, trail, rows));
    frame.place(state, this.place);
    const centre = { cx: px(this.place[0]), cy: px(this.place[1]) };
    if (path.getAttribute("d") !== d) for (const drawn of [halo, path]) set(drawn, { d });
    if (dot.getAttribute("cx") === centre.cx && dot.getAttribute("cy") === centre.cy) return; // a state at rest costs no painting
    for (const drawn of [ring, dot, grip]) set(drawn, centre);
    this.markLive();
  }

  /** A live state that rests on a fixed point is a ring around it, so that neither hides the other. */
  private markLive(): void {
    const [, , ring, dot] = this.groups.live.children;
    if (dot === undefined) return;
    const [x, y] = [Number(dot.getAttribute("cx")), Number(dot.getAttribute("cy"))];
    const rests = this.restingPlaces.some((place) => Math.hypot(place[0] - x, place[1] - y) < ON_POINT);
    dot.classList.toggle("on-point", rests);
    ring.classList.toggle("on-point", rests);
    set(dot, { r: rests ? 10 : 5 });
  }

  /** The crosshair of the keyboard; null hides it. */
  drawCursor(at: readonly [number, number] | null): void {
    if (at === null) this.groups.cursor.replaceChildren();
    else this.groups.cursor.replaceChildren(svg("path", { class: "crosshair", d: `M${px(at[0] - 12)} ${px(at[1])}h24M${px(at[0])} ${px(at[1] - 12)}v24` }));
  }

  private places(frame: Frame, states: ArrayLike<number>, rows: number): Float32Array {
    const made = new Float32Array(2 * rows);
    const h = new Float64Array(this.n);
    for (let k = 0; k < rows; k++) {
      for (let i = 0; i < this.n; i++) h[i] = states[k * this.n + i];
      frame.place(h, this.place);
      made[2 * k] = this.place[0];
      made[2 * k + 1] = this.place[1];
    }
    return made;
  }
}
