/** The controls beside the portrait: inputs, dynamics, the plane, and what is shown. */
import { button, chooser, element, fill } from "./dom";
import { pathWords, solverWords, stateName } from "./content";
import { duration, shown, steady, withUnit } from "./format";
import type { Model } from "./model";
import type { Pulses } from "./pulses";
import { choice, slider, tick, type Slider } from "./sliders";
import type { Layer, PlaneKind, Store } from "./store";

/** More inputs than these are folded away. */
const OPEN_INPUTS = 4;
const LAYER_WORDS: Record<Layer, { label: string; title: string }> = {
  particles: { label: "moving particles", title: "Particles carried by the flow" },
  points: { label: "fixed points", title: "Where the state stands still" },
  vectors: { label: "eigenvectors", title: "Directions along which pushes die out or grow" },
  slow: { label: "slow states", title: "States along which the flow is slow: the slow manifold" },
  nullclines: { label: "nullclines", title: "Where one of the two states stands still" },
  paths: { label: "trajectories", title: "Recorded paths of the state" },
  region: { label: "visited region", title: "The outline of the visited states" },
  leaving: { label: "flow that leaves the plane", title: "Hatching where the flow leaves the plane" },
};

/** A group of controls under a small heading. */
export function group(title: string, test: string, open: boolean, ...children: (HTMLElement | null)[]): HTMLDetailsElement {
  const made = element("details", { class: "group", open, "data-test": test }, element("summary", {}, title));
  for (const child of children) if (child !== null) made.append(child);
  return made;
}

export class Controls {
  readonly element = element("div", { class: "controls" });
  private stops: (() => void)[] = [];

  constructor(
    private readonly store: Store,
    private readonly pulses: Pulses,
    private readonly narrow: () => boolean,
  ) {}

  /** Makes the controls of a network anew. */
  show(model: Model): void {
    for (const stop of this.stops) stop();
    this.stops = [];
    const open = !this.narrow();
    fill(this.element, this.inputs(model), this.dynamics(model, open), this.view(model, open), this.layers(model, open));
  }

  private inputs(model: Model): HTMLElement | null {
    const { m } = model.base;
    if (m === 0) return null;
    const sliders = Array.from({ length: m }, (_, i) => this.input(model, i));
    this.stops.push(this.store.on(["inputs"], ({ inputs }) => sliders.forEach((made, i) => made.set(inputs[i] ?? 0))));
    const made = sliders.map((each) => each.element);
    const rest = made.slice(OPEN_INPUTS);
    const reset = button("Reset", () => this.store.set({ inputs: startInputs(model) }), { class: "quiet", "data-test": "reset-inputs" });
    const more = rest.length === 0 ? null : element("details", { class: "more" }, element("summary", {}, `${rest.length} more inputs`), ...rest);
    const hint = element("p", { class: "gnode-note" }, "Hold + or \u2212 (keys 1\u20139, with Shift for \u2212) for a pulse.");
    return group("Inputs", "group-inputs", true, ...made.slice(0, OPEN_INPUTS), more, element("div", { class: "row" }, hint, reset));
  }

  private input(model: Model, i: number): Slider {
    const name = model.network.input_names[i] ?? `input ${i + 1}`;
    const size = 1.5 * model.inputSizes[i];
    const beside = [this.pulses.button(i, -1, name), this.pulses.button(i, 1, name)];
    return slider(
      {
        test: `input-${i}`, label: name, min: -size, max: size, step: size / 150, rest: 0,
        value: this.store.state.inputs[i] ?? 0,
        words: (value) => steady(value, size < 0.5 ? 3 : 2),
        changed: (value) => this.store.set({ inputs: Array.from({ length: model.base.m }, (_, k) => (k === i ? value : (this.store.state.inputs[k] ?? 0))) }),
      },
      ...beside,
    );
  }

  private dynamics(model: Model, open: boolean): HTMLElement {
    const { store } = this;
    const { base } = model;
    const { state } = store;
    const way = choice("Flow or map", "mode", ["flow", "map"], state.map ? 1 : 0, (k) => store.set({ map: k === 1 }));
    const wayWords = (): string =>
      model.system(store.state).hasStep ? `The map is one step of ${solverWords(model)}.` : `The map is one Euler step: ${solverWords(model)} cannot be shown here.`;
    const tau = this.factor("tau", "time constant \u03c4", state.timeScale, base.tau, (timeScale) => store.set({ timeScale }));
    const dt = this.factor("dt", "time step dt", state.dtScale, base.dt, (dtScale) => store.set({ dtScale }));
    const noise = slider({
      test: "noise", label: "noise", min: 0, max: 2, step: 0.02, rest: 0, value: state.noise,
      words: (value) => (value === 0 ? "none" : withUnit(shown(value), "/\u221as")),
      changed: (value) => store.set({ noise: value }),
    });
    const gate = base.hasGate ? tick("hold the gate open", "open-gate", state.openGate, (openGate) => store.set({ openGate }), "G = 1: the same network without its gate") : null;
    const pace = slider({
      test: "pace", label: "pace", min: -3, max: 1, step: 0.05, rest: Math.log10(state.pace), value: Math.log10(state.pace),
      words: (value) => `1\u00a0s shows ${duration(10 ** value)}`,
      changed: (value) => store.set({ pace: 10 ** value }),
    });
    const note = element("p", { class: "gnode-note" }, wayWords());
    this.stops.push(
      store.on(["map", "timeScale", "dtScale", "noise", "openGate", "pace"], (now) => {
        note.textContent = wayWords();
        way.set(now.map ? 1 : 0);
        tau.set(Math.log10(now.timeScale));
        dt.set(Math.log10(now.dtScale));
        noise.set(now.noise);
        gate?.set(now.openGate);
        pace.set(Math.log10(now.pace));
      }),
    );
    return group("Dynamics", "group-dynamics", open, way.element, note, tau.element, dt.element, noise.element, pace.element, gate?.element ?? null);
  }

  /** A slider over factors from a tenth to ten, in logarithms. */
  private factor(test: string, label: string, factor: number, base: number, changed: (factor: number) => void): Slider {
    return slider({
      test, label, min: -1, max: 1, step: 0.02, rest: 0, value: Math.log10(factor),
      words: (value) => duration(base * 10 ** value),
      changed: (value) => changed(Math.abs(value) < 1e-9 ? 1 : 10 ** value),
    });
  }

  private view(model: Model, open: boolean): HTMLElement | null {
    const { store } = this;
    const { n } = model;
    if (n === 1) return null;
    const body = element("div", { class: "plane-controls" });
    const draw = (): void => {
      const focused = body.contains(document.activeElement) ? document.activeElement?.getAttribute("data-test") : null;
      fill(body, ...this.planeControls(model));
      if (focused !== null && focused !== undefined) body.querySelector<HTMLElement>(`[data-test="${focused}"]`)?.focus();
    };
    draw();
    this.stops.push(store.on(["plane", "direction", "space"], draw));
    const zoom = element("div", { class: "row" },
      button("\u2212", () => this.zoom(1.25), { "aria-label": "Zoom out", "data-test": "zoom-out" }),
      button("+", () => this.zoom(0.8), { "aria-label": "Zoom in", "data-test": "zoom-in" }),
      button("Whole view", () => store.set({ limits: null, camera: { ...store.state.camera, zoom: 1 } }), { "data-test": "zoom-fit" }),
    );
    return group("View", "group-view", open, body, zoom);
  }

  /** Set by the explorer, which knows the limits that are shown. */
  zoom: (factor: number) => void = () => undefined;

  private planeControls(model: Model): HTMLElement[] {
    const { store } = this;
    const { plane, space } = store.state;
    const { n, p } = model.base;
    const parts: HTMLElement[] = [];
    if (n === 3) parts.push(choice("Space or plane", "space", ["plane", "space"], space ? 1 : 0, (k) => store.set({ space: k === 1 })).element);
    if (n === 3 && space) return parts;
    const kinds: { kind: PlaneKind; label: string }[] = [{ kind: "states", label: "two states" }, { kind: "components", label: "principal components" }];
    if (p >= 2) kinds.unshift({ kind: "outputs", label: "two outputs" });
    if (plane.kind === "points") kinds.push({ kind: "points", label: "three chosen points" });
    const select = chooser("Plane of", kinds.map(({ label }) => label), Math.max(0, kinds.findIndex(({ kind }) => kind === plane.kind)), (k) =>
      kinds[k].kind !== "points" && store.set({ plane: { kind: kinds[k].kind, i: 0, j: 1 }, limits: null, depths: [], direction: 0 }));
    select.setAttribute("data-test", "plane-kind");
    parts.push(element("label", { class: "field" }, element("span", {}, "plane of"), select));
    const count = plane.kind === "outputs" ? p : n;
    if (plane.kind !== "points" && count > 2) parts.push(this.axesChooser(model, Math.min(count, 100)));
    if (n > 2) parts.push(...this.depth(model));
    return parts;
  }

  private axesChooser(model: Model, count: number): HTMLElement {
    const { store } = this;
    const { plane } = store.state;
    const name = (k: number): string =>
      plane.kind === "outputs" ? (model.network.output_names[k] ?? `output ${k + 1}`) : plane.kind === "states" ? stateName(k) : `component ${k + 1}`;
    const names = Array.from({ length: count }, (_, k) => name(k));
    const pick = (axis: "i" | "j"): HTMLSelectElement => {
      const select = chooser(axis === "i" ? "Horizontal axis" : "Vertical axis", names, plane[axis], (k) => {
        const other = axis === "i" ? "j" : "i";
        const swapped = k === plane[other] ? plane[axis] : plane[other];
        store.set({ plane: { ...plane, [axis]: k, [other]: swapped }, limits: null, depths: [], direction: 0 });
      });
      select.setAttribute("data-test", `plane-${axis}`);
      return select;
    };
    return element("div", { class: "row axes-row" }, pick("i"), pick("j"));
  }

  private depth(model: Model): HTMLElement[] {
    const { store } = this;
    const { plane, direction, depths } = store.state;
    const found = model.direction(plane, Math.min(direction, model.remaining - 1));
    const [low, high] = found.range;
    const made = slider({
      test: "depth", label: "through the remaining directions", min: low, max: high, step: (high - low) / 200, rest: 0, value: depths[direction] ?? 0,
      words: (value) => steady(value),
      changed: (value) => {
        const next = Array.from({ length: model.remaining }, (_, k) => store.state.depths[k] ?? 0);
        next[direction] = Math.abs(value) < (high - low) / 300 ? 0 : value;
        store.set({ depths: next });
      },
    });
    if (model.remaining < 2) return [made.element];
    const names = Array.from({ length: model.remaining }, (_, k) => `direction ${k + 1}${k === 0 ? " (varies most)" : ""}`);
    const select = chooser("Remaining direction", names, direction, (k) => store.set({ direction: k }));
    select.setAttribute("data-test", "direction");
    return [made.element, select];
  }

  private layers(model: Model, open: boolean): HTMLElement {
    const { store } = this;
    const offered = (Object.keys(LAYER_WORDS) as Layer[]).filter((layer) => {
      if (layer === "nullclines") return model.n === 2;
      if (layer === "leaving") return model.n > 2;
      if (layer === "slow") return model.slow.length > 0;
      if (layer === "paths") return model.runs.length > 0;
      return layer !== "region" || (model.visited && model.n > 1);
    });
    const ticks = offered.map((layer) => {
      const { title } = LAYER_WORDS[layer];
      const label = layer === "paths" ? pathWords(model) : LAYER_WORDS[layer].label;
      return { layer, made: tick(label, `layer-${layer}`, store.state.layers[layer], (on) => store.set({ layers: { ...store.state.layers, [layer]: on } }), title) };
    });
    const moving = tick("motion", "motion", store.state.motion, (motion) => store.set({ motion }), "Whether time passes for particles and the live state");
    this.stops.push(
      store.on(["layers", "motion"], ({ layers, motion }) => {
        for (const { layer, made } of ticks) made.set(layers[layer]);
        moving.set(motion);
      }),
    );
    return group("Show", "group-layers", open, ...ticks.map(({ made }) => made.element), moving.element);
  }

  destroy(): void {
    for (const stop of this.stops) stop();
  }
}

/** The input at which a network's points were found, zero if none is given. */
export function startInputs(model: Model): number[] {
  const held = model.network.x;
  return Array.from({ length: model.base.m }, (_, i) => held?.[i] ?? 0);
}
