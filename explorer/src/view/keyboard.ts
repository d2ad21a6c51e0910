/** Everything that the pointer can do, by keys. */
import type { Pulses } from "./pulses";

/** What keys do; the explorer knows how. */
export interface KeyActions {
  toggleHelp(): void;
  playTrial(): void;
  stepTrial(bins: number): void;
  selectPoint(by: 1 | -1): void;
  escape(): void;
  moveCrosshair(dx: number, dy: number): void;
  moveView(dx: number, dy: number): void;
  launchAtCrosshair(): void;
  zoom(factor: number): void;
  wholeView(): void;
  toggle(what: "map" | "openGate" | "space" | "motion" | "film" | "theme"): void;
  clear(): void;
}

const ARROWS: Record<string, [number, number]> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

function simple(actions: KeyActions): Record<string, () => void> {
  return {
    "?": () => actions.toggleHelp(),
    ",": () => actions.stepTrial(-1),
    ".": () => actions.stepTrial(1),
    "[": () => actions.selectPoint(-1),
    "]": () => actions.selectPoint(1),
    Escape: () => actions.escape(),
    "+": () => actions.zoom(0.8),
    "=": () => actions.zoom(0.8),
    "-": () => actions.zoom(1.25),
    "0": () => actions.wholeView(),
    m: () => actions.toggle("map"),
    g: () => actions.toggle("openGate"),
    v: () => actions.toggle("space"),
    s: () => actions.toggle("motion"),
    f: () => actions.toggle("film"),
    d: () => actions.toggle("theme"),
    c: () => actions.clear(),
  };
}

/** Whether keys belong to what has the focus: text that is typed, a list that is searched. */
function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return !["range", "checkbox", "radio"].includes(target.type);
  return target instanceof HTMLSelectElement || target instanceof HTMLTextAreaElement || target.isContentEditable;
}

export class Keyboard {
  private readonly plain: Record<string, () => void>;

  /** `target` is the explorer itself, or the document if the page is ours. */
  constructor(
    private readonly target: HTMLElement | Document,
    private readonly root: HTMLElement,
    private readonly actions: KeyActions,
    private readonly pulses: Pulses,
  ) {
    this.plain = simple(actions);
    target.addEventListener("keydown", this.down);
    target.addEventListener("keyup", this.up);
    addEventListener("blur", this.away);
  }

  private readonly down = (given: Event): void => {
    const event = given as KeyboardEvent;
    const open = this.root.querySelector("dialog[open]") !== null;
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || (open && event.key !== "?")) return;
    if (!this.handled(event)) return;
    event.preventDefault();
    event.stopPropagation(); // a notebook around the explorer has keys of its own
  };

  private handled(event: KeyboardEvent): boolean {
    const digit = /^(?:Digit|Numpad)([1-9])$/.exec(event.code);
    if (digit !== null || event.key === "p") {
      if (!event.repeat) this.pulses.begin(`key ${event.code}`, digit === null ? 0 : Number(digit[1]) - 1, event.shiftKey ? -1 : 1);
      return true;
    }
    if (event.key === " ") return this.space(event);
    if (event.target instanceof HTMLElement && event.target.matches(".stage") && this.onPortrait(event)) return true;
    const action = Object.hasOwn(this.plain, event.key) ? this.plain[event.key] : undefined;
    if (action === undefined) return false;
    action();
    return true;
  }

  /** The space bar belongs to buttons and ticks when they have the focus. */
  private space(event: KeyboardEvent): boolean {
    if (event.target instanceof HTMLElement && event.target.closest("button, input, summary, a") !== null) return false;
    if (!event.repeat) this.actions.playTrial();
    return true;
  }

  private onPortrait(event: KeyboardEvent): boolean {
    const arrow = ARROWS[event.key];
    if (arrow !== undefined) {
      if (event.shiftKey) this.actions.moveView(arrow[0], arrow[1]);
      else this.actions.moveCrosshair(arrow[0], arrow[1]);
      return true;
    }
    if (event.key !== "Enter") return false;
    this.actions.launchAtCrosshair();
    return true;
  }

  private readonly up = (given: Event): void => {
    const event = given as KeyboardEvent;
    this.pulses.end(`key ${event.code}`);
  };

  private readonly away = (): void => this.pulses.endAll();

  destroy(): void {
    this.target.removeEventListener("keydown", this.down);
    this.target.removeEventListener("keyup", this.up);
    removeEventListener("blur", this.away);
  }
}
