/** The list of fixed points; it and the portrait select each other. */
import { button, element, fill } from "./dom";
import { duration, shown } from "./format";
import { constantWords, factList, factsOfPoint, fastestGrowth, slowest } from "./hover";
import { nameOf } from "./networks";
import type { Tracked } from "./overlay";
import type { Pane } from "./pane";
import type { Store } from "./store";
import { symbolIcon } from "./symbols";
import { MOST_ISOLATED } from "./tracker";

const FEW = 14;

export class PointsList {
  readonly element: HTMLElement;
  private readonly body = element("tbody");
  private readonly head = element("tr");
  private readonly details = element("div", { class: "point-details", "data-test": "point-details" });
  private readonly note = element("p", { class: "gnode-note", "data-test": "points-note" });
  private readonly more: HTMLButtonElement;
  private readonly scroll = element("div", { class: "gnode-scroll", tabindex: 0, role: "region", "aria-label": "Table of fixed points" });
  private readonly hint = element("p", { class: "gnode-note", "data-test": "points-scroll" }, "The table goes on to the right: scroll it sideways.");
  private all = false;
  private written = "";
  private pane: Pane | null = null;
  private readonly stop: () => void;

  constructor(private readonly store: Store) {
    const table = element("table", { class: "gnode-table points-table", "data-test": "points" }, element("caption", { class: "hidden" }, "Fixed points"), element("thead", {}, this.head), this.body);
    this.scroll.append(table);
    this.hint.hidden = true;
    this.more = button("Show all", () => this.toggle(), { class: "quiet", "data-test": "points-more" });
    this.element = element("section", { class: "points", "aria-label": "Fixed points" },
      element("h2", {}, "Fixed points"), this.note, element("div", { class: "points-body" }, element("div", {}, this.scroll, this.hint, this.more), this.details));
    this.stop = store.on(["selected", "chosen", "layers", "other"], () => this.write());
  }

  private toggle(): void {
    this.all = !this.all;
    this.more.textContent = this.all ? "Show fewer" : "Show all";
    this.write();
  }

  show(pane: Pane): void {
    this.pane = pane;
    this.write();
  }

  private write(): void {
    const { pane } = this;
    if (pane === null) return;
    const { points } = pane.tracker;
    const { selected, chosen } = this.store.state;
    const canChoose = pane.model.n > 2;
    const outputs = Math.min(3, pane.model.base.p);
    const shownPoints = this.all ? points : points.filter((tracked, k) => k < FEW || tracked.id === selected);
    const key = JSON.stringify([whose(pane, this.store), pane.tracker.isFull, points.length === 0 && pane.tracker.busy, selected, chosen, this.all, pane.law.map, shownPoints.map(({ id, point }) => [id, point.kind, shown(point.speed), constantWords(slowest(point.timeConstants)), shown(point.h[0], 5)])]);
    if (key === this.written) return;
    this.written = key;
    const focused = (this.element.getRootNode() as Document).activeElement?.getAttribute("data-test");
    const names = ["", "kind", ...pane.model.network.output_names.slice(0, outputs), "slowest time constant", "a push grows in"];
    fill(this.head, ...names.map((name, k) => element("th", { scope: "col", class: k > 1 ? "number" : null }, name)), canChoose ? element("th", { scope: "col" }, "plane through") : null);
    fill(this.body, ...shownPoints.map((tracked) => this.row(pane, tracked, outputs, canChoose)));
    this.more.hidden = points.length <= FEW;
    this.fit();
    this.note.textContent = whose(pane, this.store) + noteOf(pane, canChoose);
    const tracked = pane.tracker.byId(selected);
    fill(this.details, ...(tracked === null ? [] : [element("h3", {}, `Point ${tracked.id}, ${tracked.point.kind}`), factList([...factsOfPoint(pane, tracked), ["state", stateWords(tracked)]])]));
    if (focused?.startsWith("point-") === true) this.element.querySelector<HTMLElement>(`[data-test="${focused}"]`)?.focus();
  }

  /** Says that the table scrolls where it is wider than its place. */
  fit(): void {
    this.hint.hidden = this.scroll.scrollWidth <= this.scroll.clientWidth + 1;
  }

  private row(pane: Pane, tracked: Tracked, outputs: number, canChoose: boolean): HTMLElement {
    const { id, point } = tracked;
    const { selected, chosen } = this.store.state;
    const y = new Float64Array(pane.model.base.p);
    pane.law.system.readout(point.h, y);
    const name = button(String(id), () => this.store.set({ selected: selected === id ? null : id }), {
      class: "point-button", "data-test": `point-${id}`, "aria-pressed": selected === id ? "true" : "false", "aria-label": `Point ${id}, ${point.kind}`,
    });
    name.prepend(symbolIcon(point.kind));
    const row = element("tr", { class: selected === id ? "selected" : null, "data-kind": point.kind },
      element("td", {}, name), element("td", {}, point.kind),
      ...Array.from(y.subarray(0, outputs), (value) => element("td", { class: "number" }, shown(value))),
      element("td", { class: "number" }, constantWords(Math.abs(slowest(point.timeConstants)))),
      element("td", { class: "number" }, growthWords(point.timeConstants)));
    if (canChoose) {
      const box = element("input", { type: "checkbox", "aria-label": `Plane through point ${id}`, "data-test": `choose-${id}` });
      box.checked = chosen.includes(id);
      box.addEventListener("change", () => this.choose(id, box.checked));
      row.append(element("td", {}, box));
    }
    row.addEventListener("click", (event) => {
      if (event.target instanceof HTMLElement && event.target.closest("button, input") === null) name.click();
    });
    return row;
  }

  /** The third chosen point makes the plane. */
  private choose(id: number, on: boolean): void {
    const { pane, store } = this;
    if (pane === null) return;
    const chosen = on ? [...store.state.chosen.filter((other) => other !== id), id].slice(-3) : store.state.chosen.filter((other) => other !== id);
    const points = chosen.map((other) => pane.tracker.byId(other)).filter((tracked) => tracked !== null);
    if (points.length < 3) store.set({ chosen });
    else store.set({ chosen, space: false, limits: null, depths: [], direction: 0, plane: { kind: "points", i: 0, j: 1, points: points.map(({ point }) => Array.from(point.h, rounded)) } });
  }

  destroy(): void {
    this.stop();
  }
}

/** Of two networks the first one's points are listed. */
function whose({ model }: Pane, store: Store): string {
  return store.state.other === null ? "" : `Points of ${nameOf(model.network)}. `;
}

function noteOf({ tracker }: Pane, canChoose: boolean): string {
  if (tracker.points.length === 0) return tracker.busy ? "Looking for fixed points." : "No fixed point is known at this input.";
  const full = tracker.isFull ? `There are more than ${MOST_ISOLATED} isolated points; the others are not shown. ` : "";
  return `${full}Select a point here or in the portrait${canChoose ? "; choose three for a plane through them" : ""}.`;
}

function growthWords(constants: readonly number[]): string {
  const growth = fastestGrowth(constants);
  return growth === null ? "\u2013" : duration(growth);
}

/** Six digits are enough for a plane, and keep the link short. */
function rounded(value: number): number {
  return Number(value.toPrecision(6));
}

function stateWords({ point }: Tracked): string {
  return Array.from(point.h.subarray(0, 8), (value) => shown(value, 4)).join(", ") + (point.h.length > 8 ? ", \u2026" : "");
}
