/** The picture of one network: a canvas for the flow, an SVG above it, and room for words. */
import { NARROW_MARGINS, PLANE_MARGINS, SPACE_MARGINS, type Margins } from "./axes";
import { element } from "./dom";
import type { Size } from "./frame";
import { Overlay } from "./overlay";
import { Particles } from "./particles";
import { rendererFor, type Renderer, type Scene } from "./renderer";
import type { Colours } from "./theme";

/** Enough to see the flow everywhere, few enough for a slow processor. */
export const PARTICLES = 2000;
const NARROW = 460;

export class Portrait {
  readonly element: HTMLElement;
  readonly stage: HTMLElement;
  readonly particles = new Particles(PARTICLES);
  readonly renderer: Renderer;
  readonly overlay: Overlay;
  margins: Margins = PLANE_MARGINS;
  plot: Size = { width: 100, height: 100 };
  private outer = "";
  private moving = false;

  constructor(n: number, label: string) {
    this.stage = element("div", {
      class: "stage",
      tabindex: 0,
      role: "application",
      "aria-roledescription": "phase portrait",
      "aria-label": label,
      "data-test": "portrait",
    });
    this.renderer = rendererFor(this.particles);
    this.overlay = new Overlay(n, label);
    this.stage.append(this.renderer.canvas, this.overlay.svg);
    this.element = element("div", { class: "portrait" }, this.stage);
    if (!this.renderer.webgl)
      this.element.append(element("p", { class: "gnode-note" }, "This browser has no WebGL 2: the flow is drawn more coarsely on a plain canvas."));
  }

  /** While the flow changes, lines that take long to draw are drawn plainly. */
  setMoving(moving: boolean): void {
    if (moving === this.moving) return;
    this.moving = moving;
    this.stage.classList.toggle("moving", moving);
  }

  /** Fits canvas and overlay to the stage; returns whether anything changed. */
  fit(space: boolean): boolean {
    const width = Math.round(this.stage.clientWidth);
    const height = Math.round(this.stage.clientHeight);
    const pixel = Math.min(2, devicePixelRatio || 1);
    const key = `${width} ${height} ${pixel} ${space}`;
    if (key === this.outer || width < 40 || height < 40) return false;
    this.outer = key;
    this.margins = space ? SPACE_MARGINS : width < NARROW ? NARROW_MARGINS : PLANE_MARGINS;
    const { left, right, top, bottom } = this.margins;
    this.plot = { width: width - left - right, height: height - top - bottom };
    const { style } = this.renderer.canvas;
    style.left = `${left}px`;
    style.top = `${top}px`;
    style.width = `${this.plot.width}px`;
    style.height = `${this.plot.height}px`;
    this.renderer.resize(this.plot.width, this.plot.height, pixel);
    this.overlay.resize(width, height, this.margins);
    return true;
  }

  setColours(colours: Colours): void {
    this.renderer.setColours(colours);
  }

  draw(scene: Scene): void {
    this.renderer.draw(scene);
  }

  /** A place on the page as a place in the plot. */
  placeOf(event: { clientX: number; clientY: number }): [number, number] {
    const box = this.stage.getBoundingClientRect();
    return [event.clientX - box.left - this.margins.left, event.clientY - box.top - this.margins.top];
  }

  contains([x, y]: readonly [number, number]): boolean {
    return x >= 0 && y >= 0 && x <= this.plot.width && y <= this.plot.height;
  }

  destroy(): void {
    this.renderer.destroy();
    this.element.remove();
  }
}
