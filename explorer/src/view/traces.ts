/** Inputs and outputs over time: of a trial, or of the recent past of the live state. */
import { ticks } from "./axes";
import { PLAIN } from "./dom";
import { withUnit } from "./format";
import type { Colours } from "./theme";

export interface Channel {
  values: ArrayLike<number>;
  /** The channel's place in each row, and the length of a row. */
  offset: number;
  stride: number;
  colour: number;
  dashed?: boolean;
}

export interface Panel {
  name: string;
  channels: Channel[];
  /** What is drawn at the cursor. */
  marks?: { value: number; colour: number }[];
  /** Draws steps between the values, as for inputs that are held in a bin. */
  steps?: boolean;
}

export interface Traces {
  times: ArrayLike<number>;
  /** Rows that are drawn, in order. */
  rows: number;
  row(k: number): number;
  from: number;
  to: number;
  cursor: number | null;
  panels: Panel[];
}

/** More channels than these are not told apart by colour. */
export const MOST_CHANNELS = 6;
const LEFT = 46;
const BOTTOM = 22;
const GAP = 16;
/** The radius of the ring of a single value. */
const SINGLE = 4;

function extent(panel: Panel, traces: Traces): [number, number] {
  let low = Infinity;
  let high = -Infinity;
  for (const channel of panel.channels) {
    for (let k = 0; k < traces.rows; k++) {
      const value = channel.values[traces.row(k) * channel.stride + channel.offset];
      if (!Number.isFinite(value)) continue;
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
  }
  if (!(high >= low) || (low === 0 && high === 0)) return [-1, 1];
  const middle = (low + high) / 2;
  const half = Math.max((high - low) / 2, 0.25 * Math.max(Math.abs(low), Math.abs(high)), 1e-3) * 1.12;
  return [middle - half, middle + half];
}

/** Keeps the limits of a panel from jumping: they widen at once and shrink slowly. */
export class TracePainter {
  private limits: [number, number][] = [];

  constructor(readonly canvas: HTMLCanvasElement) {}

  forget(): void {
    this.limits = [];
  }

  draw(traces: Traces, colours: Colours): void {
    const pixel = Math.min(2, devicePixelRatio || 1);
    const width = this.canvas.clientWidth;
    const height = this.canvas.clientHeight;
    const context = this.canvas.getContext("2d", PLAIN);
    if (context === null || width < 60) return;
    const [w, h] = [Math.round(width * pixel), Math.round(height * pixel)];
    if (this.canvas.width !== w || this.canvas.height !== h) [this.canvas.width, this.canvas.height] = [w, h];
    context.setTransform(pixel, 0, 0, pixel, 0, 0);
    context.clearRect(0, 0, width, height);
    const each = (height - BOTTOM - GAP * traces.panels.length) / traces.panels.length;
    const x = (time: number): number => LEFT + ((time - traces.from) / (traces.to - traces.from || 1)) * (width - LEFT - 8);
    traces.panels.forEach((panel, k) => {
      const found = extent(panel, traces);
      const known = this.limits[k] ?? found;
      const limits: [number, number] = [Math.min(found[0], known[0] + 0.02 * (found[0] - known[0])), Math.max(found[1], known[1] + 0.02 * (found[1] - known[1]))];
      this.limits[k] = limits;
      const top = GAP + k * (each + GAP);
      const y = (value: number): number => top + each - ((value - limits[0]) / (limits[1] - limits[0])) * each;
      axis(context, panel.name, limits, y, top, width, colours);
      context.save();
      context.beginPath();
      context.rect(LEFT, top - 2, width - LEFT - 6, each + 4);
      context.clip();
      for (const channel of panel.channels) line(context, traces, channel, panel.steps === true, x, y, colours);
      context.restore();
      for (const channel of panel.channels) if (channel.dashed === true) singles(context, traces, channel, x, y, colours);
      if (traces.cursor !== null) for (const mark of panel.marks ?? []) dot(context, x(traces.cursor), y(mark.value), colours.channels[mark.colour % 6], colours);
    });
    if (traces.cursor !== null) rule(context, x(traces.cursor), GAP, height - BOTTOM, colours.soft);
    timeAxis(context, traces, x, height, colours);
  }
}

function axis(context: CanvasRenderingContext2D, name: string, limits: [number, number], y: (value: number) => number, top: number, width: number, colours: Colours): void {
  context.font = "11px system-ui, sans-serif";
  context.fillStyle = colours.text;
  context.textAlign = "left";
  context.fillText(name, LEFT, top - 4);
  context.textAlign = "right";
  context.strokeStyle = colours.line;
  context.lineWidth = 1;
  context.setLineDash([]);
  for (const { at, label } of ticks(limits[0], limits[1], 3)) {
    const place = Math.round(y(at)) + 0.5;
    context.beginPath();
    context.moveTo(LEFT, place);
    context.lineTo(width - 8, place);
    context.stroke();
    context.fillStyle = colours.soft;
    context.fillText(label, LEFT - 6, place + 3.5);
  }
}

function line(context: CanvasRenderingContext2D, traces: Traces, channel: Channel, steps: boolean, x: (time: number) => number, y: (value: number) => number, colours: Colours): void {
  context.strokeStyle = colours.channels[channel.colour % colours.channels.length];
  context.lineWidth = channel.dashed === true ? 1.2 : 1.6;
  context.setLineDash(channel.dashed === true ? [5, 4] : []);
  context.lineJoin = "round";
  context.beginPath();
  let last = NaN;
  for (let k = 0; k < traces.rows; k++) {
    const row = traces.row(k);
    const value = channel.values[row * channel.stride + channel.offset];
    const at = x(traces.times[row]);
    if (!Number.isFinite(value)) last = NaN;
    else {
      if (Number.isNaN(last)) context.moveTo(at, y(value));
      else {
        if (steps) context.lineTo(at, y(last));
        context.lineTo(at, y(value));
      }
      last = value;
    }
  }
  context.stroke();
  context.setLineDash([]);
}

/** Values without a neighbour to be joined with, such as targets that count in one bin only, are rings. */
function singles(context: CanvasRenderingContext2D, traces: Traces, channel: Channel, x: (time: number) => number, y: (value: number) => number, colours: Colours): void {
  const at = (k: number): number => (k < 0 || k >= traces.rows ? NaN : channel.values[traces.row(k) * channel.stride + channel.offset]);
  for (let k = 0; k < traces.rows; k++) {
    if (!Number.isFinite(at(k)) || Number.isFinite(at(k - 1)) || Number.isFinite(at(k + 1))) continue;
    context.beginPath();
    context.arc(x(traces.times[traces.row(k)]), y(at(k)), SINGLE, 0, 2 * Math.PI);
    context.fillStyle = paperOf(colours);
    context.fill();
    context.strokeStyle = colours.channels[channel.colour % colours.channels.length];
    context.lineWidth = 1.8;
    context.stroke();
  }
}

function paperOf(colours: Colours): string {
  return `rgb(${colours.paper.map((part) => Math.round(255 * part)).join(",")})`;
}

function dot(context: CanvasRenderingContext2D, x: number, y: number, colour: string, colours: Colours): void {
  context.beginPath();
  context.arc(x, y, 3.5, 0, 2 * Math.PI);
  context.fillStyle = colour;
  context.fill();
  context.strokeStyle = paperOf(colours);
  context.lineWidth = 1.5;
  context.stroke();
}

function rule(context: CanvasRenderingContext2D, x: number, top: number, bottom: number, colour: string): void {
  context.strokeStyle = colour;
  context.lineWidth = 1;
  context.beginPath();
  context.moveTo(Math.round(x) + 0.5, top);
  context.lineTo(Math.round(x) + 0.5, bottom);
  context.stroke();
}

function timeAxis(context: CanvasRenderingContext2D, traces: Traces, x: (time: number) => number, height: number, colours: Colours): void {
  context.fillStyle = colours.soft;
  context.textAlign = "center";
  for (const { at, label } of ticks(traces.from, traces.to, Math.max(2, (x(traces.to) - x(traces.from)) / 130))) {
    if (at < traces.from || at > traces.to) continue;
    context.fillText(withUnit(label, "s"), Math.min(x(at), x(traces.to) - 12), height - 6);
  }
}
