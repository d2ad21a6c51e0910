/** The bar under a portrait: how the fixed points moved along the way of a slider, and where one was born, died or changed. */
import { button, element, fill, PLAIN } from "./dom";
import type { Tracked } from "./overlay";
import type { Happening, Parameter } from "./tracker";
import type { Colours } from "./theme";

/** What the bar needs to know of a slider. */
export interface Way {
  label: string;
  low: number;
  high: number;
  words(value: number): string;
  /** Puts the slider somewhere; absent if it is a switch. */
  go?(value: number): void;
}

interface Sample {
  value: number;
  /** The point's place along the horizontal axis of the portrait, 0 to 1. */
  place: number;
  kind: string;
}

interface Noted {
  value: number;
  words: string;
  what: Set<Happening["what"]>;
}

const MOST_EVENTS = 40;
const MOST_SAMPLES = 6000;
/** Between two drawings, in seconds. */
const PAUSE = 0.12;
const SHOWN_EVENTS = 4;
const MARKS: Record<Happening["what"], string> = { born: "\u25b2", died: "\u25bc", changed: "\u25c6" };

/** "a stable point and 2 saddles" */
function counted(happenings: readonly Happening[]): string {
  const counts = new Map<string, number>();
  for (const { kind } of happenings) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const noun = (kind: string, many: boolean): string => (kind === "saddle" ? (many ? "saddles" : "saddle") : `${kind} point${many ? "s" : ""}`);
  const parts = [...counts].map(([kind, count]) => (count === 1 ? `${kind === "unstable" ? "an" : "a"} ${noun(kind, false)}` : `${count} ${noun(kind, true)}`));
  return parts.length < 2 ? (parts[0] ?? "") : `${parts.slice(0, -1).join(", ")} and ${parts[parts.length - 1]}`;
}

function sentence(happenings: readonly Happening[]): string {
  const parts: string[] = [];
  const born = happenings.filter(({ what }) => what === "born");
  const died = happenings.filter(({ what }) => what === "died");
  if (born.length > 0) parts.push(`${counted(born)} ${born.length === 1 ? "is" : "are"} born`);
  if (died.length > 0) parts.push(`${counted(died)} ${died.length === 1 ? "vanishes" : "vanish"}`);
  for (const { kind, now } of happenings.filter(({ what }) => what === "changed").slice(0, 2)) parts.push(`a ${kind} point becomes ${now === "saddle" ? "a saddle" : now}`);
  const more = happenings.filter(({ what }) => what === "changed").length - 2;
  if (more > 0) parts.push(`${more} more change`);
  return parts.join("; ");
}

export class EventBar {
  readonly element: HTMLElement;
  private readonly canvas = element("canvas", { class: "branches", "aria-hidden": "true" });
  private readonly list = element("ul", { class: "events", "data-test": "events" });
  private readonly title = element("p", { class: "gnode-note bar-title" });
  private samples: Sample[] = [];
  private events: Noted[] = [];
  private name = "";
  private value = 0;
  private stale = false;
  private waited = 0;

  constructor(
    private readonly wayOf: (name: string) => Way,
    private readonly announce: (words: string) => void,
    private readonly colours: () => Colours,
  ) {
    this.element = element("div", { class: "event-bar", "data-test": "event-bar" }, this.title, this.canvas, this.list);
    this.element.hidden = true;
  }

  /** Forgets everything, as when another network or plane is shown. */
  clear(): void {
    this.samples = [];
    this.events = [];
    this.name = "";
    this.element.hidden = true;
    fill(this.list);
  }

  private begin(parameter: Parameter): void {
    if (parameter.name === this.name) return;
    this.clear();
    this.name = parameter.name;
    this.element.hidden = false;
  }

  passed(parameter: Parameter, points: readonly Tracked[], placeOf: (h: Float64Array) => number): void {
    this.begin(parameter);
    this.value = parameter.value;
    if (this.samples.length > MOST_SAMPLES) this.samples = this.samples.slice(-MOST_SAMPLES / 2);
    for (const { point } of points) this.samples.push({ value: parameter.value, place: placeOf(point.h), kind: point.kind });
    this.stale = true;
  }

  happened(happenings: readonly Happening[]): void {
    const [first] = happenings;
    if (first === undefined) return;
    this.begin(first.parameter);
    const way = this.wayOf(this.name);
    const words = sentence(happenings);
    const text = way.go === undefined ? words : `${way.label} ${way.words(first.parameter.value)}: ${words}`;
    this.events.push({ value: first.parameter.value, words: text, what: new Set(happenings.map(({ what }) => what)) });
    this.events = this.events.slice(-MOST_EVENTS);
    this.announce(text);
    this.write();
    this.stale = true;
  }

  private write(): void {
    const way = this.wayOf(this.name);
    const latest = this.events.slice(-SHOWN_EVENTS).reverse();
    fill(
      this.list,
      ...latest.map((event) => {
        const marks = [...event.what].map((what) => MARKS[what]).join("");
        const go = way.go;
        const inside = go === undefined ? element("span", {}, event.words) : button(event.words, () => go(event.value), { class: "quiet", title: "Put the slider here" });
        return element("li", { "data-test": "event" }, element("span", { class: "event-mark", "aria-hidden": "true" }, marks), inside);
      }),
    );
  }

  /** Draws the branches, a few times a second at most. */
  draw(seconds: number): void {
    this.waited += seconds;
    if (!this.stale || this.element.hidden || this.waited < PAUSE) return;
    this.stale = false;
    this.waited = 0;
    const way = this.wayOf(this.name);
    const title = `Fixed points along ${way.label}: \u25b2 born, \u25bc vanished, \u25c6 changed`;
    if (this.title.textContent !== title) this.title.textContent = title;
    this.canvas.hidden = way.go === undefined;
    if (way.go === undefined) return;
    const pixel = Math.min(2, devicePixelRatio || 1);
    const width = this.canvas.clientWidth;
    const height = this.canvas.clientHeight;
    const context = this.canvas.getContext("2d", PLAIN);
    if (context === null || width === 0) return;
    const [w, h] = [Math.round(width * pixel), Math.round(height * pixel)];
    if (this.canvas.width !== w || this.canvas.height !== h) [this.canvas.width, this.canvas.height] = [w, h];
    context.setTransform(pixel, 0, 0, pixel, 0, 0);
    context.clearRect(0, 0, width, height);
    this.paint(context, width, height, way);
  }

  private paint(context: CanvasRenderingContext2D, width: number, height: number, way: Way): void {
    const colours = this.colours();
    const x = (value: number): number => 8 + ((value - way.low) / (way.high - way.low)) * (width - 16);
    const y = (place: number): number => height - 16 - place * (height - 22);
    context.strokeStyle = colours.line;
    context.beginPath();
    context.moveTo(0, height - 13.5);
    context.lineTo(width, height - 13.5);
    context.stroke();
    for (const kind of new Set(this.samples.map((sample) => sample.kind))) {
      context.fillStyle = colours.kinds[kind] ?? colours.text;
      for (const sample of this.samples)
        if (sample.kind === kind) context.fillRect(x(sample.value) - 1, y(Math.min(1.05, Math.max(-0.05, sample.place))) - 1, 2, 2);
    }
    context.fillStyle = colours.text;
    context.font = "10px system-ui, sans-serif";
    context.textAlign = "center";
    for (const event of this.events) context.fillText([...event.what].map((what) => MARKS[what]).join(""), x(event.value), height - 2);
    context.strokeStyle = colours.text;
    context.beginPath();
    context.moveTo(x(this.value), 2);
    context.lineTo(x(this.value), height - 12);
    context.stroke();
    context.fillStyle = colours.soft;
    context.textAlign = "left";
    context.fillText(way.words(way.low), 2, height - 2);
    context.textAlign = "right";
    context.fillText(way.words(way.high), width - 2, height - 2);
  }

  redraw(): void {
    this.stale = true;
  }
}
