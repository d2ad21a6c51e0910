/** One network on the page: what is computed of it, and when what is shown of it must be drawn anew. */
import { PlaneFrame, SpaceFrame, type Frame } from "./frame";
import { GridSampler, slowNodes, speedRange, type Grid } from "./grid";
import { Live } from "./live";
import type { Model } from "./model";
import type { Law } from "./motion";
import type { Tracked } from "./overlay";
import { MOST_STATES_WITH_VECTORS, paint, PARTS, type Part } from "./painting";
import { carrierOf } from "./particles";
import { Portrait } from "./portrait";
import type { Scheduler } from "./scheduler";
import { sampleBox } from "./space";
import { knownStarts, scatteredStarts } from "./starts";
import type { Key, Limits, Store, ViewState } from "./store";
import type { Colours } from "./theme";
import { PointTracker, type Conditions, type Happening, type Parameter, type Starts } from "./tracker";
import { Trajectories } from "./trajectories";
import { emptyRun, runTrial, type TrialRun } from "./trial-run";

/** What panes share, and whom they tell. */
export interface Surroundings {
  store: Store;
  scheduler: Scheduler;
  /** The part of the plane that all panes show. */
  limits(): Limits | null;
  /** The colours' range of speeds, shared by all panes. */
  range(): readonly [number, number];
  pointsChanged(pane: Pane): void;
  happened(pane: Pane, happenings: Happening[]): void;
  passed(pane: Pane, parameter: Parameter, points: readonly Tracked[]): void;
  runChanged(pane: Pane): void;
}

const FIELD: readonly Key[] = ["inputs", "timeScale", "openGate", "map", "dtScale"];
const PLACES: readonly Key[] = ["plane", "limits", "depths", "space", "camera"];

/** A flow that has not changed for so many seconds, and frames where these are slow, is painted in full detail. */
const SHARP_AFTER = 0.25;
const SHARP_AFTER_FRAMES = 3;

/** Points of a continuum are shown at this share of the size of the visited region. */
function spacingOf(model: Model): number {
  const { half } = model.box();
  return 0.03 * Math.sqrt(half.reduce((sum, value) => sum + value * value, 0));
}

let panes = 0;

export class Pane {
  readonly portrait: Portrait;
  readonly tracker: PointTracker;
  readonly trajectories: Trajectories;
  readonly live: Live;
  frame: Frame;
  grid: Grid | null = null;
  run: TrialRun | null = null;
  range: [number, number] = [-1, 1];
  private readonly name = `pane ${++panes}`;
  private readonly sampler: GridSampler;
  private readonly dirty = new Set<Part>(PARTS);
  private readonly stop: () => void;
  private rangeKey = "";
  private sampledInput = "";
  /** For how many seconds the flow has been the same. */
  private rested = 0;
  private restedFrames = 0;
  /** How many bins of the trial are drawn. */
  private drawnBins = -1;

  constructor(
    public model: Model,
    private readonly around: Surroundings,
  ) {
    const { base } = model;
    this.portrait = new Portrait(base.n, `Flow of ${model.network.name}`);
    this.live = new Live(base.n, base.m, base.p);
    this.frame = model.frame(this.view, this.portrait.plot, null);
    this.sampler = new GridSampler(() => this.toSample(), (grid) => this.setGrid(grid));
    this.trajectories = new Trajectories(around.scheduler, this.name, () => this.dirty.add("paths"));
    this.tracker = new PointTracker(around.scheduler, this.name, {
      changed: () => this.pointsChanged(),
      happened: (happenings) => around.happened(this, happenings),
      passed: (parameter, points) => around.passed(this, parameter, points),
    }, spacingOf(model));
    this.stop = around.store.on([...FIELD, ...PLACES, "pulse", "launches", "layers", "selected", "trial", "bin", "noise"], (view, changed) => this.changed(view, changed));
    this.begin();
  }

  private get view(): ViewState {
    return this.around.store.state;
  }

  get inSpace(): boolean {
    return this.view.space && this.model.n === 3;
  }

  /** Whether eigenvectors of all points are drawn, and not of the selected one alone. */
  get drawsVectors(): boolean {
    return this.model.n <= MOST_STATES_WITH_VECTORS;
  }

  /** The system under the sliders. */
  get law(): Law {
    const { view } = this;
    const system = this.model.system(view);
    return { system, map: view.map, dt: system.dt * view.dtScale, noise: view.noise };
  }

  get conditions(): Conditions {
    const { system, map, dt } = this.law;
    return { system, x: this.steadyInput(), kind: map ? "map" : "flow", dt };
  }

  /** The input that the sliders hold. */
  steadyInput(): Float64Array {
    return Float64Array.from({ length: this.model.base.m }, (_, i) => this.view.inputs[i] ?? 0);
  }

  /** The input of this moment: the sliders', plus the trial's, plus a pulse. */
  input(): Float64Array {
    const { m } = this.model.base;
    const { run, view } = this;
    const from = run === null ? -1 : Math.min(Math.floor(view.bin), run.bins - 1) * m;
    return Float64Array.from({ length: m }, (_, i) => (run === null ? (view.inputs[i] ?? 0) : run.inputs[from + i]) + (view.pulse[i] ?? 0));
  }

  /** Whether the points that are shown belong to another input than the flow. */
  get disturbed(): boolean {
    const steady = this.steadyInput();
    return this.input().some((value, i) => Math.abs(value - steady[i]) > 1e-9);
  }

  /** Everything that depends on the network. */
  private begin(): void {
    const { model } = this;
    this.tracker.reset(this.conditions, this.starts());
    const rest = (model.network.points ?? []).find((point) => point.kind === "stable") ?? model.network.points?.[0];
    this.live.put(rest?.h ?? this.initialState());
    this.refit();
    this.renewRun();
    this.renewTrajectories();
  }

  private initialState(): Float64Array {
    const h = new Float64Array(this.model.n);
    this.model.base.initial(this.steadyInput(), h);
    return h;
  }

  /** What Python found, then states away from where the network went. */
  private starts(before: readonly Float64Array[] = []): Starts {
    const { model } = this;
    return { known: [...before, ...knownStarts(model)], more: (...given) => scatteredStarts(model, ...given) };
  }

  /** Shows another network with the same kind of state: its points are followed, as over the epochs of a film. */
  setModel(model: Model, parameter: Parameter, from: number): void {
    this.model = model;
    const points = (model.network.points ?? []).map((point) => Float64Array.from(point.h));
    this.tracker.moveTo({ conditions: this.conditions, parameter, from, step: Infinity, starts: () => points });
    this.refit();
    this.renewRun();
    this.renewTrajectories();
  }

  /** After a change of size, plane or camera. */
  refit(): void {
    this.portrait.fit(this.inSpace);
    this.portrait.stage.classList.toggle("in-space", this.inSpace);
    const { plot } = this.portrait;
    if (this.inSpace) {
      const { centre, half } = this.model.box();
      this.frame = new SpaceFrame(centre, half, this.view.camera, plot);
    } else {
      this.frame = this.model.frame(this.view, plot, this.around.limits());
    }
    for (const part of PARTS) this.dirty.add(part);
    this.renewGrid();
  }

  private changed(view: ViewState, changed: ReadonlySet<Key>): void {
    const has = (keys: readonly Key[]): boolean => keys.some((key) => changed.has(key));
    if (changed.size === 1 && changed.has("camera")) {
      this.turn();
      return;
    }
    if (has(PLACES)) this.refit();
    if (has(FIELD)) this.renewGrid();
    if (has(["trial", "noise", ...FIELD])) this.renewRun();
    if (has(["pulse", "bin", "trial"])) {
      this.inputMayDiffer();
      this.dirty.add("live");
      this.dirty.add("points");
    }
    if (has(["launches", "noise", ...FIELD])) this.renewTrajectories(view.launches);
    if (has(["layers"])) for (const part of PARTS) this.dirty.add(part);
    if (has(["selected"])) this.dirty.add("points");
  }

  /** A turn of the camera needs no new samples. */
  private turn(): void {
    if (!this.inSpace) return;
    const { centre, half } = this.model.box();
    this.frame = new SpaceFrame(centre, half, this.view.camera, this.portrait.plot);
    for (const part of PARTS) this.dirty.add(part);
  }

  private inputMayDiffer(): void {
    if (this.input().join() !== this.sampledInput) this.renewGrid();
  }

  private toSample(): { sampled: { system: Law["system"]; input: Float64Array; step: number | null }; frame: PlaneFrame; sizes: readonly number[] } {
    const { system, map, dt } = this.law;
    const sizes = this.model.n <= 3 ? [21, 49, 97, 161] : this.model.n <= 12 ? [21, 49, 97] : [13, 25, 49];
    return { sampled: { system, input: this.input(), step: map ? dt : null }, frame: this.frame as PlaneFrame, sizes };
  }

  private renewGrid(): void {
    const { scheduler } = this.around;
    this.rested = 0;
    this.restedFrames = 0;
    this.sampledInput = this.input().join();
    if (this.inSpace) {
      const { system, map, dt } = this.law;
      const sampled = { system, input: this.input(), step: map ? dt : null };
      scheduler.stop(`${this.name} grid`);
      scheduler.start(`${this.name} box`, sampleBox(sampled, this.model.box(), (carrier) => this.portrait.particles.setCarrier(carrier)));
      return;
    }
    scheduler.stop(`${this.name} box`);
    this.sampler.renew();
    if (!scheduler.has(`${this.name} grid`)) scheduler.start(`${this.name} grid`, this.sampler.job());
  }

  private setGrid(grid: Grid): void {
    if (this.inSpace) return;
    this.grid = grid;
    const key = `${this.model.network.name} ${JSON.stringify(this.view.plane)} ${this.view.depths.join()} ${this.view.timeScale} ${this.view.openGate}`;
    if (key !== this.rangeKey || !this.disturbed) this.range = speedRange(grid.speed);
    this.rangeKey = key;
    this.portrait.renderer.setGrid(grid);
    this.portrait.particles.setCarrier(carrierOf(grid));
    if (!this.view.motion) this.portrait.particles.settle();
    this.dirty.add("lines");
  }

  /** The places where the sampled flow is slowest: starts for a search for new points. */
  slowStarts(most: number): Float64Array[] {
    return this.grid === null ? [] : slowNodes(this.grid, most);
  }

  private renewTrajectories(launches = this.view.launches): void {
    this.trajectories.renew(launches, this.law, this.input(), (launch) => this.startOf(launch.at, launch.state));
    this.dirty.add("paths");
  }

  /** The state of a launch: its own where it fits this network, else the state at its place in this plane. */
  private startOf(at: readonly [number, number], state: readonly number[] | null): Float64Array {
    if (state !== null && state.length === this.model.n && this.around.store.state.other === null) return Float64Array.from(state);
    const h = new Float64Array(this.model.n);
    const { frame } = this;
    if (frame instanceof PlaneFrame) frame.stateAt(frame.x(at[0]), frame.y(at[1]), h);
    else if (state !== null && state.length === h.length) h.set(state);
    return h;
  }

  private renewRun(): void {
    const { trials } = this.model;
    const { trial } = this.view;
    const { scheduler } = this.around;
    if (trials === null || trial === null) {
      this.run = null;
      scheduler.stop(`${this.name} trial`);
    } else {
      const law = this.law;
      this.run = emptyRun(this.model, trials, Math.min(trial, trials.count - 1), this.steadyInput());
      scheduler.start(`${this.name} trial`, runTrial(this.run, { ...law, map: law.map || law.system.hasStep }));
    }
    this.drawnBins = -1;
    this.dirty.add("live");
    this.dirty.add("paths");
    this.around.runChanged(this);
  }

  private pointsChanged(): void {
    this.dirty.add("points");
    this.around.pointsChanged(this);
  }

  /** Draws one frame; `seconds` have passed for the viewer. */
  draw(seconds: number): void {
    const { view, portrait } = this;
    this.rested += seconds;
    this.restedFrames += 1;
    if (this.run === null && view.motion) {
      if (this.live.advance(this.law, this.input(), seconds, view.pace)) this.dirty.add("live");
    } else if (this.run !== null && this.run.done !== this.drawnBins) {
      this.drawnBins = this.run.done;
      this.dirty.add("live");
      this.dirty.add("paths");
    }
    if (view.motion) portrait.particles.advance(seconds);
    if (this.trajectories.grow(seconds, view.motion)) this.dirty.add("paths");
    const sharp = seconds === 0 || (this.rested > SHARP_AFTER && this.restedFrames > SHARP_AFTER_FRAMES);
    portrait.setMoving(!sharp);
    paint(this, this.view, this.dirty);
    this.dirty.clear();
    portrait.draw({
      matrix: this.frame instanceof SpaceFrame ? this.frame.matrix() : null,
      range: this.around.range(),
      particles: view.layers.particles,
      hatching: view.layers.leaving && this.model.n > 2,
      sharp,
    });
  }

  /** The picture of the flow as it is now, as an address. */
  snapshot(): string {
    this.draw(0);
    return this.portrait.renderer.canvas.toDataURL("image/png");
  }

  /** Looks for points that following may have missed, such as those that were born far from the others; not while it is under way. */
  searchAgain(parameter: Parameter): boolean {
    if (this.tracker.busy) return false;
    this.tracker.search(this.starts(this.slowStarts(this.model.n > 12 ? 3 : 12)), parameter);
    return true;
  }

  setColours(colours: Colours): void {
    this.portrait.setColours(colours);
  }

  destroy(): void {
    this.stop();
    for (const job of ["grid", "box", "trial", "search", "follow"]) this.around.scheduler.stop(`${this.name} ${job}`);
    this.trajectories.destroy();
    this.portrait.destroy();
  }
}

