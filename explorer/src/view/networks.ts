/** Several networks in one page: which is shown, which it is compared with, and the film of training. */
import { button, chooser, element, fill } from "./dom";
import { slider, type Slider } from "./sliders";
import type { NetworkDocument } from "../math/system";
import type { Store } from "./store";

/** How long a film shows each epoch. */
const SECONDS_PER_EPOCH = 0.7;

/** A network's name in lists; the epoch where there is one. */
export function nameOf(network: NetworkDocument): string {
  return network.epoch === null ? network.name : `${network.name}, epoch ${network.epoch}`;
}

/** The networks of a film by their epochs, or none if there is no film. */
export function filmOf(networks: readonly NetworkDocument[]): number[] {
  const found = networks.map((network, k) => ({ epoch: network.epoch, k })).filter(({ epoch }) => epoch !== null);
  found.sort((a, b) => (a.epoch ?? 0) - (b.epoch ?? 0));
  return found.length < 2 ? [] : found.map(({ k }) => k);
}

export class NetworksBar {
  readonly element = element("div", { class: "networks" });
  private readonly film: number[];
  private readonly reel: Slider | null = null;
  private play: HTMLButtonElement | null = null;
  private waited = 0;
  private readonly stop: () => void;

  constructor(
    private readonly store: Store,
    private readonly networks: readonly NetworkDocument[],
  ) {
    this.film = filmOf(networks);
    this.element.hidden = networks.length < 2;
    const show = this.chooser("show", "network", false);
    const compare = this.chooser("compare with", "compare", true);
    if (this.film.length > 0) {
      this.reel = slider({
        test: "film", label: "epoch of training", min: 0, max: this.film.length - 1, step: 1, rest: 0, value: this.place,
        words: (k) => String(networks[this.film[k]]?.epoch ?? ""),
        changed: (k) => store.set({ network: this.film[k], filming: false }),
      });
      this.play = button("Play film", () => this.toggle(), { "data-test": "film-play" });
    }
    const isFilmOnly = this.film.length === networks.length;
    fill(this.element, isFilmOnly ? null : show, this.reel === null ? null : element("div", { class: "reel" }, this.reel.element, this.play), compare);
    this.stop = store.on(["network", "other", "filming"], () => this.sync());
  }

  private get place(): number {
    return Math.max(0, this.film.indexOf(this.store.state.network));
  }

  private chooser(label: string, test: string, optional: boolean): HTMLElement {
    const names = this.networks.map(nameOf);
    const { network, other } = this.store.state;
    const made = optional
      ? chooser(label, ["nothing", ...names], other === null ? 0 : other + 1, (k) => this.store.set({ other: k === 0 ? null : k - 1 }))
      : chooser(label, names, network, (k) => this.store.set({ network: k, filming: false }));
    made.setAttribute("data-test", test);
    return element("label", { class: "field" }, element("span", {}, label), made);
  }

  /** Plays the film from here, or from its beginning if it is over. */
  toggle(): void {
    const { filming } = this.store.state;
    const ended = this.place === this.film.length - 1;
    this.waited = 0;
    this.store.set(filming ? { filming: false } : { filming: true, network: ended ? this.film[0] : this.store.state.network });
  }

  frame(seconds: number): void {
    if (!this.store.state.filming) return;
    this.waited += seconds;
    if (this.waited < SECONDS_PER_EPOCH) return;
    this.waited = 0;
    const next = this.place + 1;
    if (next >= this.film.length) this.store.set({ filming: false });
    else this.store.set({ network: this.film[next] });
  }

  private sync(): void {
    const { network, other, filming } = this.store.state;
    this.reel?.set(this.place);
    if (this.play !== null) this.play.textContent = filming ? "Pause film" : "Play film";
    for (const [test, value] of [["network", network], ["compare", other === null ? 0 : other + 1]] as const) {
      const select = this.element.querySelector<HTMLSelectElement>(`[data-test="${test}"]`);
      if (select !== null) select.value = String(value);
    }
  }

  destroy(): void {
    this.stop();
  }
}
