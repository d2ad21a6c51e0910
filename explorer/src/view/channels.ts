/** Which colour is which channel in time. */
import { element } from "./dom";
import type { Model } from "./model";
import { MOST_CHANNELS } from "./traces";

/** An item for each colour, with the input and the output that have it, and one for the targets. */
export function channelLegend({ base, network, trials }: Model): HTMLElement[] {
  const { m, p } = base;
  const count = Math.min(MOST_CHANNELS, Math.max(m, p));
  const items = Array.from({ length: count }, (_, k) => {
    const names = [k < m ? (network.input_names[k] ?? `input ${k + 1}`) : null, k < p ? (network.output_names[k] ?? `output ${k + 1}`) : null];
    const known = names.filter((name) => name !== null);
    return element("li", {}, swatch(`--channel-${k}`), [...new Set(known)].join(", "));
  });
  if (trials?.targets != null) items.push(element("li", {}, swatch("--soft", "target"), "dashed line or ring: target"));
  return items;
}

function swatch(colour: string, kind = ""): HTMLElement {
  const made = element("span", { class: `swatch ${kind}`, "aria-hidden": "true" });
  made.style.background = made.style.borderColor = `var(${colour})`;
  return made;
}
