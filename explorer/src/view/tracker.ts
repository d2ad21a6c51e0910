/** Finds the fixed points, follows them while a slider moves, and tells what happens to them. */
import { following, searching, MERGE_RADIUS, type FixedPoint, type SearchOptions } from "../math/fixed-points";
import type { Kind, System } from "../math/system";
import type { Tracked } from "./overlay";
import type { Job, Scheduler } from "./scheduler";

/** Under what points are fixed. */
export interface Conditions {
  system: System;
  x: Float64Array;
  kind: "flow" | "map";
  dt: number;
}

/** The slider that moves, for the bar of events. */
export interface Parameter {
  name: string;
  value: number;
}

export interface Happening {
  what: "born" | "died" | "changed";
  kind: Kind;
  /** The kind after a change. */
  now: Kind;
  parameter: Parameter;
}

interface Listener {
  changed(): void;
  happened(happenings: Happening[]): void;
  /** The points at one place of the slider's way. */
  passed(parameter: Parameter, points: readonly Tracked[]): void;
}

/** Of a continuum so many points are shown; isolated points are no part of it and are not counted with them. */
const MOST_MARGINAL = 120;
/** Isolated points beyond these are left out, and the page says so. */
export const MOST_ISOLATED = 2000;

/** States from which points are looked for: some at once, and others in rounds that know what the ones before have found. */
export interface Starts {
  known: readonly Float64Array[];
  more?(conditions: Conditions, points: readonly Tracked[], round: number): Generator<void, readonly Float64Array[], void>;
}

/** Rounds end when one finds nothing, and at the latest after so many. */
const MOST_ROUNDS = 4;

/** Where a slider leads, and how. */
export interface Target {
  conditions: Conditions;
  parameter: Parameter;
  /** The parameter's value where the way begins. */
  from: number;
  /** The most that an input changes at once; infinite if there is no way between. */
  step: number;
  /** States from which new points are looked for at every step. */
  starts(): Float64Array[];
}

/** Where points died they may be born again; so many places are remembered. */
const MOST_GHOSTS = 12;
/** A continuum that appears at once has no partners. */
const MOST_PARTNERS = 8;
/** Places at which a point that was found late is sought on the way back. */
const STEPS_BACK = 20;
/** How far from a new point its partner is sought, in spacings. */
const ASIDE = [0.3, 1.5, 6];

/** Starts on both sides of a point, along the direction in which pushes change most slowly. */
function beside(point: FixedPoint, spacing: number): Float64Array[] {
  const n = point.h.length;
  const rates = point.timeConstants.map((constant) => Math.abs(1 / constant));
  const slowest = rates.indexOf(Math.min(...rates));
  if (slowest < 0) return [];
  const { re } = point.eigenvectors;
  return ASIDE.flatMap((aside) => [-1, 1].map((sign) => point.h.map((value, i) => value + sign * aside * spacing * re[i * n + slowest])));
}

export class PointTracker {
  points: Tracked[] = [];
  /** Whether there are isolated points beyond the most that are kept. */
  isFull = false;
  private conditions: Conditions | null = null;
  private target: Target | null = null;
  /** The input at which points were last looked for everywhere; null if they never were. */
  private rest: Float64Array | null = null;
  /** Whether another network is shown than when points were last looked for everywhere. */
  private isOther = false;
  /** Where the slider was then. */
  private way: Parameter | null = null;
  private ghosts: Float64Array[] = [];
  private ids = 0;

  constructor(
    private readonly scheduler: Scheduler,
    private readonly name: string,
    private readonly listener: Listener,
    /** The least distance of two points that are shown of a continuum. */
    private readonly spacing: number,
    private readonly mostIsolated = MOST_ISOLATED,
  ) {}

  byId(id: number | null): Tracked | null {
    return this.points.find((tracked) => tracked.id === id) ?? null;
  }

  private count(marginal: boolean): number {
    return this.points.reduce((sum, { point }) => sum + ((point.kind === "marginal") === marginal ? 1 : 0), 0);
  }

  /** Whether points are still being looked for or followed. */
  get busy(): boolean {
    return this.scheduler.has(`${this.name} search`) || this.scheduler.has(`${this.name} follow`);
  }

  /** Forgets all points and searches from the starts. */
  reset(conditions: Conditions, starts: Starts): void {
    this.scheduler.stop(`${this.name} follow`);
    this.target = null;
    this.rest = null;
    this.isOther = false;
    this.isFull = false;
    this.way = null;
    this.ghosts = [];
    this.conditions = conditions;
    this.points = [];
    this.listener.changed();
    this.search(starts, null);
  }

  /**
   * Follows the points to other conditions. A target that is set while the points are on their way replaces the old one after the
   * step that is under way, so that a slider in motion is always followed.
   */
  moveTo(target: Target): void {
    this.scheduler.stop(`${this.name} search`);
    this.isFull = false;
    this.target = target;
    if (!Number.isFinite(target.step)) this.isOther = true; // nothing is known of it
    this.way ??= { name: target.parameter.name, value: target.from };
    if (!this.scheduler.has(`${this.name} follow`)) this.scheduler.start(`${this.name} follow`, this.walk());
  }

  /** Looks for points that are not known yet; with a parameter it tells which of them are born. */
  search(starts: Starts, parameter: Parameter | null): void {
    this.scheduler.start(`${this.name} search`, this.lookFor(starts, parameter));
  }

  private options(conditions: Conditions): SearchOptions {
    return { kind: conditions.kind, dt: conditions.dt, spacing: this.spacing };
  }

  private *walk(): Job {
    let parameter: Parameter | null = null;
    for (let target = this.target; target !== null; target = this.target) {
      const here = this.conditions?.x ?? target.conditions.x;
      const { x } = target.conditions;
      let distance = 0;
      for (let i = 0; i < x.length; i++) distance = Math.max(distance, Math.abs(x[i] - here[i]));
      const share = distance > target.step ? target.step / distance : 1;
      const next = share === 1 ? x : Float64Array.from(x, (value, i) => here[i] + share * (value - here[i]));
      const known: number = parameter !== null && parameter.name === target.parameter.name ? parameter.value : target.from;
      parameter = { name: target.parameter.name, value: known + share * (target.parameter.value - known) };
      if (share === 1 && this.target === target) this.target = null;
      yield* this.followOnce(Number.isFinite(target.step) ? here : null, { ...target.conditions, x: next }, parameter, target.starts());
    }
  }

  private *followOnce(from: Float64Array | null, conditions: Conditions, parameter: Parameter, starts: Float64Array[]): Job {
    const { system, x } = conditions;
    const options = { ...this.options(conditions), from: from ?? undefined };
    const given = this.points.map((tracked) => tracked.point);
    const change = yield* following(given, system, x, { ...options, starts: [...starts, ...this.ghosts] });
    // At the same input a gate, tau, a time step or the map move no zero of the drift: whatever comes or goes was overlooked.
    const stays = from !== null && from.every((value, i) => value === x[i]);
    const missed = new Set(stays ? change.born : change.missed); // these were there before, and are no event
    const born = change.born.filter((point) => !missed.has(point));
    const partners = yield* this.partnersOf(born, change.points, conditions);
    this.conditions = conditions;
    const died = new Set(change.died);
    const survivors = this.points.filter((tracked) => !died.has(tracked.point));
    this.points = survivors.map((tracked, k) => ({ id: tracked.id, point: change.points[k] }));
    for (const point of [...change.born, ...partners]) this.points.push({ id: ++this.ids, point });
    this.ghosts = [...this.ghosts, ...change.died.map((point) => point.h)].slice(-MOST_GHOSTS);
    const happenings: Happening[] = [
      ...[...born, ...partners].map((point) => ({ what: "born" as const, kind: point.kind, now: point.kind, parameter })),
      ...(stays ? [] : change.died).map((point) => ({ what: "died" as const, kind: point.kind, now: point.kind, parameter })),
      ...change.changed.map(({ before, after }) => ({ what: "changed" as const, kind: before.kind, now: after.kind, parameter })),
    ];
    this.listener.changed();
    this.listener.passed(parameter, this.points);
    if (happenings.length > 0) this.listener.happened(happenings);
  }

  /** Points are born in pairs: looks for the partner of each on both sides of it, along its slowest direction. */
  private *partnersOf(born: readonly FixedPoint[], known: readonly FixedPoint[], conditions: Conditions): Generator<void, FixedPoint[], void> {
    if (born.length === 0 || born.length > MOST_PARTNERS) return [];
    const starts = born.flatMap((point) => beside(point, this.spacing));
    return yield* searching(conditions.system, conditions.x, starts, { ...this.options(conditions), known: [...known] });
  }

  private *lookFor(starts: Starts, parameter: Parameter | null): Job {
    const { conditions } = this;
    if (conditions === null) return;
    const added = yield* this.searchFrom(starts.known, conditions);
    for (let round = 0; starts.more !== undefined && round < MOST_ROUNDS; round++) {
      const more = yield* starts.more(conditions, this.points, round);
      const found = yield* this.searchFrom(more, conditions);
      added.push(...found);
      if (found.length === 0 && round > 0) break;
    }
    if (parameter === null) this.sort();
    else yield* this.tellBorn(added, conditions, parameter);
    this.rest = conditions.x;
    this.isOther = false;
    this.way = null;
    this.listener.changed();
  }

  private *searchFrom(starts: readonly Float64Array[], conditions: Conditions): Generator<void, Tracked[], void> {
    const added: Tracked[] = [];
    for (const start of starts) {
      const known = this.points.map((tracked) => tracked.point);
      const found = yield* searching(conditions.system, conditions.x, [start], { ...this.options(conditions), known });
      for (const point of found.filter((each) => this.isNew(each) && this.hasRoomFor(each))) {
        const tracked = { id: ++this.ids, point };
        this.points.push(tracked);
        added.push(tracked);
        this.listener.changed();
      }
      yield;
    }
    return added;
  }

  private hasRoomFor(point: FixedPoint): boolean {
    const isMarginal = point.kind === "marginal";
    const hasRoom = this.count(isMarginal) < (isMarginal ? MOST_MARGINAL : this.mostIsolated);
    if (!hasRoom && !isMarginal) this.isFull = true;
    return hasRoom;
  }

  /** Of points that were found late, those are born that cannot be followed back to where everything was known: there they are dated. */
  private *tellBorn(added: readonly Tracked[], conditions: Conditions, parameter: Parameter): Job {
    const begun = new Map<number, Happening[]>();
    for (const { point } of added) {
      const share = yield* this.birthOf(point, conditions);
      if (share === null) continue;
      const { way } = this;
      const value = way !== null && way.name === parameter.name ? way.value + share * (parameter.value - way.value) : parameter.value;
      const same = begun.get(share) ?? [];
      begun.set(share, [...same, { what: "born", kind: point.kind, now: point.kind, parameter: { ...parameter, value } }]);
    }
    for (const happenings of begun.values()) this.listener.happened(happenings);
  }

  /** The share of the way from where everything was known at which a point appears; null if it was there from the beginning. */
  private *birthOf(point: FixedPoint, conditions: Conditions): Generator<void, number | null, void> {
    const { rest, isOther } = this;
    if (isOther) return 1;
    if (rest === null) return null; // the first search was not over when the slider moved
    const { system, x } = conditions;
    const steps = x.length > 0 && x.some((value, i) => value !== rest[i]) ? STEPS_BACK : 1;
    let alive = point;
    let from = x;
    for (let k = steps - 1; k >= 0; k--) {
      const to = Float64Array.from(x, (value, i) => rest[i] + (k / steps) * (value - rest[i]));
      const back = yield* following([alive], system, to, { ...this.options(conditions), from });
      if (back.died.length > 0) return (k + 0.5) / steps;
      [alive] = back.points;
      from = to;
    }
    return null;
  }

  private isNew(point: FixedPoint): boolean {
    for (const { point: known } of this.points) {
      let squares = 0;
      for (let i = 0; i < point.h.length; i++) squares += (point.h[i] - known.h[i]) ** 2;
      const least = point.kind === "marginal" && known.kind === "marginal" ? this.spacing : MERGE_RADIUS;
      if (squares <= least * least) return false;
    }
    return true;
  }

  /** Stable points come first, then by the slowest direction. */
  private sort(): void {
    const rank: Record<string, number> = { stable: 0, marginal: 1, saddle: 2, unstable: 3 };
    this.points.sort((a, b) => (rank[a.point.kind] ?? 4) - (rank[b.point.kind] ?? 4) || a.id - b.id);
  }
}
