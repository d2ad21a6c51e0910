/** The view in the page's address, readable, so that a link brings someone else to the same picture. */
import { LAYERS, type Key, type Launch, type Layers, type PlaneKind, type Store, type Theme, type ViewState } from "./store";

const KINDS: readonly PlaneKind[] = ["states", "outputs", "components", "points"];
const THEMES: readonly Theme[] = ["auto", "light", "dark"];
const KEPT: readonly Key[] = [
  "network", "other", "plane", "limits", "direction", "depths", "space", "camera", "inputs", "timeScale", "dtScale", "noise", "openGate",
  "map", "layers", "pace", "selected", "launches", "trial", "bin", "theme",
];
/** Longer states are left out of a link: a launch is then found again by its place in the plane. */
const LONGEST_STATE = 12;
const WAIT = 300;

function short(value: number): string {
  return String(Number(value.toPrecision(5)));
}

function numbers(values: readonly number[]): string {
  return values.map(short).join(",");
}

/** The parts of a view that differ from `plain`, as the text after #. */
export function written(view: ViewState, plain: ViewState): string {
  const parts = new Map<string, string>();
  const put = (name: string, key: Key, text: string): void => {
    if (JSON.stringify(view[key]) !== JSON.stringify(plain[key])) parts.set(name, text);
  };
  put("network", "network", String(view.network));
  put("compare", "other", String(view.other));
  const { plane } = view;
  put("plane", "plane", plane.kind === "points" ? `points:${(plane.points ?? []).map(numbers).join(";")}` : `${plane.kind}:${plane.i},${plane.j}`);
  put("limits", "limits", numbers(view.limits ?? []));
  put("direction", "direction", String(view.direction));
  put("depths", "depths", numbers(view.depths));
  put("space", "space", view.space ? "1" : "0");
  put("camera", "camera", numbers([view.camera.yaw, view.camera.pitch, view.camera.zoom]));
  put("input", "inputs", numbers(view.inputs));
  put("tau", "timeScale", short(view.timeScale));
  put("dt", "dtScale", short(view.dtScale));
  put("noise", "noise", short(view.noise));
  put("gate", "openGate", view.openGate ? "open" : "closed");
  put("mode", "map", view.map ? "map" : "flow");
  put("show", "layers", LAYERS.filter((layer) => view.layers[layer]).join(","));
  put("pace", "pace", short(view.pace));
  put("point", "selected", String(view.selected));
  put("launch", "launches", view.launches.map(({ at, state }) => numbers([...at, ...(state !== null && state.length <= LONGEST_STATE ? state : [])])).join(";"));
  put("trial", "trial", String(view.trial));
  if (view.trial !== null && view.bin > 0) parts.set("bin", String(Math.floor(view.bin)));
  put("theme", "theme", view.theme);
  return [...parts].map(([name, text]) => `${name}=${encodeURIComponent(text).replace(/%2C/g, ",").replace(/%3A/g, ":").replace(/%3B/g, ";")}`).join("&");
}

function listOf(text: string): number[] | null {
  if (text === "") return [];
  const found = text.split(",").map(Number);
  return found.every(Number.isFinite) ? found : null;
}

function whole(text: string): number | null {
  const value = Number(text);
  return Number.isInteger(value) && value >= 0 && value < 1e6 ? value : null;
}

/** A positive factor in a sensible range. */
function factor(text: string): number | null {
  const value = Number(text);
  return value >= 1e-6 && value <= 1e6 ? value : null;
}

function planeOf(text: string): ViewState["plane"] | null {
  const [kind, rest] = text.split(":");
  if (!KINDS.includes(kind as PlaneKind) || rest === undefined) return null;
  if (kind === "points") {
    const points = rest.split(";").map(listOf);
    return points.length === 3 && points.every((point) => point !== null && point.length > 0) ? { kind, i: 0, j: 1, points: points as number[][] } : null;
  }
  const places = rest.split(",").map(whole);
  const [i, j] = places;
  return i !== null && j !== null && i !== undefined && j !== undefined && i !== j ? { kind: kind as PlaneKind, i, j } : null;
}

function launchesOf(text: string): Launch[] {
  const found: Launch[] = [];
  for (const part of text.split(";")) {
    const values = listOf(part);
    if (values === null || values.length < 2) continue;
    found.push({ id: found.length + 1, at: [values[0], values[1]], state: values.length > 2 ? values.slice(2) : null });
  }
  return found.slice(0, 20);
}

type Reader = (text: string) => Partial<ViewState> | null;
const optional = <T>(value: T | null, made: (value: T) => Partial<ViewState>): Partial<ViewState> | null => (value === null ? null : made(value));

const READERS: Record<string, Reader> = {
  network: (text) => optional(whole(text), (network) => ({ network })),
  compare: (text) => (text === "null" ? { other: null } : optional(whole(text), (other) => ({ other }))),
  plane: (text) => optional(planeOf(text), (plane) => ({ plane })),
  limits: (text) => optional(listOf(text), (v) => (v.length === 4 && v[0] < v[1] && v[2] < v[3] ? { limits: [v[0], v[1], v[2], v[3]] as const } : {})),
  direction: (text) => optional(whole(text), (direction) => ({ direction })),
  depths: (text) => optional(listOf(text), (depths) => ({ depths })),
  space: (text) => ({ space: text === "1" }),
  camera: (text) => optional(listOf(text), (v) => (v.length === 3 && v[2] > 0 ? { camera: { yaw: v[0], pitch: v[1], zoom: v[2] } } : {})),
  input: (text) => optional(listOf(text), (inputs) => ({ inputs })),
  tau: (text) => optional(factor(text), (timeScale) => ({ timeScale })),
  dt: (text) => optional(factor(text), (dtScale) => ({ dtScale })),
  noise: (text) => (text === "0" ? { noise: 0 } : optional(factor(text), (noise) => ({ noise }))),
  gate: (text) => ({ openGate: text === "open" }),
  mode: (text) => ({ map: text === "map" }),
  show: (text) => ({ layers: Object.fromEntries(LAYERS.map((layer) => [layer, text.split(",").includes(layer)])) as Layers }),
  pace: (text) => optional(factor(text), (pace) => ({ pace })),
  point: (text) => (text === "null" ? { selected: null } : optional(whole(text), (selected) => ({ selected }))),
  launch: (text) => ({ launches: launchesOf(text) }),
  trial: (text) => (text === "null" ? { trial: null } : optional(whole(text), (trial) => ({ trial }))),
  bin: (text) => optional(whole(text), (bin) => ({ bin })),
  theme: (text) => (THEMES.includes(text as Theme) ? { theme: text as Theme } : null),
};

/** Reads a link; parts that make no sense are left out. */
export function read(hash: string): Partial<ViewState> {
  let found: Partial<ViewState> = {};
  for (const part of hash.replace(/^#/, "").split("&")) {
    const at = part.indexOf("=");
    if (at < 1) continue;
    const reader = Object.hasOwn(READERS, part.slice(0, at)) ? READERS[part.slice(0, at)] : undefined;
    try {
      found = { ...found, ...reader?.(decodeURIComponent(part.slice(at + 1))) };
    } catch {
      continue; // a broken escape
    }
  }
  return found;
}

/** Keeps the address in step with the view, and the view with an address that is typed. */
export class LinkKeeper {
  private timer: ReturnType<typeof setTimeout> | null = null;
  private last = location.hash.replace(/^#/, "");
  private readonly stop: () => void;

  constructor(
    private readonly store: Store,
    private readonly plain: ViewState,
    private readonly apply: (found: Partial<ViewState>) => void,
  ) {
    const ended = store.on([...KEPT, "playing", "filming"], ({ playing, filming }) => !playing && !filming && this.later()); // what plays is kept when it stops
    addEventListener("hashchange", this.typed);
    this.stop = () => {
      ended();
      removeEventListener("hashchange", this.typed);
      if (this.timer !== null) clearTimeout(this.timer);
    };
  }

  private readonly typed = (): void => {
    const text = location.hash.replace(/^#/, "");
    if (text === this.last) return;
    this.last = text;
    this.apply({ ...Object.fromEntries(KEPT.map((key) => [key, this.plain[key]])), ...read(text) } as Partial<ViewState>);
  };

  private later(): void {
    this.timer ??= setTimeout(() => this.now(), WAIT);
  }

  /** Writes the address now and returns it. */
  now(): string {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    this.last = written(this.store.state, this.plain);
    try {
      history.replaceState(null, "", this.last === "" ? location.pathname + location.search : `#${this.last}`);
    } catch {
      // a frame without an address of its own: the link is still returned
    }
    return location.href;
  }

  destroy(): void {
    this.stop();
  }
}
