/** The player: input, target, output and the state's path of a trial together; without a trial, the recent past of the live state. */
import { button, chooser, element } from "./dom";
import { solverWords } from "./content";
import { channelLegend } from "./channels";
import { duration, shown, steady } from "./format";
import type { Pane } from "./pane";
import { slider, type Slider } from "./sliders";
import type { Store } from "./store";
import type { Colours } from "./theme";
import type { TrialRun } from "./trial-run";
import { MOST_CHANNELS, TracePainter, type Channel, type Panel, type Traces } from "./traces";

/** Between two pictures of the live state's past, in seconds. */
const LIVE_PAUSE = 0.06;
const SPEEDS = [0.25, 0.5, 1, 2, 4];

export class TrialPlayer {
  readonly element: HTMLElement;
  private readonly painter: TracePainter;
  private readonly head = element("div", { class: "player" });
  private readonly words = element("p", { class: "gnode-note", "data-test": "trial-words" });
  private readonly channels = element("ul", { class: "channels", "data-test": "channels" });
  private scrub: Slider | null = null;
  private play: HTMLButtonElement | null = null;
  private pane: Pane | null = null;
  private stale = true;
  private waited = 0;
  private drawn = -1;
  private readonly stop: () => void;

  constructor(
    private readonly store: Store,
    private readonly colours: () => Colours,
  ) {
    const canvas = element("canvas", { class: "traces", role: "img", "aria-label": "Inputs and outputs over time", "data-test": "traces" });
    this.painter = new TracePainter(canvas);
    this.element = element("section", { class: "trials", "aria-label": "Inputs and outputs over time" }, element("h2", {}, "In time"), this.head, canvas, this.channels, this.words);
    this.stop = store.on(["trial", "bin", "playing", "speed"], (_view, changed) => {
      if (changed.has("trial")) this.painter.forget();
      this.sync();
    });
  }

  show(pane: Pane): void {
    this.pane = pane;
    this.painter.forget();
    this.head.replaceChildren(...this.controls(pane));
    this.channels.replaceChildren(...channelLegend(pane.model));
    this.sync();
  }

  private controls(pane: Pane): HTMLElement[] {
    const { trials } = pane.model;
    const { store } = this;
    if (trials === null) return [element("p", { class: "gnode-note", "data-test": "without-trials" }, pane.model.network.without_trials ?? "There are no trials; this is the live state.")];
    const names = ["free: the live state", ...Array.from({ length: trials.count }, (_, k) => `trial ${k + 1}`)];
    const select = chooser("Trial", names, store.state.trial === null ? 0 : store.state.trial + 1, (k) => store.set({ trial: k === 0 ? null : k - 1, bin: 0, playing: k !== 0 && store.state.motion }));
    select.setAttribute("data-test", "trial");
    this.play = button("Play", () => this.toggle(), { "data-test": "play" });
    this.scrub = slider({
      test: "scrub", label: "time", min: 0, max: Math.max(1, trials.bins - 1), step: 1, rest: 0, value: store.state.bin,
      words: (bin) => duration(bin * trials.dt),
      changed: (bin) => store.set({ bin, playing: false, trial: store.state.trial ?? 0 }),
    });
    const speed = chooser("Speed", SPEEDS.map((value) => `${value}\u00d7`), Math.max(0, SPEEDS.indexOf(store.state.speed)), (k) => store.set({ speed: SPEEDS[k] }));
    speed.setAttribute("data-test", "speed");
    return [element("div", { class: "row" }, select, this.play, speed), this.scrub.element];
  }

  /** Plays from here, or from the beginning if the end is reached. */
  toggle(): void {
    const { store, pane } = this;
    if (pane === null || pane.model.trials === null) return;
    const { playing, trial, bin } = store.state;
    if (playing) store.set({ playing: false });
    else if (trial === null) store.set({ trial: 0, bin: 0, playing: true });
    else store.set({ playing: true, bin: bin >= this.lastBin ? 0 : bin });
  }

  private get lastBin(): number {
    return (this.pane?.run?.bins ?? 1) - 1;
  }

  private sync(): void {
    const { playing, trial, bin } = this.store.state;
    this.stale = true;
    if (this.play !== null) {
      this.play.textContent = playing ? "Pause" : "Play";
      this.play.setAttribute("aria-pressed", playing ? "true" : "false");
    }
    const select = this.head.querySelector("select");
    if (select !== null) select.value = String(trial === null ? 0 : trial + 1);
    this.scrub?.limit(0, Math.max(1, this.lastBin));
    this.scrub?.set(Math.floor(bin));
  }

  redraw(): void {
    this.stale = true;
  }

  /** Lets the trial's time pass, and draws. */
  frame(seconds: number): void {
    const { store, pane } = this;
    if (pane === null) return;
    const { playing, bin, pace, speed } = store.state;
    const { run } = pane;
    if (playing && run !== null) {
      const next = bin + (seconds * pace * speed) / run.dt;
      if (next >= run.bins - 1) store.set({ bin: run.bins - 1, playing: false });
      else store.set({ bin: next });
    }
    const progress = run === null ? pane.live.time : run.done; // the end of a computation is drawn, too
    const live = progress !== this.drawn;
    this.waited += seconds;
    if (!this.stale && !(live && this.waited > LIVE_PAUSE)) return;
    this.stale = false;
    this.waited = 0;
    this.drawn = progress;
    this.painter.draw(run === null ? this.recent(pane) : this.trial(pane), this.colours());
  }

  private trial(pane: Pane): Traces {
    const run = pane.run as NonNullable<Pane["run"]>;
    const { m, p } = pane.model.base;
    const bin = Math.min(Math.floor(this.store.state.bin), run.bins - 1);
    const targets = run.targets;
    const outputs: Channel[] = targets === null ? [] : channels(targets, p, true);
    const known = run.outputs.map((value, k) => (k < run.done * p ? value : NaN));
    outputs.push(...channels(known, p, false));
    const marks = Array.from({ length: Math.min(p, MOST_CHANNELS) }, (_, k) => ({ value: known[bin * p + k], colour: k })).filter(({ value }) => Number.isFinite(value));
    this.words.textContent = this.trialWords(pane, bin);
    return {
      times: Float64Array.from({ length: run.bins }, (_, k) => k * run.dt), rows: run.bins, row: (k) => k,
      from: 0, to: (run.bins - 1) * run.dt, cursor: bin * run.dt,
      panels: panelsOf(m, p, channels(run.inputs, m, false), outputs, marks, targets !== null),
    };
  }

  private trialWords(pane: Pane, bin: number): string {
    const run = pane.run as NonNullable<Pane["run"]>;
    const { p } = pane.model.base;
    const { classes } = pane.model.network;
    const y = run.outputs.subarray(bin * p, (bin + 1) * p);
    const by = pane.law.map || pane.law.system.hasStep ? solverWords(pane.model) : "the page's own Runge-Kutta steps";
    if (classes !== null && p > 1) {
      return `At ${duration(bin * run.dt)} the largest output is ${className(classes, largest(y))}.${answerWords(run, bin, p, classes)} Run in this page by ${by}.`;
    }
    return `Error at ${duration(bin * run.dt)}: ${errorWords(run.targets, run.outputs, bin, p)}. Run in this page by ${by}.`;
  }

  private recent(pane: Pane): Traces {
    const { record, m, p, time } = pane.live;
    const size = record.times.length;
    const window = Math.max(8 * this.store.state.pace, 10 * pane.model.base.dt);
    const input = pane.input();
    const words = `The last ${duration(window)} of the live state${input.length > 0 ? `; input ${Array.from(input.subarray(0, 4), (value) => steady(value)).join(", ")}` : ""}.`;
    if (this.words.textContent !== words) this.words.textContent = words;
    return {
      times: record.times, rows: record.count, row: (k) => (record.next - record.count + k + size) % size,
      from: time - window, to: time, cursor: null,
      panels: panelsOf(m, p, channels(record.inputs, m, false), channels(record.outputs, p, false), [], false),
    };
  }

  destroy(): void {
    this.stop();
  }
}

function channels(values: ArrayLike<number>, stride: number, dashed: boolean): Channel[] {
  return Array.from({ length: Math.min(stride, MOST_CHANNELS) }, (_, k) => ({ values, offset: k, stride, colour: k, dashed }));
}

function panelsOf(m: number, p: number, inputs: Channel[], outputs: Channel[], marks: Panel["marks"], targets: boolean): Panel[] {
  const some = (count: number): string => (count > MOST_CHANNELS ? ` (${MOST_CHANNELS} of ${count})` : "");
  const panels: Panel[] = [{ name: `${targets ? "output and target" : "output"}${some(p)}`, channels: outputs, marks }];
  if (m > 0) panels.unshift({ name: `input${some(m)}`, channels: inputs, steps: true });
  return panels;
}

/** The place of the largest of some numbers. */
function largest(values: Float64Array): number {
  return values.indexOf(values.reduce((a, b) => Math.max(a, b), -Infinity));
}

function className(classes: readonly string[], k: number): string {
  return `"${classes[k] ?? k + 1}"`;
}

/** The right class at a bin, or where the next answer counts, and whether the network gives it. */
function answerWords({ targets, outputs, bins, dt, done }: TrialRun, bin: number, p: number, classes: readonly string[]): string {
  if (targets === null) return "";
  const counts = (at: number): boolean => Number.isFinite(targets[at * p]);
  let asked = bin;
  while (asked < bins && !counts(asked)) asked += 1;
  if (asked === bins) for (asked = bin; asked >= 0 && !counts(asked); ) asked -= 1;
  if (asked < 0) return " This trial has no right class.";
  const right = largest(targets.subarray(asked * p, (asked + 1) * p));
  const said = ` The right class ${asked === bin ? "" : `at ${duration(asked * dt)} `}is ${className(classes, right)}`;
  if (asked >= done) return `${said}.`;
  const given = largest(outputs.subarray(asked * p, (asked + 1) * p));
  return given === right ? `${said}, and the network gives it.` : `${said}, but the network gives ${className(classes, given)}.`;
}

function errorWords(targets: Float64Array | null, outputs: Float64Array, bin: number, p: number): string {
  if (targets === null) return "no target";
  let sum = 0;
  for (let k = 0; k < p; k++) sum += (targets[bin * p + k] - outputs[bin * p + k]) ** 2;
  return Number.isNaN(sum) ? "no target" : shown(Math.sqrt(sum / p), 2);
}
