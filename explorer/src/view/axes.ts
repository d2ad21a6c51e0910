/** Axes of a plane, and the box of a space of three states. */
import { PlaneFrame, SpaceFrame } from "./frame";
import { px, svg } from "./svg";
import { steady } from "./format";

/** Room around the plot for ticks and names. */
export interface Margins {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

export const PLANE_MARGINS: Margins = { left: 50, right: 6, top: 6, bottom: 40 };
export const NARROW_MARGINS: Margins = { left: 38, right: 3, top: 4, bottom: 36 };
export const SPACE_MARGINS: Margins = { left: 2, right: 2, top: 2, bottom: 2 };

/** Enough room for a letter of a tick's label. */
const LETTER = 7;

/** Round numbers between two limits, about `count` of them. */
export function ticks(low: number, high: number, count: number): { at: number; label: string }[] {
  const raw = (high - low) / Math.max(1, count);
  if (!(raw > 0) || !Number.isFinite(raw)) return [];
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= 0.75 * raw) ?? 10 * power;
  const decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const found = [];
  for (let k = Math.ceil(low / step); k * step <= high + 1e-9 * step; k++) found.push({ at: k * step, label: steady(k * step, decimals) });
  return found;
}

/** Draws the ticks of a plane around its plot; the group's origin is the plot's upper left corner. */
export function drawPlaneAxes(group: SVGGElement, frame: PlaneFrame, names: readonly [string, string], margins: Margins): void {
  const { width, height } = frame.size;
  const [left, right, bottom, top] = frame.limits;
  const parts: Node[] = [svg("rect", { x: 0, y: 0, width, height, class: "plot-frame" })];
  for (const { at, label } of ticks(left, right, Math.max(2, width / 110))) {
    const x = px(frame.x(at));
    const inside = px(Math.min(frame.x(at), width + margins.right - (LETTER * label.length) / 2)); // at the edge it would be cut
    parts.push(svg("path", { d: `M${x} ${height}v5`, class: "tick" }), svg("text", { x: inside, y: height + 17, class: "tick-label", "text-anchor": "middle" }, label));
  }
  if (frame.plane.v.some((value) => value !== 0))
    for (const { at, label } of ticks(bottom, top, Math.max(2, height / 110))) {
      const y = px(frame.y(at));
      parts.push(svg("path", { d: `M0 ${y}h-5`, class: "tick" }), svg("text", { x: -8, y, dy: "0.35em", class: "tick-label", "text-anchor": "end" }, label));
    }
  parts.push(svg("text", { x: px(width / 2), y: height + 34, class: "axis-name", "text-anchor": "middle" }, names[0]));
  parts.push(
    margins.left >= PLANE_MARGINS.left
      ? svg("text", { transform: `translate(-38 ${px(height / 2)}) rotate(-90)`, class: "axis-name", "text-anchor": "middle" }, names[1])
      : svg("text", { x: 8, y: 17, class: "axis-name axis-name-inside" }, names[1]), // no room beside the ticks
  );
  group.replaceChildren(...parts);
}

/** The edges of the box; the three that meet in its farthest lower corner are the axes, and bear names. */
export function drawSpaceAxes(group: SVGGElement, frame: SpaceFrame, names: readonly string[]): void {
  const corner = new Float64Array(3);
  const place = new Float64Array(3);
  const at = (signs: readonly number[]): [number, number] => {
    for (let i = 0; i < 3; i++) corner[i] = frame.centre[i] + signs[i] * frame.half[i];
    frame.place(corner, place);
    return [place[0], place[1]];
  };
  const back = farthest(frame);
  const parts: Node[] = [];
  for (let axis = 0; axis < 3; axis++) {
    for (const p of [-1, 1]) {
      for (const q of [-1, 1]) {
        const signs = [0, 0, 0];
        signs[(axis + 1) % 3] = p;
        signs[(axis + 2) % 3] = q;
        const from = at(signs.map((sign, i) => (i === axis ? -1 : sign)));
        const to = at(signs.map((sign, i) => (i === axis ? 1 : sign)));
        const isAxis = signs.every((sign, i) => i === axis || sign === back[i]);
        parts.push(svg("path", { d: `M${px(from[0])} ${px(from[1])}L${px(to[0])} ${px(to[1])}`, class: "box", "stroke-opacity": isAxis ? 0.95 : 0.28 }));
      }
    }
    const end = at(back.map((sign, i) => (i === axis ? -1.12 * sign : sign)));
    parts.push(svg("text", { x: px(end[0]), y: px(end[1]), class: "axis-name", "text-anchor": "middle", dy: "0.35em" }, names[axis] ?? ""));
  }
  group.replaceChildren(...parts);
}

/** The signs of the lower corner that is farthest from the viewer. */
function farthest(frame: SpaceFrame): number[] {
  const { yaw } = frame.camera;
  return [Math.sin(yaw) >= 0 ? 1 : -1, Math.cos(yaw) >= 0 ? 1 : -1, frame.camera.pitch >= 0 ? -1 : 1];
}
