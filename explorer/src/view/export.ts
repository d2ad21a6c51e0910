/** The portrait as a file: SVG with the flow as a picture inside, or PNG. */
import type { Pane } from "./pane";
import { set, svg } from "./svg";

/** What a style sheet gives to elements of a drawing, and a file must carry itself. */
const STYLES = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "stroke-linecap", "stroke-linejoin", "paint-order", "opacity", "font-size", "font-family", "font-style", "display"];
const SCALE = 2;

function withStyles(source: Element, copy: Element): void {
  const style = getComputedStyle(source);
  for (const name of STYLES) {
    const value = style.getPropertyValue(name);
    if (value !== "") copy.setAttribute(name, value);
  }
  copy.removeAttribute("class");
  [...source.children].forEach((child, k) => withStyles(child, copy.children[k]));
}

/** One drawing of all panes side by side, with the paper's colour behind. */
export function drawing(panes: readonly Pane[], root: HTMLElement): SVGSVGElement {
  const sizes = panes.map(({ portrait }) => ({ width: portrait.stage.clientWidth, height: portrait.stage.clientHeight }));
  const width = sizes.reduce((sum, size) => sum + size.width, 0);
  const height = Math.max(...sizes.map((size) => size.height));
  const made = svg("svg", { xmlns: "http://www.w3.org/2000/svg", width, height, viewBox: `0 0 ${width} ${height}` });
  made.append(svg("rect", { width, height, fill: getComputedStyle(root).backgroundColor }));
  let left = 0;
  panes.forEach((pane, k) => {
    const { portrait } = pane;
    const { margins, plot } = portrait;
    const group = svg("g", { transform: `translate(${left} 0)` });
    const picture = svg("image", { x: margins.left, y: margins.top, width: plot.width, height: plot.height, preserveAspectRatio: "none" });
    picture.setAttribute("href", pane.snapshot());
    const copy = portrait.overlay.svg.cloneNode(true) as SVGSVGElement;
    withStyles(portrait.overlay.svg, copy);
    set(copy, { x: 0, y: 0, "aria-hidden": null });
    group.append(picture, copy);
    made.append(group);
    left += sizes[k].width;
  });
  return made;
}

export function svgText(panes: readonly Pane[], root: HTMLElement): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(drawing(panes, root))}\n`;
}

export async function pngBlob(panes: readonly Pane[], root: HTMLElement): Promise<Blob> {
  const made = drawing(panes, root);
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(new XMLSerializer().serializeToString(made))}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = SCALE * Number(made.getAttribute("width"));
  canvas.height = SCALE * Number(made.getAttribute("height"));
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) => canvas.toBlob((blob) => (blob === null ? reject(new Error("The picture could not be written.")) : resolve(blob)), "image/png"));
}

/** Hands a file to the viewer. */
export function save(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** A file's name from a network's: letters, digits and dashes only. */
export function fileName(name: string, ending: string): string {
  return `${name.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-+|-+$/g, "").slice(0, 60) || "portrait"}.${ending}`;
}
