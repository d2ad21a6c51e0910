/** SVG elements; like dom.ts, text is only ever set as text. */

const SPACE = "http://www.w3.org/2000/svg";

type Attributes = Record<string, string | number | null | undefined>;

export function svg<K extends keyof SVGElementTagNameMap>(tag: K, attributes: Attributes = {}, ...children: (Node | string)[]): SVGElementTagNameMap[K] {
  const made = document.createElementNS(SPACE, tag);
  set(made, attributes);
  made.append(...children);
  return made;
}

export function set(target: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined) target.removeAttribute(name);
    else target.setAttribute(name, String(value));
  }
}

/** A tenth of a pixel is enough, and keeps exported files small. */
export function px(value: number): string {
  return String(Math.round(value * 10) / 10);
}

/** The path through places [x0, y0, x1, y1, ...]; a place that is not finite interrupts it. */
export function pathThrough(places: ArrayLike<number>): string {
  const parts: string[] = [];
  let pen = "M";
  for (let k = 0; k + 1 < places.length; k += 2) {
    if (!Number.isFinite(places[k]) || !Number.isFinite(places[k + 1])) {
      pen = "M";
      continue;
    }
    parts.push(`${pen}${px(places[k])} ${px(places[k + 1])}`);
    pen = "L";
  }
  return parts.join("");
}
