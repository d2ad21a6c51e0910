/** The numbers of whatever is under the pointer or the keyboard's crosshair. */
import { eigen } from "../math/eigen";
import { measuringMemory } from "../math/memory";
import type { FixedPoint } from "../math/fixed-points";
import { growthRates, timeConstant } from "../math/stability";
import { element, fill, identifier } from "./dom";
import { complex, duration, percent, shown, withUnit } from "./format";
import { PlaneFrame } from "./frame";
import { motion } from "./grid";
import type { Tracked } from "./overlay";
import type { Pane } from "./pane";
import type { Job, Scheduler } from "./scheduler";
import { MEANING, symbolIcon } from "./symbols";

/** A name and its number. */
export type Fact = readonly [string, string];

const MOST_VALUES = 4;
/** The Jacobian's eigenvalues are computed under the pointer for networks up to this size; for larger ones when it rests. */
const QUICK = 16;
const REST = 160;
/** A memory is simulated for so many bins. */
const MEMORY_BINS = 1000;

function list(values: readonly string[], most: number): string {
  return values.slice(0, most).join(", ") + (values.length > most ? ", \u2026" : "");
}

/** A time constant in words: how long a push takes to shrink, or to grow, by a factor e. */
export function constantWords(seconds: number): string {
  if (Number.isNaN(seconds)) return "undefined";
  if (!Number.isFinite(seconds)) return "\u221e";
  return seconds < 0 ? `grows in ${duration(-seconds)}` : duration(seconds);
}

/** The time constant of the slowest direction, whether pushes die out along it or grow. */
export function slowest(constants: readonly number[]): number {
  return constants.reduce((most, value) => (Math.abs(value) > Math.abs(most) ? value : most), constants[0] ?? NaN);
}

/** The time in which the fastest growing push grows; null if none does. */
export function fastestGrowth(constants: readonly number[]): number | null {
  const growing = constants.filter((value) => value < 0).map((value) => -value);
  return growing.length === 0 ? null : Math.min(...growing);
}

/** How long a fixed point holds a memory: for ever, unless a push grows or, along a continuum, the state drifts. */
export function memoryOfPoint({ kind, timeConstants }: Pick<FixedPoint, "kind" | "timeConstants">): string {
  if (kind === "undefined") return "undefined";
  const growth = fastestGrowth(timeConstants);
  if (kind === "marginal") return `drifts in ${duration(growth ?? Math.abs(slowest(timeConstants)))}`;
  return growth === null || kind === "stable" ? "unlimited" : `a push is lost in ${duration(growth)}`;
}

function outputName(pane: Pane): string {
  return pane.model.base.p === 1 ? "output" : pane.model.network.classes !== null ? "class" : "outputs";
}

function outputsOf(pane: Pane, h: Float64Array): string {
  const y = new Float64Array(pane.model.base.p);
  pane.law.system.readout(h, y);
  const { classes } = pane.model.network;
  if (classes !== null && y.length > 1) {
    const best = y.indexOf(y.reduce((a, b) => Math.max(a, b), -Infinity));
    return classes[best] ?? `class ${best + 1}`;
  }
  return list(Array.from(y, (value) => shown(value)), MOST_VALUES);
}

function gateOf(pane: Pane, h: Float64Array): Fact[] {
  const { system } = pane.law;
  if (!system.hasGate) return [];
  const gate = new Float64Array(system.n);
  system.gate(h, pane.input(), gate);
  return [["gate", list(Array.from(gate, (value) => shown(value, 2)), MOST_VALUES)]];
}

/** Everything that is known of a fixed point. */
export function factsOfPoint(pane: Pane, tracked: Tracked): Fact[] {
  const { point } = tracked;
  const facts: Fact[] = [
    [outputName(pane), outputsOf(pane, point.h)],
    ["speed", withUnit(shown(point.speed), "/s")],
    ["residual", shown(point.residual)],
    [pane.law.map ? "multipliers" : "eigenvalues", list(point.eigenvalues.map(complex), MOST_VALUES)],
    ["time constants", list(point.timeConstants.map(constantWords), MOST_VALUES)],
    ...gateOf(pane, point.h),
    ["memory time", memoryOfPoint(point)],
  ];
  const { frame } = pane;
  if (frame instanceof PlaneFrame && pane.model.n > 2) {
    const at = new Float64Array(2);
    frame.coordinates(point.h, at);
    facts.push(["distance from the plane", shown(frame.distance(point.h, at[0], at[1]))]);
  }
  return facts;
}

/** What is quickly known of any state. */
export function factsOfState(pane: Pane, h: Float64Array): Fact[] {
  const { law, frame } = pane;
  const { system } = law;
  const { n } = system;
  const velocity = new Float64Array(n);
  motion({ system, input: pane.input(), step: law.map ? law.dt : null }, h, 1, velocity);
  const speed = Math.hypot(...velocity);
  const facts: Fact[] = [];
  if (n <= 3) facts.push(["state", list(Array.from(h, (value) => shown(value)), 3)]);
  facts.push([outputName(pane), outputsOf(pane, h)], ["speed", withUnit(shown(speed), "/s")]);
  if (frame instanceof PlaneFrame && n > 2) facts.push(["flow that leaves the plane", percent(leaving(frame, velocity, speed))]);
  facts.push(...gateOf(pane, h));
  if (n <= QUICK) facts.push(...localFacts(pane, h));
  return facts;
}

/** Growth rates and time constants of small pushes at a state. */
function localFacts(pane: Pane, h: Float64Array): Fact[] {
  const { law } = pane;
  const { system } = law;
  const { n } = system;
  const matrix = new Float64Array(n * n);
  const by = law.map ? "map" : "flow";
  if (law.map) system.mapJacobian(h, pane.input(), law.dt, matrix);
  else system.jacobian(h, pane.input(), matrix);
  const { values } = eigen(matrix, n, by);
  const constants = growthRates(values, by, law.dt).map(timeConstant);
  return [[law.map ? "multipliers here" : "eigenvalues here", list(values.map(complex), 3)], ["slowest time constant", constantWords(slowest(constants))]];
}

/** What takes a while: the local numbers of a large network, and how long the output stays as it is. */
function* slowFacts(pane: Pane, h: Float64Array, known: (facts: Fact[]) => void): Job {
  const facts = pane.model.n <= QUICK ? [] : localFacts(pane, h);
  yield;
  const { system, dt } = pane.law;
  const time = yield* measuringMemory(system, h, pane.input(), { dt });
  known([...facts, ["memory time", Number.isFinite(time) ? duration(time) : `over ${duration(MEMORY_BINS * dt)}`]]);
}

function leaving(frame: PlaneFrame, velocity: Float64Array, speed: number): number {
  const { first, second, plane } = frame;
  let a = 0;
  let b = 0;
  for (let i = 0; i < velocity.length; i++) {
    a += first[i] * velocity[i];
    b += second[i] * velocity[i];
  }
  let out = 0;
  for (let i = 0; i < velocity.length; i++) out += (velocity[i] - a * plane.u[i] - b * plane.v[i]) ** 2;
  return speed > 0 ? Math.min(1, out / (speed * speed)) : 0;
}

export function factList(facts: readonly Fact[]): HTMLElement {
  return element("dl", { class: "facts" }, ...facts.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value))));
}

/** A small card beside the pointer. */
export class HoverCard {
  readonly element = element("div", { class: "hover", "aria-hidden": "true", "data-test": "hover" });
  private readonly job = identifier();
  private timer: ReturnType<typeof setTimeout> | null = null;

  constructor(private readonly scheduler: Scheduler) {
    this.element.hidden = true;
  }

  /** Stops what is computed for a place that the pointer has left. */
  private forget(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    this.scheduler.stop(this.job);
  }

  showPoint(pane: Pane, tracked: Tracked, at: readonly [number, number]): void {
    const { kind } = tracked.point;
    const head = element("p", { class: "hover-title" }, `Point ${tracked.id}: ${kind}`);
    head.prepend(symbolIcon(kind));
    fill(this.element, head, element("p", { class: "gnode-note" }, MEANING[kind] ?? ""), factList(factsOfPoint(pane, tracked)));
    this.place(pane, at);
  }

  /** Quick numbers at once, the others when the pointer rests. */
  showState(pane: Pane, h: Float64Array, at: readonly [number, number], title: string | null): void {
    const quick = factsOfState(pane, h);
    const write = (facts: Fact[]): void => {
      fill(this.element, title === null ? null : element("p", { class: "hover-title" }, title), factList([...quick, ...facts]));
      this.place(pane, at);
    };
    write([["memory time", "\u2026"]]);
    this.timer = setTimeout(() => this.scheduler.start(this.job, slowFacts(pane, h, write)), REST);
  }

  /** The card as one sentence, for the live region. */
  get words(): string {
    const title = this.element.querySelector(".hover-title")?.textContent ?? "";
    const facts = [...this.element.querySelectorAll(".facts div")].map((row) => `${row.children[0].textContent ?? ""} ${row.children[1].textContent ?? ""}`);
    return [title, ...facts].filter((part) => part !== "").join("; ");
  }

  private place(pane: Pane, [x, y]: readonly [number, number]): void {
    this.forget();
    const { stage, margins } = pane.portrait;
    if (this.element.parentElement !== stage) stage.append(this.element);
    this.element.hidden = false;
    const { offsetWidth: width, offsetHeight: height } = this.element;
    const left = x + margins.left + 18;
    const top = y + margins.top + 18;
    const flipped = left + width > stage.clientWidth;
    this.element.style.left = `${Math.max(4, flipped ? Math.min(left - width - 36, stage.clientWidth - width - 4) : left)}px`;
    this.element.style.top = `${Math.max(4, Math.min(top, stage.clientHeight - height - 4))}px`;
  }

  hide(): void {
    this.forget();
    this.element.hidden = true;
  }
}
