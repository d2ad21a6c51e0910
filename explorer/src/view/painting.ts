/** Draws those parts of a pane that have changed. */
import { axisNames, graph, nullclines, region, stateName } from "./content";
import { PlaneFrame } from "./frame";
import type { Pane } from "./pane";
import type { ViewState } from "./store";

export const PARTS = ["axes", "outline", "lines", "recorded", "paths", "points", "live"] as const;
export type Part = (typeof PARTS)[number];

/** The most points whose eigenvectors are drawn; more would hide the flow. */
const MOST_VECTORS = 40;
/** Eigenvectors of large networks take long; those of the selected point are drawn. */
export const MOST_STATES_WITH_VECTORS = 16;
/** Trajectories hide each other, in space sooner than in a plane. */
const MOST_RUNS = 40;
const MOST_RUNS_IN_SPACE = 8;
const NONE = new Float64Array();

const PAINTERS: Record<Part, (pane: Pane, view: ViewState) => void> = {
  axes({ frame, model, portrait }, view) {
    portrait.overlay.drawAxes(frame, frame instanceof PlaneFrame ? axisNames(model, view.plane) : [0, 1, 2].map(stateName));
  },
  outline({ frame, model, portrait }, { layers }) {
    portrait.overlay.drawOutline(layers.region && frame instanceof PlaneFrame ? region(model, frame) : []);
  },
  lines({ frame, portrait, grid }, { layers }) {
    const fits = grid !== null && grid.frame.version === frame.version;
    portrait.overlay.drawLines(fits ? [...(layers.nullclines ? nullclines(grid) : []), ...graph(grid)] : []);
  },
  recorded({ frame, model, portrait }, { layers }) {
    portrait.overlay.drawRecorded(frame, layers.paths ? model.runs.slice(0, frame instanceof PlaneFrame ? MOST_RUNS : MOST_RUNS_IN_SPACE) : [], layers.slow ? model.slow : NONE);
  },
  paths({ frame, portrait, trajectories, run }, view) {
    const whole = run === null ? [] : [{ class: "trial-path", states: run.states, rows: run.done, plain: true }];
    portrait.overlay.drawPaths(frame, [...whole, ...trajectories.paths(view.map)]);
  },
  points(pane, { layers, selected }) {
    const { overlay } = pane.portrait;
    const points = layers.points ? pane.tracker.points : [];
    overlay.drawPoints(pane.frame, points, selected, pane.disturbed);
    const all = layers.vectors && pane.drawsVectors;
    const shown = all ? points.slice(0, MOST_VECTORS) : points.filter(({ id }) => id === selected);
    overlay.drawVectors(pane.frame, shown);
  },
  /** The live state, or in a trial its state at the present bin and the way it came. */
  live({ frame, portrait, run, live, model }, view) {
    const { overlay } = portrait;
    if (run === null) {
      overlay.drawLive(frame, live.h, live.trail, live.rows);
      return;
    }
    const bin = Math.min(Math.floor(view.bin), run.done - 1);
    if (bin >= 0) overlay.drawLive(frame, run.states.slice(bin * model.n, (bin + 1) * model.n), run.states, bin + 1);
  },
};

export function paint(pane: Pane, view: ViewState, dirty: ReadonlySet<Part>): void {
  for (const part of PARTS) if (dirty.has(part)) PAINTERS[part](pane, view);
}
