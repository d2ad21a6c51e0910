/** The words under a portrait: what the symbols, the colours and the lines are. */
import { element, fill } from "./dom";
import { pathWords, planeWords } from "./content";
import { plural, shown, withUnit } from "./format";
import type { Pane } from "./pane";
import type { ViewState } from "./store";
import { KINDS, MEANING, symbolIcon } from "./symbols";

/** A list of kinds with the numbers of points. */
export function fillKinds(list: HTMLElement, pane: Pane): void {
  const counts = new Map<string, number>();
  for (const { point } of pane.tracker.points) counts.set(point.kind, (counts.get(point.kind) ?? 0) + 1);
  const items = KINDS.filter((kind) => counts.has(kind)).map((kind) => {
    const item = element("li", { title: MEANING[kind] }, `${counts.get(kind) ?? 0} ${kind}`);
    item.prepend(symbolIcon(kind));
    return item;
  });
  fill(list, ...(items.length > 0 ? items : [element("li", { class: "none" }, pane.tracker.busy ? "looking for fixed points" : "no fixed point")]));
}

/** Kinds with their numbers, and the colour bar of speeds. */
export class Legend {
  readonly element = element("div", { class: "legend" });
  private readonly kinds = element("ul", { class: "kinds", "data-test": "kinds" });
  private readonly low = element("span", { class: "value" });
  private readonly high = element("span", { class: "value" });
  private readonly bar: HTMLElement;
  private written = "";

  constructor() {
    this.bar = element("div", { class: "speed-bar" }, element("span", { class: "name" }, "speed"), this.low, element("span", { class: "ramp" }), this.high);
    this.element.append(this.kinds, this.bar);
  }

  /** The kinds of a single pane; two panes have them above each. */
  showKinds(panes: readonly Pane[]): void {
    this.kinds.hidden = panes.length > 1;
    fillKinds(this.kinds, panes[0]);
  }

  showRange([low, high]: readonly [number, number], space: boolean): void {
    const key = `${low} ${high} ${space}`;
    if (key === this.written) return;
    this.written = key;
    this.bar.hidden = space;
    this.low.textContent = shown(10 ** low, 2);
    this.high.textContent = withUnit(shown(10 ** high, 2), "/s");
  }
}

function inputWords(pane: Pane): string {
  const steady = pane.steadyInput();
  if (steady.length === 0) return "";
  if (steady.every((value) => value === 0)) return " at zero input";
  const moved = [...steady].flatMap((value, i) => (value === 0 ? [] : [`${pane.model.network.input_names[i] ?? `input ${i + 1}`} = ${shown(value)}`]));
  return ` at ${moved.slice(0, 3).join(", ")}${moved.length > 3 ? ", \u2026" : ""}`;
}

/** The caption of the figure, as a journal would print it. */
export function captionOf(panes: readonly Pane[], view: ViewState): string {
  const [pane] = panes;
  const { model } = pane;
  const what = view.map ? "Map" : "Flow";
  const where = pane.inSpace ? "in the space of its three states" : planeWords(model, view.plane);
  const name = ({ model: { network, n } }: Pane): string =>
    `${network.name} (${network.label}, ${plural(n, "state")}${network.epoch === null ? "" : `, epoch ${network.epoch}`})`;
  const first = `${what} of ${panes.map(name).join(" and ")} ${where}${inputWords(pane)}.`;
  const colour = pane.inSpace ? "" : " Colour is speed, a thin line every power of ten;";
  const motion = `${pane.inSpace ? " Particles" : " particles"} follow the flow at a pace that grows with a root of the speed.`;
  const gate = view.openGate && model.base.hasGate ? " The gate is held open." : "";
  const lines: string[] = [];
  if (model.n === 1) lines.push("curve, dh/dt over the state");
  if (view.layers.region && model.visited && model.n > 1 && !pane.inSpace) lines.push("dotted outline, the visited region");
  if (view.layers.nullclines && model.n === 2) lines.push("solid and dashed lines, the nullclines of the two states");
  if (view.layers.slow && model.slow.length > 0) lines.push("yellow dots, slow states");
  if (view.layers.paths && model.runs.length > 0) lines.push(`thin lines, ${pathWords(model)}`);
  if (view.layers.vectors && pane.drawsVectors) lines.push("arrows, eigenvectors: inwards where pushes die out, orange and outwards where they grow");
  lines.push(view.trial === null ? "orange dot, the live state with its recent path; a ring where it is on a fixed point" : "orange, the state in the trial and its path");
  const rest = lines.length === 0 ? "" : ` ${lines.join("; ")}.`;
  return first + colour + motion + rest.replace(/^ [a-z]/, (letter) => letter.toUpperCase()) + gate;
}
