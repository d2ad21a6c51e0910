/** The head of the page: what it is, what was found, and a few tools. */
import { button, element } from "./dom";
import { plural, typeset } from "./format";
import type { ExplorerDocument, NetworkDocument } from "../math/system";

export interface Tools {
  link: (() => void) | null;
  png(): void;
  svg(): void;
  theme(): void;
  help(): void;
}

/** "gnODE with 2 states, 2 inputs and 2 outputs" */
export function kindWords(network: NetworkDocument): string {
  const inputs = network.inputs === 0 ? "no input" : plural(network.inputs, "input");
  const outputs = network.classes === null ? plural(network.outputs, "output") : `${network.classes.length} classes`;
  return `${network.label} with ${plural(network.state_size, "state")}, ${inputs} and ${outputs}`;
}

/** A button says what it will do. */
export function sayTheme(root: HTMLElement, shown: "light" | "dark"): void {
  const made = root.querySelector(".theme-button");
  const next = shown === "dark" ? "Light" : "Dark";
  if (made === null) return;
  made.textContent = next;
  made.setAttribute("aria-label", `${next}: change to the ${next.toLowerCase()} theme`);
}

export function headerOf(given: ExplorerDocument, tools: Tools, full: boolean): HTMLElement {
  const [network] = given.networks;
  const row = element("div", { class: "tools", role: "toolbar", "aria-label": "Tools" });
  if (tools.link !== null) row.append(button("Copy link", tools.link, { "data-test": "copy-link", title: "Copy a link to this view" }));
  row.append(
    button("PNG", tools.png, { "data-test": "export-png", "aria-label": "Save the portrait as PNG" }),
    button("SVG", tools.svg, { "data-test": "export-svg", "aria-label": "Save the portrait as SVG" }),
    button("", tools.theme, { class: "theme-button", "data-test": "theme" }),
    button("?", tools.help, { "data-test": "help-open", "aria-label": "Keys and help" }),
  );
  const words = element("p", { class: "kicker", "data-test": "kicker" }, kindWords(network));
  const top = element("div", { class: "masthead" }, words, row);
  if (!full) return element("header", { class: "header" }, top);
  const title = element("h1", { "data-test": "title", class: given.verdict === null ? "large" : null }, given.title);
  const verdict = given.verdict === null ? null : element("p", { class: "verdict", "data-test": "verdict" }, typeset(given.verdict));
  const equation = element("p", { class: "equation" }, network.equation);
  return element("header", { class: "header" }, top, title, verdict, equation);
}
