/** The panel behind "?": keys, gestures, and what the words mean. */
import { button, element } from "./dom";

const KEYS: readonly (readonly [string, string])[] = [
  ["1 \u2026 9", "hold for a pulse on that input; with Shift a negative one"],
  ["p", "hold for a pulse on the first input"],
  ["Space", "play or pause a trial"],
  [", and .", "one bin back or on in a trial"],
  ["arrows", "on the portrait: move the crosshair (in space: turn)"],
  ["Shift + arrows", "on the portrait: move the view"],
  ["Enter", "on the portrait: launch a trajectory at the crosshair"],
  ["+ \u2212 0", "zoom in, out, show the whole view"],
  ["[ and ]", "select the previous or next fixed point"],
  ["m", "switch between flow and map"],
  ["g", "hold the gate open or let it work"],
  ["v", "switch between plane and space (three states)"],
  ["s", "stop or start all motion"],
  ["f", "play the film of training"],
  ["c", "clear launched trajectories"],
  ["d", "dark or light"],
  ["Escape", "deselect; close this panel"],
  ["?", "this panel"],
];

const GESTURES: readonly (readonly [string, string])[] = [
  ["click", "launch a trajectory; on a fixed point, select it"],
  ["drag a state", "move the live state (or the beginning of a trajectory)"],
  ["drag elsewhere", "move the view; in space, turn it"],
  ["Ctrl + wheel, pinch", "zoom"],
  ["double click a slider", "put it back"],
];

const WORDS: readonly (readonly [string, string])[] = [
  ["speed", "|dh/dt|, how fast the state moves, in state per second"],
  ["residual", "how far a point is from being exactly fixed"],
  ["eigenvalues", "growth rates of small pushes per second; of a map, factors per step"],
  ["time constant", "the time in which a small push shrinks by a factor e along an eigenvector"],
  ["memory time", "the time in which the output, left alone, has changed by 0.1; at a fixed point, without limit unless pushes grow"],
  ["gate", "1 lets a state move, 0 holds it"],
  ["live state", "the round mark that moves by itself; pulses push it"],
];

function table(rows: readonly (readonly [string, string])[]): HTMLElement {
  return element("dl", { class: "help-list" }, ...rows.map(([name, text]) => element("div", {}, element("dt", {}, name), element("dd", {}, text))));
}

export class Help {
  readonly element: HTMLDialogElement;

  constructor() {
    const close = button("Close", () => this.element.close(), { "data-test": "help-close" });
    this.element = element("dialog", { class: "help", "aria-label": "Help", "data-test": "help" },
      element("div", { class: "help-head" }, element("h2", {}, "Keys, gestures, words"), close),
      element("div", { class: "help-columns" },
        element("div", {}, element("h3", {}, "Keys"), table(KEYS)),
        element("div", {}, element("h3", {}, "Gestures"), table(GESTURES), element("h3", {}, "Words"), table(WORDS))));
  }

  toggle(): void {
    if (this.element.open) this.element.close();
    else this.element.showModal();
  }
}
