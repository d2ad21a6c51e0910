/** What is shown at first, and what a view becomes that does not fit its document. */
import type { NetworkDocument } from "../math/system";
import { firstPlane } from "./content";
import { startInputs } from "./controls";
import type { Model } from "./model";
import { filmOf } from "./networks";
import type { Theme, ViewState } from "./store";

/** More points than these would hide the flow behind their eigenvectors. */
const FEW_POINTS = 12;
/** A trial is played in about so many seconds. */
const TRIAL_SECONDS = 8;

type ModelOf = (index: number) => Model;

/** The view without a link: the last epoch of a film, two networks beside each other, or one alone. */
export function plainView(networks: readonly NetworkDocument[], modelOf: ModelOf, theme: Theme): ViewState {
  const film = filmOf(networks);
  const network = film.length > 0 ? film[film.length - 1] : 0;
  const model = modelOf(network);
  const { trials, base, n } = model;
  const duration = trials === null ? 100 * base.dt : trials.bins * trials.dt;
  const few = (model.network.points?.length ?? 0) <= FEW_POINTS;
  return {
    network, other: film.length === 0 && networks.length === 2 ? 1 : null, plane: firstPlane(model), limits: null, direction: 0, depths: [], space: n === 3,
    camera: { yaw: 0.7, pitch: 0.45, zoom: 1 }, inputs: startInputs(model), pulse: [], timeScale: 1, dtScale: 1, noise: 0, openGate: false, map: false,
    layers: { particles: true, points: true, vectors: n <= 3 && few, slow: false, nullclines: false, paths: n === 3, region: true, leaving: false },
    motion: !matchMedia("(prefers-reduced-motion: reduce)").matches, pace: roundPace(duration / TRIAL_SECONDS), selected: null, chosen: [], launches: [],
    trial: null, bin: 0, playing: false, speed: 1, filming: false, theme,
  };
}

/** What changes when a network with other sizes is shown. */
export function viewOfOther(model: Model): Partial<ViewState> {
  return {
    plane: firstPlane(model), limits: null, depths: [], direction: 0, space: model.n === 3, inputs: startInputs(model),
    trial: null, launches: [], selected: null, chosen: [],
  };
}

/** A view that fits the document, whatever a link says. */
export function fittingView(view: ViewState, plain: ViewState, networks: readonly NetworkDocument[], modelOf: ModelOf): ViewState {
  const network = view.network < networks.length ? view.network : plain.network;
  const model = modelOf(network);
  const { n, m, p } = model.base;
  const { plane } = view;
  const most = plane.kind === "outputs" ? p : n;
  const fits = plane.kind === "points" ? plane.points?.every((point) => point.length === n) === true : plane.i < most && plane.j < most;
  const trial = view.trial !== null && model.trials !== null && view.trial < model.trials.count ? view.trial : null;
  return {
    ...view, network, trial, plane: fits || n < 2 ? plane : firstPlane(model), space: view.space && n === 3,
    other: view.other !== null && view.other < networks.length ? view.other : null,
    inputs: Array.from({ length: m }, (_, i) => view.inputs[i] ?? 0),
    direction: Math.min(view.direction, Math.max(0, model.remaining - 1)),
  };
}

/** A pace of one significant digit: 1, 2 or 5 times a power of ten. */
function roundPace(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  const digit = value / power;
  return (digit < 1.5 ? 1 : digit < 3.5 ? 2 : digit < 7.5 ? 5 : 10) * power;
}
