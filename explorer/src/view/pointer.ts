/** What pointers do on a portrait: show numbers, select points, launch and drag states, move and turn the view. */
import { PlaneFrame, SpaceFrame } from "./frame";
import type { HoverCard } from "./hover";
import type { Tracked } from "./overlay";
import type { Pane } from "./pane";
import type { Limits, Store } from "./store";

const REACH = 14;
/** A press that moves less than this is a click. */
const SLACK = 4;

type Grip =
  | { what: "live"; h: Float64Array }
  | { what: "start"; id: number; h: Float64Array }
  | { what: "view"; limits: Limits; yaw: number; pitch: number };

/** What the explorer does for a portrait. */
export interface Actions {
  launch(pane: Pane, place: readonly [number, number]): void;
  moveLive(pane: Pane, h: Float64Array): void;
  moveStart(pane: Pane, id: number, h: Float64Array): void;
  zoom(factor: number, pane: Pane, place: readonly [number, number]): void;
}

export class Pointer {
  private grip: { at: [number, number]; moved: boolean; taken: Grip; id: number } | null = null;
  private readonly place = new Float64Array(3);

  constructor(
    private readonly pane: Pane,
    private readonly store: Store,
    private readonly card: HoverCard,
    private readonly actions: Actions,
  ) {
    const { stage } = pane.portrait;
    stage.addEventListener("pointerdown", (event) => this.down(event));
    stage.addEventListener("pointermove", (event) => this.move(event));
    stage.addEventListener("pointerup", (event) => this.up(event));
    stage.addEventListener("pointercancel", () => this.letGo());
    stage.addEventListener("pointerleave", () => this.grip === null && this.card.hide());
    stage.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
  }

  /** The fixed point at a place, the nearest within reach. */
  pointAt(at: readonly [number, number], reach = REACH): Tracked | null {
    if (!this.store.state.layers.points) return null;
    let best: Tracked | null = null;
    let least = reach;
    for (const tracked of this.pane.tracker.points) {
      const distance = this.distance(tracked.point.h, at);
      if (distance < least) [best, least] = [tracked, distance];
    }
    return best;
  }

  private distance(h: Float64Array, at: readonly [number, number]): number {
    this.pane.frame.place(h, this.place);
    return Math.hypot(this.place[0] - at[0], this.place[1] - at[1]);
  }

  /** What a press at a place takes: the start of a trajectory (and the live state if it is still there), the live state, or the view. */
  private gripAt(at: readonly [number, number]): Grip {
    const { pane } = this;
    for (const { id, h } of pane.trajectories.starts()) if (this.distance(h, at) < REACH) return { what: "start", id, h: h.slice() };
    if (pane.run === null && this.distance(pane.live.h, at) < REACH) return { what: "live", h: pane.live.h.slice() };
    const { yaw, pitch } = this.store.state.camera;
    const limits = pane.frame instanceof PlaneFrame ? pane.frame.limits : ([0, 1, 0, 1] as const);
    return { what: "view", limits, yaw, pitch };
  }

  private down(event: PointerEvent): void {
    const at = this.pane.portrait.placeOf(event);
    if (event.button !== 0 || !this.pane.portrait.contains(at)) return;
    const taken = this.gripAt(at);
    this.grip = { at, moved: false, taken, id: event.pointerId };
    if (taken.what === "live") this.pane.live.held = true;
    if (event.pointerType === "mouse" || taken.what !== "view") this.pane.portrait.stage.setPointerCapture(event.pointerId);
  }

  private move(event: PointerEvent): void {
    const at = this.pane.portrait.placeOf(event);
    const { grip } = this;
    if (grip === null) {
      this.hover(at);
      return;
    }
    const dx = at[0] - grip.at[0];
    const dy = at[1] - grip.at[1];
    if (!grip.moved && Math.hypot(dx, dy) < SLACK) return;
    grip.moved = true;
    this.card.hide();
    this.drag(grip.taken, dx, dy);
  }

  private drag(taken: Grip, dx: number, dy: number): void {
    const { pane, actions } = this;
    if (taken.what === "view") {
      this.moveView(taken, dx, dy);
      return;
    }
    const h = this.shifted(taken.h, dx, dy);
    if (taken.what === "live") actions.moveLive(pane, h);
    else actions.moveStart(pane, taken.id, h);
  }

  /** A state moved across the page, at its own distance from the plane or the viewer. */
  private shifted(h: Float64Array, dx: number, dy: number): Float64Array {
    const { frame } = this.pane;
    const out = h.slice();
    if (frame instanceof SpaceFrame) frame.moved(h, dx, dy, out);
    else if (frame instanceof PlaneFrame) {
      const a = frame.a(dx) - frame.a(0);
      const b = frame.b(dy) - frame.b(0);
      for (let i = 0; i < out.length; i++) out[i] += a * frame.plane.u[i] + b * frame.plane.v[i];
    }
    return out;
  }

  private moveView(taken: Extract<Grip, { what: "view" }>, dx: number, dy: number): void {
    const { frame, portrait } = this.pane;
    const { camera } = this.store.state;
    if (frame instanceof SpaceFrame) {
      const pitch = Math.max(-1.5, Math.min(1.5, taken.pitch + dy * 0.008));
      this.store.set({ camera: { ...camera, yaw: taken.yaw + dx * 0.008, pitch } });
      return;
    }
    const [left, right, bottom, top] = taken.limits;
    const a = (-dx / portrait.plot.width) * (right - left);
    const b = (dy / portrait.plot.height) * (top - bottom);
    this.store.set({ limits: [left + a, right + a, bottom + b, top + b] });
  }

  private up(event: PointerEvent): void {
    const { grip } = this;
    const at = this.pane.portrait.placeOf(event);
    this.letGo();
    if (grip === null || grip.moved) return;
    const point = this.pointAt(at);
    if (point !== null) this.store.set({ selected: this.store.state.selected === point.id ? null : point.id });
    else if (grip.taken.what === "view") this.actions.launch(this.pane, at);
  }

  private letGo(): void {
    if (this.grip !== null && this.pane.portrait.stage.hasPointerCapture(this.grip.id)) this.pane.portrait.stage.releasePointerCapture(this.grip.id);
    this.grip = null;
    this.pane.live.held = false;
  }

  /** Shows the numbers of a place. */
  hover(at: [number, number]): void {
    const { pane, card } = this;
    if (!pane.portrait.contains(at)) {
      card.hide();
      return;
    }
    const point = this.pointAt(at);
    pane.portrait.stage.classList.toggle("over-point", point !== null);
    const moving = pane.run === null && this.distance(pane.live.h, at) < REACH;
    pane.portrait.stage.classList.toggle("over-state", point === null && (moving || this.gripAt(at).what !== "view"));
    if (point !== null) card.showPoint(pane, point, at);
    else if (moving) card.showState(pane, pane.live.h.slice(), at, "The live state: drag it");
    else if (pane.frame instanceof PlaneFrame) {
      const h = new Float64Array(pane.model.n);
      pane.frame.stateAt(at[0], at[1], h);
      card.showState(pane, h, at, null);
    } else card.hide();
  }

  /** Zooms with a pinch or with Ctrl, so that the page can still be scrolled over the portrait. */
  private wheel(event: WheelEvent): void {
    const at = this.pane.portrait.placeOf(event);
    if (!(event.ctrlKey || event.metaKey) || !this.pane.portrait.contains(at)) return;
    event.preventDefault();
    this.actions.zoom(Math.exp(0.0025 * event.deltaY), this.pane, at);
  }
}
