/** Pulses: an input that is held for as long as a key or a button is. */
import { button } from "./dom";
import type { Store } from "./store";

/** A tap lasts at least this long for the viewer, so that it is not lost between two frames. */
const SHORTEST = 220;

export class Pulses {
  private readonly began = new Map<string, number>();
  private readonly ends = new Map<string, ReturnType<typeof setTimeout>>();
  private readonly given = new Map<string, { channel: number; size: number }>();

  constructor(
    private readonly store: Store,
    private readonly sizes: () => readonly number[],
  ) {}

  /** Begins a pulse; `source` tells keys and buttons apart. */
  begin(source: string, channel: number, sign: 1 | -1): void {
    const size = this.sizes()[channel];
    if (size === undefined || this.given.has(source)) return;
    this.given.set(source, { channel, size: sign * size });
    this.began.set(source, performance.now());
    this.publish();
  }

  end(source: string): void {
    if (!this.given.has(source) || this.ends.has(source)) return;
    const lasted = performance.now() - (this.began.get(source) ?? 0);
    const finish = (): void => {
      this.ends.delete(source);
      this.given.delete(source);
      this.publish();
    };
    if (lasted >= SHORTEST) finish();
    else this.ends.set(source, setTimeout(finish, SHORTEST - lasted));
  }

  endAll(): void {
    for (const source of [...this.given.keys()]) this.end(source);
  }

  private publish(): void {
    const pulse = this.sizes().map(() => 0);
    for (const { channel, size } of this.given.values()) if (channel < pulse.length) pulse[channel] += size;
    this.store.set({ pulse });
  }

  /** A button that gives a pulse while it is pressed, by pointer or by the space bar. */
  button(channel: number, sign: 1 | -1, name: string): HTMLButtonElement {
    const source = `button ${channel} ${sign}`;
    const made = button(sign > 0 ? "+" : "\u2212", () => undefined, {
      class: "pulse",
      "aria-label": `Hold for a ${sign > 0 ? "positive" : "negative"} pulse on ${name}`,
      title: `Hold: a ${sign > 0 ? "positive" : "negative"} pulse on ${name}${channel < 9 ? ` (key ${sign < 0 ? "Shift + " : ""}${channel + 1})` : ""}`,
      "data-test": `pulse-${channel}-${sign > 0 ? "plus" : "minus"}`,
    });
    made.addEventListener("pointerdown", (event) => {
      made.setPointerCapture(event.pointerId);
      this.begin(source, channel, sign);
    });
    for (const type of ["pointerup", "pointercancel", "blur"] as const) made.addEventListener(type, () => this.end(source));
    made.addEventListener("keydown", (event) => {
      if ((event.key === " " || event.key === "Enter") && !event.repeat) this.begin(source, channel, sign);
    });
    made.addEventListener("keyup", (event) => {
      if (event.key === " " || event.key === "Enter") this.end(source);
    });
    made.addEventListener("contextmenu", (event) => event.preventDefault());
    return made;
  }

  destroy(): void {
    for (const timer of this.ends.values()) clearTimeout(timer);
  }
}
