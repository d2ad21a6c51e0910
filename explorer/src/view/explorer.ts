/** The whole explorer: builds the page, and joins what its parts do. */
import { Acts } from "./acts";
import { Controls } from "./controls";
import { append, element, fill } from "./dom";
import { EventBar } from "./event-bar";
import { fileName, pngBlob, save, svgText } from "./export";
import { fittingView, plainView, viewOfOther } from "./first-view";
import { headerOf, kindWords, sayTheme } from "./header";
import { Help } from "./help";
import { HoverCard } from "./hover";
import { Keyboard } from "./keyboard";
import { captionOf, fillKinds, Legend } from "./legend";
import { LinkKeeper, read } from "./link";
import { Loop, type Stats } from "./loop";
import { Model } from "./model";
import { nameOf, NetworksBar } from "./networks";
import { Pane, type Surroundings } from "./pane";
import { Pointer } from "./pointer";
import { PointsList } from "./points-list";
import { Pulses } from "./pulses";
import { Scheduler } from "./scheduler";
import { Store, type Key, type Limits, type Theme, type ViewState } from "./store";
import { coloursOf, ThemeKeeper, type Colours } from "./theme";
import { TrialPlayer } from "./trials";
import type { Parameter } from "./tracker";
import { movedParameter, wayOf } from "./ways";
import type { ExplorerDocument } from "../math/system";

export interface MountOptions {
  /** Whether the view is kept in the page's address. */
  link?: boolean;
  theme?: Theme;
  /** Whether title and verdict are shown. */
  header?: boolean;
  /** Whether keys are heard in the whole page. */
  page?: boolean;
}

/** A frame's time for jobs in milliseconds: with the drawing it leaves room for 60 frames a second. */
const BUDGET = 6;
/** Where frames are slow for other reasons, a share of them is for jobs, up to a limit: slower frames must not make themselves slower still. */
const BUDGET_SHARE = 0.35;
const MOST_BUDGET = 12;
const REST = 350;
/** Between two writings of captions and lists while points move, in seconds. */
const WORDS_PAUSE = 0.25;
const NARROW = 720;

export class Explorer {
  readonly store: Store;
  readonly panes: Pane[] = [];
  private readonly models = new Map<number, Model>();
  private readonly pointers: Pointer[] = [];
  private readonly scheduler = new Scheduler();
  private readonly root: HTMLElement;
  private readonly panesElement = element("div", { class: "panes" });
  private readonly caption = element("p", { class: "caption", "data-test": "caption" });
  private readonly live = element("p", { class: "hidden", role: "status", "aria-live": "polite", "data-test": "announcer" });
  private readonly legend = new Legend();
  private readonly card = new HoverCard(this.scheduler);
  private readonly help = new Help();
  private readonly points: PointsList;
  private readonly bar: EventBar;
  private readonly player: TrialPlayer;
  private readonly controls: Controls;
  private readonly networks: NetworksBar;
  private readonly pulses: Pulses;
  private readonly theme: ThemeKeeper;
  private readonly link: LinkKeeper | null;
  private readonly keyboard: Keyboard;
  private readonly loop: Loop;
  private readonly sizes: ResizeObserver;
  private readonly acts: Acts;
  private colours: Colours;
  private before: ViewState;
  private searchTimer: ReturnType<typeof setTimeout> | null = null;
  private wordsStale = true;
  private wordsAge = 0;

  constructor(
    readonly host: HTMLElement,
    private readonly given: ExplorerDocument,
    private readonly options: MountOptions,
  ) {
    this.root = element("div", { class: "gnode", "data-test": "explorer" });
    host.replaceChildren(this.root);
    const modelOf = (index: number): Model => this.model(index);
    const plain = plainView(given.networks, modelOf, options.theme ?? "auto");
    const fitting = (found: Partial<ViewState>): ViewState => fittingView({ ...plain, ...found }, plain, given.networks, modelOf);
    this.store = new Store(fitting(options.link === true ? read(location.hash) : {}));
    this.before = this.store.state;
    this.theme = new ThemeKeeper(this.root, this.store, () => this.recolour());
    this.colours = coloursOf(this.root);
    this.pulses = new Pulses(this.store, () => this.model(this.store.state.network).inputSizes);
    this.points = new PointsList(this.store);
    this.bar = new EventBar((name) => this.way(name), (words) => this.announce(words), () => this.colours);
    this.player = new TrialPlayer(this.store, () => this.colours);
    this.controls = new Controls(this.store, this.pulses, () => this.root.clientWidth < NARROW);
    this.networks = new NetworksBar(this.store, given.networks);
    this.link = options.link === true ? new LinkKeeper(this.store, plain, (found) => this.store.set(fitting({ ...this.store.state, ...found }))) : null;
    this.acts = new Acts(this.store, () => this.panes, (words) => this.announce(words), this.card);
    this.controls.zoom = (factor) => this.acts.zoom(factor, this.panes[0], null);
    this.build();
    this.keyboard = new Keyboard(options.page === true ? document : this.root, this.root, this.acts.keys({
      help: () => this.help.toggle(), play: () => this.player.toggle(), film: () => this.networks.toggle(), theme: () => this.theme.toggle(),
    }), this.pulses);
    this.store.on(["network", "other"], (view, changed) => this.networksChanged(view, changed));
    this.store.on(["inputs", "timeScale", "dtScale", "openGate", "map"], (view, changed) => this.conditionsChanged(view, changed));
    this.store.on(["plane", "depths", "limits", "space"], () => this.bar.clear());
    this.store.on(["plane", "inputs", "map", "layers", "openGate", "space", "network", "other", "trial"], () => (this.wordsStale = true));
    sayTheme(this.root, this.theme.shown);
    this.rebuildPanes();
    this.sizes = new ResizeObserver(() => this.resized());
    this.sizes.observe(this.panesElement);
    this.loop = new Loop(this.root, (seconds) => this.frame(seconds));
  }

  private model(index: number): Model {
    const known = this.models.get(index);
    if (known !== undefined) return known;
    const made = new Model(this.given.networks[index]);
    this.models.set(index, made);
    return made;
  }

  private build(): void {
    const tools = {
      link: this.link === null ? null : () => void this.copyLink(),
      png: () => void this.savePng(),
      svg: () => save(new Blob([svgText(this.panes, this.root)], { type: "image/svg+xml" }), fileName(this.given.title, "svg")),
      theme: () => this.theme.toggle(),
      help: () => this.help.toggle(),
    };
    const notes = element("div", { class: "notes" });
    const caption = element("figcaption", {}, this.legend.element, this.caption, notes);
    const figure = element("figure", { class: "figure" }, this.panesElement, this.bar.element, caption);
    const body = element("div", { class: "body" }, figure, element("aside", { class: "side", "aria-label": "Controls" }, this.controls.element));
    append(this.root, headerOf(this.given, tools, this.options.header !== false), this.networks.element, body, this.player.element, this.points.element, this.help.element, this.live);
  }

  private readonly around: Surroundings = {
    store: undefined as unknown as Store,
    scheduler: this.scheduler,
    limits: () => this.limits(),
    range: () => this.range(),
    pointsChanged: () => (this.wordsStale = true),
    happened: (pane, happenings) => {
      this.wordsAge = WORDS_PAUSE; // the list changes in the same frame as the events
      if (pane === this.panes[0]) this.bar.happened(happenings);
    },
    passed: (pane, parameter, points) => pane === this.panes[0] && this.bar.passed(parameter, points, this.acts.placeOf(pane)),
    runChanged: () => this.player.redraw(),
  };

  /** Two planes of one kind share their limits, so that the same place means the same in both. */
  private limits(): Limits | null {
    const { limits, plane, other, network } = this.store.state;
    if (limits !== null || other === null) return limits;
    const all = [network, other].map((index) => this.model(index).plane(plane).limits);
    return [Math.min(...all.map((l) => l[0])), Math.max(...all.map((l) => l[1])), Math.min(...all.map((l) => l[2])), Math.max(...all.map((l) => l[3]))];
  }

  private range(): readonly [number, number] {
    return [Math.min(...this.panes.map((pane) => pane.range[0])), Math.max(...this.panes.map((pane) => pane.range[1]))];
  }

  private way(name: string): ReturnType<typeof wayOf> {
    const epochs = this.given.networks.flatMap(({ epoch }) => (epoch === null ? [] : [epoch]));
    const go = (epoch: number): void => {
      const found = this.given.networks.findIndex((network) => network.epoch === Math.round(epoch));
      if (found >= 0) this.store.set({ network: found });
    };
    return wayOf(name, this.model(this.store.state.network), this.store, epochs, go);
  }

  /** Makes the panes of the networks that are shown. */
  private rebuildPanes(): void {
    for (const pane of this.panes) pane.destroy();
    this.panes.length = 0;
    this.pointers.length = 0;
    this.around.store = this.store;
    const { network, other } = this.store.state;
    const shownNetworks = other === null ? [network] : [network, other];
    this.panesElement.classList.toggle("two", shownNetworks.length === 2);
    this.panesElement.closest(".body")?.classList.toggle("wide", shownNetworks.length === 2);
    for (const index of shownNetworks) {
      const pane = new Pane(this.model(index), this.around);
      const title = element("p", { class: "pane-title", "data-test": "pane-title" }, nameOf(this.given.networks[index]));
      const kinds = other === null ? null : element("ul", { class: "kinds" });
      const head = element("div", { class: "pane-head" }, title, kinds);
      head.hidden = this.given.networks.length < 2;
      this.panesElement.append(element("div", { class: "pane" }, head, pane.portrait.element));
      this.panes.push(pane);
      this.pointers.push(new Pointer(pane, this.store, this.card, this.acts));
      pane.setColours(this.colours);
    }
    for (const wrapper of [...this.panesElement.children]) if (wrapper.querySelector(".portrait") === null) wrapper.remove();
    this.bar.clear();
    this.controls.show(this.panes[0].model);
    this.player.show(this.panes[0]);
    this.points.show(this.panes[0]);
    for (const pane of this.panes) pane.refit();
    this.wordsStale = true;
  }

  private networksChanged(view: ViewState, changed: ReadonlySet<Key>): void {
    const before = this.panes[0].model;
    const model = this.model(view.network);
    const same = before.n === model.n && before.base.m === model.base.m && before.base.p === model.base.p;
    if (!same) this.store.set(viewOfOther(model));
    if (changed.has("other") || !same) {
      this.rebuildPanes();
      return;
    }
    const epoch = model.network.epoch;
    const parameter = { name: epoch === null ? "network" : "epoch", value: epoch ?? 0 };
    this.panes[0].setModel(model, parameter, before.network.epoch ?? epoch ?? 0);
    this.searchLater(this.panes.slice(0, 1), parameter);
    const title = this.panesElement.querySelector(".pane-title");
    if (title !== null) title.textContent = nameOf(model.network);
    this.points.show(this.panes[0]);
    this.wordsStale = true;
  }

  /** Points follow the slider, and when it rests new ones are looked for. */
  private conditionsChanged(view: ViewState, changed: ReadonlySet<Key>): void {
    const moved = movedParameter(this.before, view, changed);
    this.before = view;
    if (moved === null) return;
    for (const pane of this.panes) {
      const size = Math.max(...pane.model.inputSizes, 1e-9);
      const small = pane.model.n <= 3;
      pane.tracker.moveTo({ conditions: pane.conditions, ...moved, step: small ? size / 30 : size / 4, starts: () => (small ? pane.slowStarts(6) : []) });
    }
    this.searchLater(this.panes, moved.parameter);
  }

  /** Looks for new points in panes when the slider has rested for a while and its points have been followed. */
  private searchLater(panes: readonly Pane[], parameter: Parameter): void {
    if (this.searchTimer !== null) clearTimeout(this.searchTimer);
    this.searchTimer = setTimeout(() => {
      const waiting = panes.filter((pane) => this.panes.includes(pane) && !pane.searchAgain(parameter));
      if (waiting.length > 0) this.searchLater(waiting, parameter);
    }, REST);
  }

  private frame(seconds: number): void {
    this.scheduler.run(Math.max(BUDGET, Math.min(MOST_BUDGET, BUDGET_SHARE * 1000 * seconds)));
    for (const pane of this.panes) pane.draw(seconds);
    this.player.frame(seconds);
    this.networks.frame(seconds);
    this.bar.draw(seconds);
    this.legend.showRange(this.range(), this.panes[0].inSpace);
    this.wordsAge += seconds;
    if (this.wordsStale && (this.wordsAge > WORDS_PAUSE || !this.scheduler.busy)) this.writeWords();
  }

  private writeWords(): void {
    this.wordsStale = false;
    this.wordsAge = 0;
    const [pane] = this.panes;
    this.legend.showKinds(this.panes);
    this.panesElement.querySelectorAll<HTMLElement>(".kinds").forEach((list, k) => fillKinds(list, this.panes[k]));
    this.caption.textContent = captionOf(this.panes, this.store.state);
    this.points.show(pane);
    const notes = this.root.querySelector<HTMLElement>(".notes");
    if (notes !== null) fill(notes, ...pane.model.network.notes.map((note) => element("p", { class: "gnode-note" }, note)));
    const kicker = this.root.querySelector(".kicker");
    if (kicker !== null) kicker.textContent = kindWords(pane.model.network);
  }

  private resized(): void {
    for (const pane of this.panes) if (pane.portrait.fit(pane.inSpace)) pane.refit();
    this.player.redraw();
    this.bar.redraw();
    this.points.fit();
  }

  private recolour(): void {
    if (this.colours === undefined) return; // while the explorer is being built
    sayTheme(this.root, this.theme.shown);
    this.colours = coloursOf(this.root);
    for (const pane of this.panes) pane.setColours(this.colours);
    this.player.redraw();
    this.bar.redraw();
  }

  private announce(words: string): void {
    this.live.textContent = words;
  }

  private async copyLink(): Promise<void> {
    const address = this.link?.now() ?? location.href;
    try {
      await navigator.clipboard.writeText(address);
      this.announce("The link is copied.");
    } catch {
      this.announce("The link is in the address bar.");
    }
    const made = this.root.querySelector<HTMLButtonElement>('[data-test="copy-link"]');
    if (made === null) return;
    made.textContent = "Copied";
    setTimeout(() => (made.textContent = "Copy link"), 1500);
  }

  private async savePng(): Promise<void> {
    save(await pngBlob(this.panes, this.root), fileName(this.given.title, "png"));
  }

  stats(): Stats & { particles: number; busy: boolean; points: number; grid: number } {
    const [pane] = this.panes;
    return { ...this.loop.stats, particles: pane.portrait.particles.count, busy: this.scheduler.busy, points: pane.tracker.points.length, grid: pane.grid?.size ?? 0 };
  }

  destroy(): void {
    this.loop.destroy();
    this.sizes.disconnect();
    if (this.searchTimer !== null) clearTimeout(this.searchTimer);
    for (const part of [this.keyboard, this.pulses, this.theme, this.link, this.networks, this.points, this.player, this.controls]) part?.destroy();
    for (const pane of this.panes) pane.destroy();
    this.host.replaceChildren();
  }
}
