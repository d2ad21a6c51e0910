/** The state of the view: everything that a permanent link keeps, and the little that it does not. */

export type PlaneKind = "states" | "outputs" | "components" | "points";

/** Which plane of the state space is shown; `points` are three states for the plane through three points. */
export interface PlaneChoice {
  kind: PlaneKind;
  i: number;
  j: number;
  points?: number[][];
}

export type Limits = readonly [number, number, number, number];

export interface Camera {
  yaw: number;
  pitch: number;
  zoom: number;
}

/** A trajectory's beginning: a place in the plane, and the state itself where it is known. */
export interface Launch {
  id: number;
  at: readonly [number, number];
  state: number[] | null;
}

export const LAYERS = ["particles", "points", "vectors", "slow", "nullclines", "paths", "region", "leaving"] as const;
export type Layer = (typeof LAYERS)[number];
export type Layers = Readonly<Record<Layer, boolean>>;

export type Theme = "auto" | "light" | "dark";

export interface ViewState {
  /** The network that is shown, and the one it is compared with. */
  network: number;
  other: number | null;
  plane: PlaneChoice;
  /** What part of the plane is shown; null shows all of it. */
  limits: Limits | null;
  /** Which remaining direction the slider moves along, and how far along each. */
  direction: number;
  depths: readonly number[];
  /** Whether a network with three states is shown in space. */
  space: boolean;
  camera: Camera;
  /** The constant input, and what a pulse adds to it for now. */
  inputs: readonly number[];
  pulse: readonly number[];
  /** Multiply tau and dt. */
  timeScale: number;
  dtScale: number;
  noise: number;
  openGate: boolean;
  /** Whether the trained map is shown in place of the flow. */
  map: boolean;
  layers: Layers;
  /** Whether particles and the live state move. */
  motion: boolean;
  /** Seconds of the network in a second of the viewer. */
  pace: number;
  selected: number | null;
  /** Points chosen for the plane through three points. */
  chosen: readonly number[];
  launches: readonly Launch[];
  /** The trial that is played (null: the state moves freely), its bin, and whether time passes. */
  trial: number | null;
  bin: number;
  playing: boolean;
  speed: number;
  filming: boolean;
  theme: Theme;
}

export type Key = keyof ViewState;
type Heard = (state: ViewState, changed: ReadonlySet<Key>) => void;

/** Holds the state and tells those who listen to a part of it when that part changes. */
export class Store {
  private readonly listeners = new Set<{ keys: ReadonlySet<Key>; heard: Heard }>();

  constructor(private current: ViewState) {}

  get state(): ViewState {
    return this.current;
  }

  set(patch: Partial<ViewState>): void {
    const changed = new Set<Key>();
    for (const key of Object.keys(patch) as Key[]) if (patch[key] !== this.current[key]) changed.add(key);
    if (changed.size === 0) return;
    this.current = { ...this.current, ...patch };
    for (const listener of [...this.listeners]) {
      if (!this.listeners.has(listener)) continue;
      if ([...changed].some((key) => listener.keys.has(key))) listener.heard(this.current, changed);
    }
  }

  /** Calls `heard` after each change of one of `keys`; returns a function that ends it. */
  on(keys: readonly Key[], heard: Heard): () => void {
    const listener = { keys: new Set(keys), heard };
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }
}
