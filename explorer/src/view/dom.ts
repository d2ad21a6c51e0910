/** Elements are made here only, and text is only ever set as text: a name from a file cannot become markup. */

type Attributes = Record<string, string | number | boolean | null | undefined>;
type Child = Node | string | null | undefined;

/** Makes an element. `true` sets an empty attribute; false, null and undefined set none. */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    made.setAttribute(name, value === true ? "" : String(value));
  }
  append(made, ...children);
  return made;
}

/** Appends nodes, and strings as text. */
export function append(parent: Node, ...children: Child[]): void {
  for (const child of children) {
    if (child === null || child === undefined) continue;
    parent.appendChild(typeof child === "string" ? document.createTextNode(child) : child);
  }
}

/** Replaces everything inside an element. */
export function fill(parent: HTMLElement, ...children: Child[]): void {
  parent.replaceChildren();
  append(parent, ...children);
}

/** Listens, and returns a function that stops listening. */
export function listen<K extends keyof HTMLElementEventMap>(
  target: HTMLElement | Window | Document,
  type: K,
  heard: (event: HTMLElementEventMap[K]) => void,
  options?: AddEventListenerOptions,
): () => void {
  const listener = heard as EventListener;
  target.addEventListener(type, listener, options);
  return () => target.removeEventListener(type, listener, options);
}

/** A quiet button with a name for screen readers. */
export function button(label: string, pressed: () => void, attributes: Attributes = {}): HTMLButtonElement {
  const made = element("button", { type: "button", ...attributes }, label);
  made.addEventListener("click", pressed);
  return made;
}

/** A list to choose from; its values are places in `labels`. */
export function chooser(name: string, labels: string[], chosen: number, changed: (index: number) => void): HTMLSelectElement {
  const made = element("select", { "aria-label": name });
  labels.forEach((label, i) => made.appendChild(element("option", { value: i }, label)));
  made.value = String(chosen);
  made.addEventListener("change", () => changed(Number(made.value)));
  return made;
}

let identifiers = 0;

/** A new id for elements that name each other. */
export function identifier(): string {
  identifiers += 1;
  return `gnode-${identifiers}`;
}

/** For small canvases: drawn by the processor, which is quicker for a few lines than a detour by the graphics card. */
export const PLAIN: CanvasRenderingContext2DSettings = { willReadFrequently: true };
