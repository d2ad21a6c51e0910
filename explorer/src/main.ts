/** The one script of the page: mounts explorers, and mounts itself where a page holds a document. */
import type { ExplorerDocument } from "./math/system";
import { element } from "./view/dom";
import { Explorer, type MountOptions } from "./view/explorer";
import style from "./view/explorer.css";

const STYLE_ID = "gnode-explorer-style";

export interface Mounted {
  destroy(): void;
  stats(): ReturnType<Explorer["stats"]>;
}

const mounted: Explorer[] = [];

/** The style sheet is shared by all explorers of a document or shadow tree. */
function withStyle(target: HTMLElement): void {
  const root = target.getRootNode();
  const place: ParentNode & Node = root instanceof ShadowRoot ? root : document.head;
  if (place.querySelector(`#${STYLE_ID}`) !== null) return;
  place.append(element("style", { id: STYLE_ID }, style));
}

/** Shows a document inside an element. */
export function mount(target: HTMLElement, given: ExplorerDocument, options: MountOptions = {}): Mounted {
  withStyle(target);
  if (given.format !== FORMAT) throw new Error(`This page reads documents of format ${FORMAT}, not ${given.format}.`);
  const explorer = new Explorer(target, given, options);
  mounted.push(explorer);
  return {
    stats: () => explorer.stats(),
    destroy: () => {
      const at = mounted.indexOf(explorer);
      if (at < 0) return;
      mounted.splice(at, 1);
      explorer.destroy();
    },
  };
}

const FORMAT = 1;

/** The frames per second of the explorer that was mounted last, and what it is doing. */
export function stats(): ReturnType<Explorer["stats"]> | null {
  return mounted[mounted.length - 1]?.stats() ?? null;
}

function mountPage(): void {
  const source = document.getElementById("gnode-document");
  const target = document.getElementById("gnode-explorer");
  if (source === null || target === null || target.childElementCount > 0) return;
  withStyle(target);
  try {
    // The frame of a notebook has no address of its own that a link could lead to.
    const link = location.protocol !== "about:";
    mount(target, JSON.parse(source.textContent ?? "") as ExplorerDocument, { link, page: true });
  } catch (error) {
    target.replaceChildren(element("p", { class: "gnode gnode-failure", role: "alert" }, `The explorer could not start: ${error instanceof Error ? error.message : String(error)}`));
    throw error;
  }
}

declare global {
  var gnodeExplorer: { mount: typeof mount; stats: typeof stats };
}

globalThis.gnodeExplorer = { mount, stats };
if (document.readyState === "loading") addEventListener("DOMContentLoaded", mountPage);
else mountPage();
