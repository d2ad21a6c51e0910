/** Light and dark: the style sheet holds the colours, and what draws on a canvas reads them from it. */
import { element } from "./dom";
import { rgb, type Rgb } from "./gl";
import type { Store, Theme } from "./store";
import { KINDS } from "./symbols";

export interface Colours {
  /** From slow to fast. */
  heat: Rgb[];
  paper: Rgb;
  ink: Rgb;
  particle: Rgb;
  particleSlow: Rgb;
  text: string;
  soft: string;
  line: string;
  /** Of fixed points, by kind. */
  kinds: Record<string, string>;
  /** Lines of traces, by channel. */
  channels: string[];
}

/** A variable may hold a colour for each theme; an element that wears it tells which one holds. */
export function coloursOf(root: HTMLElement): Colours {
  const probe = element("span", { class: "probe" });
  root.append(probe);
  const read = (name: string): string => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const found: Colours = {
    heat: [0, 1, 2, 3, 4].map((k) => rgb(read(`heat-${k}`))),
    paper: rgb(read("paper")),
    ink: rgb(read("ink")),
    particle: rgb(read("particle")),
    particleSlow: rgb(read("particle-slow")),
    text: read("ink"),
    soft: read("soft"),
    line: read("line"),
    kinds: Object.fromEntries([...KINDS, "undefined"].map((kind) => [kind, read(kind)])),
    channels: [0, 1, 2, 3, 4, 5].map((k) => read(`channel-${k}`)),
  };
  probe.remove();
  return found;
}

/** Sets the theme on the explorer, and on the page around it where the page is ours; tells when colours change. */
export class ThemeKeeper {
  private readonly dark = matchMedia("(prefers-color-scheme: dark)");
  private readonly stop: () => void;

  constructor(
    private readonly root: HTMLElement,
    private readonly store: Store,
    private readonly changed: () => void,
  ) {
    this.apply(store.state.theme);
    const ended = store.on(["theme"], ({ theme }) => this.apply(theme));
    this.dark.addEventListener("change", this.systemChanged);
    this.stop = () => {
      ended();
      this.dark.removeEventListener("change", this.systemChanged);
    };
  }

  private readonly systemChanged = (): void => this.changed();

  /** What is shown now, whoever chose it. */
  get shown(): "light" | "dark" {
    const { theme } = this.store.state;
    return theme === "auto" ? (this.dark.matches ? "dark" : "light") : theme;
  }

  toggle(): void {
    this.store.set({ theme: this.shown === "dark" ? "light" : "dark" });
  }

  private apply(theme: Theme): void {
    for (const target of [this.root, this.root.closest<HTMLElement>(".gnode-page")]) {
      if (target === null) continue;
      if (theme === "auto") target.removeAttribute("data-theme");
      else target.setAttribute("data-theme", theme);
    }
    this.changed();
  }

  destroy(): void {
    this.stop();
  }
}
