/** Sliders with a name, a value in words, and a double click that puts them back. */
import { element, identifier } from "./dom";

export interface SliderOptions {
  /** For tests: `slider-tau`. */
  test: string;
  label: string;
  min: number;
  max: number;
  step: number;
  value: number;
  /** The value that a double click restores. */
  rest: number;
  words(value: number): string;
  changed(value: number): void;
}

export interface Slider {
  element: HTMLElement;
  input: HTMLInputElement;
  set(value: number): void;
  limit(min: number, max: number): void;
}

export function slider(options: SliderOptions, ...beside: HTMLElement[]): Slider {
  const id = identifier();
  const input = element("input", { type: "range", id, min: options.min, max: options.max, step: options.step, "data-test": options.test });
  const words = element("output", { for: id, class: "value" });
  const show = (value: number): void => {
    const text = options.words(value);
    words.textContent = text;
    input.setAttribute("aria-valuetext", text);
    const [min, max] = [Number(input.min), Number(input.max)];
    const share = (at: number): number => Math.min(1, Math.max(0, (at - min) / (max - min)));
    const ends = [share(value), share(options.rest)].sort((a, b) => a - b); // filled from where the slider rests
    ends.forEach((end, k) => input.style.setProperty(k === 0 ? "--from" : "--to", `${Math.round(1000 * end) / 10}%`));
  };
  const set = (value: number): void => {
    if (Number(input.value) !== value) input.value = String(value);
    show(value);
  };
  input.addEventListener("input", () => {
    show(Number(input.value));
    options.changed(Number(input.value));
  });
  input.addEventListener("dblclick", () => {
    set(options.rest);
    options.changed(options.rest);
  });
  set(options.value);
  const row = element("div", { class: "slider-row" }, input, ...beside);
  const made = element("div", { class: "slider" }, element("label", { for: id }, options.label), words, row);
  const limit = (min: number, max: number): void => {
    input.min = String(min);
    input.max = String(max);
    show(Number(input.value));
  };
  return { element: made, input, set, limit };
}

export interface Switch {
  element: HTMLElement;
  set(chosen: number): void;
}

/** Two or three ways of which one holds. */
export function choice(name: string, test: string, labels: readonly string[], chosen: number, changed: (index: number) => void): Switch {
  const group = identifier();
  const inputs = labels.map((_label, k) => element("input", { type: "radio", name: group, id: `${group}-${k}`, value: k, "data-test": `${test}-${k}` }));
  inputs.forEach((input, k) => input.addEventListener("change", () => changed(k)));
  const parts = inputs.flatMap((input, k) => [input, element("label", { for: input.id }, labels[k])]);
  const made = element("div", { class: "choice", role: "radiogroup", "aria-label": name, "data-test": test }, ...parts);
  const set = (index: number): void => void (inputs[index].checked = true);
  set(chosen);
  return { element: made, set };
}

export function tick(label: string, test: string, on: boolean, changed: (on: boolean) => void, title?: string): { element: HTMLElement; set(on: boolean): void } {
  const input = element("input", { type: "checkbox", "data-test": test });
  input.checked = on;
  input.addEventListener("change", () => changed(input.checked));
  return { element: element("label", { class: "check", title }, input, element("span", {}, label)), set: (value) => void (input.checked = value) };
}
