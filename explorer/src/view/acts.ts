/** What a viewer does to the portraits, by pointer, keys or buttons. */
import { PlaneFrame } from "./frame";
import type { HoverCard } from "./hover";
import type { KeyActions } from "./keyboard";
import type { Pane } from "./pane";
import type { Actions } from "./pointer";
import type { Launch, Limits, Store } from "./store";

const MOST_LAUNCHES = 12;

/** Parts of the explorer that keys reach. */
export interface Others {
  help(): void;
  play(): void;
  film(): void;
  theme(): void;
}

export class Acts implements Actions {
  private crosshair: [number, number] | null = null;

  constructor(
    private readonly store: Store,
    private readonly panes: () => readonly Pane[],
    private readonly announce: (words: string) => void,
    private readonly card: HoverCard,
  ) {}

  /** A new trajectory; the live state goes with it, in every pane. */
  launch(pane: Pane, place: readonly [number, number]): void {
    const h = new Float64Array(pane.model.n);
    pane.frame.stateAt(place[0], place[1], h);
    const { launches } = this.store.state;
    const id = 1 + launches.reduce((most, launch) => Math.max(most, launch.id), 0);
    this.store.set({ launches: [...launches, this.launchAt(pane, id, h)].slice(-MOST_LAUNCHES) });
    for (const each of this.panes()) {
      const start = each.trajectories.starts().find((found) => found.id === id);
      if (start !== undefined) each.live.put(start.h);
    }
    this.announce("A trajectory is launched.");
  }

  private launchAt(pane: Pane, id: number, h: Float64Array): Launch {
    const at = new Float64Array(2);
    if (pane.frame instanceof PlaneFrame) pane.frame.coordinates(h, at);
    return { id, at: [at[0], at[1]], state: Array.from(h) };
  }

  moveLive(pane: Pane, h: Float64Array): void {
    pane.live.put(h);
    const at = this.launchAt(pane, 0, h).at;
    for (const other of this.panes()) {
      if (other === pane) continue;
      const place = new Float64Array(other.model.n);
      if (other.frame instanceof PlaneFrame) other.frame.stateAt(other.frame.x(at[0]), other.frame.y(at[1]), place);
      else place.set(h.subarray(0, place.length));
      other.live.put(place);
    }
  }

  moveStart(pane: Pane, id: number, h: Float64Array): void {
    const before = pane.trajectories.starts().find((start) => start.id === id);
    const together = before !== undefined && before.h.every((value, i) => value === pane.live.h[i]); // nothing has moved yet
    if (together) this.moveLive(pane, h);
    this.store.set({ launches: this.store.state.launches.map((launch) => (launch.id === id ? this.launchAt(pane, id, h) : launch)) });
  }

  /** Zooms about a place of the plot, or about its middle. */
  zoom(factor: number, pane: Pane, place: readonly [number, number] | null): void {
    const { frame } = pane;
    const { camera } = this.store.state;
    if (!(frame instanceof PlaneFrame)) {
      this.store.set({ camera: { ...camera, zoom: Math.max(0.3, Math.min(6, camera.zoom / factor)) } });
      return;
    }
    const [left, right, bottom, top] = frame.limits;
    const a = place === null ? (left + right) / 2 : frame.a(place[0]);
    const b = place === null ? (bottom + top) / 2 : frame.b(place[1]);
    const limits: Limits = [a + factor * (left - a), a + factor * (right - a), b + factor * (bottom - b), b + factor * (top - b)];
    const width = limits[1] - limits[0];
    const whole = pane.model.plane(this.store.state.plane).limits;
    const full = whole[1] - whole[0];
    if (width > full * 1e-5 && width < full * 50) this.store.set({ limits });
  }

  /** Where a point is along the horizontal axis, for the bar of events. */
  placeOf(pane: Pane): (h: Float64Array) => number {
    const place = new Float64Array(3);
    return (h) => {
      pane.frame.place(h, place);
      return place[0] / pane.portrait.plot.width;
    };
  }

  /** The actions of keys. */
  keys(others: Others): KeyActions {
    const { store } = this;
    return {
      toggleHelp: () => others.help(),
      playTrial: () => others.play(),
      stepTrial: (bins) => this.stepTrial(bins),
      selectPoint: (by) => this.selectPoint(by),
      escape: () => this.escape(),
      moveCrosshair: (dx, dy) => this.moveCrosshair(dx, dy),
      moveView: (dx, dy) => this.moveView(dx, dy),
      launchAtCrosshair: () => this.launch(this.panes()[0], this.crosshair ?? this.middle()),
      zoom: (factor) => this.zoom(factor, this.panes()[0], null),
      wholeView: () => store.set({ limits: null, camera: { ...store.state.camera, zoom: 1 } }),
      toggle: (what) => {
        if (what === "film") others.film();
        else if (what === "theme") others.theme();
        else if (what === "space") this.panes()[0].model.n === 3 && store.set({ space: !store.state.space });
        else if (what === "openGate") this.panes()[0].model.base.hasGate && store.set({ openGate: !store.state.openGate });
        else store.set({ [what]: !store.state[what] });
      },
      clear: () => this.clear(),
    };
  }

  clear(): void {
    this.store.set({ launches: [] });
    for (const pane of this.panes()) pane.live.put(pane.live.h.slice());
  }

  private stepTrial(bins: number): void {
    const { trial, bin } = this.store.state;
    const { run } = this.panes()[0];
    if (trial === null || run === null) return;
    this.store.set({ playing: false, bin: Math.max(0, Math.min(run.bins - 1, Math.floor(bin) + bins)) });
  }

  private selectPoint(by: 1 | -1): void {
    const [pane] = this.panes();
    const { points } = pane.tracker;
    if (points.length === 0) return;
    const at = points.findIndex(({ id }) => id === this.store.state.selected);
    const next = points[at < 0 ? (by > 0 ? 0 : points.length - 1) : (at + by + points.length) % points.length];
    this.store.set({ selected: next.id });
    const place = new Float64Array(3);
    pane.frame.place(next.point.h, place);
    this.card.showPoint(pane, next, [place[0], place[1]]);
    this.announce(this.card.words);
  }

  private escape(): void {
    this.crosshair = null;
    this.card.hide();
    for (const pane of this.panes()) pane.portrait.overlay.drawCursor(null);
    this.store.set({ selected: null });
  }

  private middle(): [number, number] {
    const { plot } = this.panes()[0].portrait;
    return [plot.width / 2, plot.height / 2];
  }

  private moveCrosshair(dx: number, dy: number): void {
    const [pane] = this.panes();
    const { frame, portrait } = pane;
    const { camera } = this.store.state;
    if (!(frame instanceof PlaneFrame)) {
      this.store.set({ camera: { ...camera, yaw: camera.yaw + 0.08 * dx, pitch: Math.max(-1.5, Math.min(1.5, camera.pitch + 0.08 * dy)) } });
      return;
    }
    const [x, y] = this.crosshair ?? this.middle();
    const step = portrait.plot.width / 40;
    this.crosshair = [Math.max(0, Math.min(portrait.plot.width, x + dx * step)), Math.max(0, Math.min(portrait.plot.height, y + dy * step))];
    portrait.overlay.drawCursor(this.crosshair);
    const h = new Float64Array(pane.model.n);
    frame.stateAt(this.crosshair[0], this.crosshair[1], h);
    this.card.showState(pane, h, this.crosshair, "At the crosshair");
    this.announce(this.card.words);
  }

  private moveView(dx: number, dy: number): void {
    const { frame } = this.panes()[0];
    if (!(frame instanceof PlaneFrame)) return;
    const [left, right, bottom, top] = frame.limits;
    const a = 0.08 * dx * (right - left);
    const b = -0.08 * dy * (top - bottom);
    this.store.set({ limits: [left + a, right + a, bottom + b, top + b] });
  }
}
