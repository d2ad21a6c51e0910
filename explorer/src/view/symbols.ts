/** Fixed points are told apart by shape and by colour, so that neither is needed alone. */
import type { Kind } from "../math/system";
import { svg } from "./svg";

export const KINDS: readonly Kind[] = ["stable", "saddle", "unstable", "marginal"];

/** What each kind means, in words for people who meet it for the first time. */
export const MEANING: Record<string, string> = {
  stable: "every small push dies out",
  saddle: "pushes die out along some directions and grow along others",
  unstable: "every small push grows",
  marginal: "along some direction a push neither dies out nor grows",
  undefined: "the derivative does not exist here",
};

const SHAPES: Record<string, string> = {
  stable: "M6 0A6 6 0 1 1 -6 0A6 6 0 1 1 6 0Z",
  saddle: "M0 -7.4L7.4 0L0 7.4L-7.4 0Z",
  unstable: "M0 -7.2L6.9 5.4L-6.9 5.4Z",
  marginal: "M-5.4 -5.4H5.4V5.4H-5.4Z",
  undefined: "M-5 -5L5 5M5 -5L-5 5",
};

export function symbol(kind: Kind): SVGPathElement {
  return svg("path", { d: SHAPES[kind] ?? SHAPES.undefined, class: `point point-${kind}` });
}

/** A symbol as a picture of its own, for lists and legends. */
export function symbolIcon(kind: Kind): SVGSVGElement {
  return svg("svg", { viewBox: "-10 -10 20 20", width: 16, height: 16, class: "icon", "aria-hidden": "true" }, symbol(kind));
}
