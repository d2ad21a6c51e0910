/** What moves in the view: trajectories, the live state, trials, and the points that follow a slider. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { middles } from "../src/math/slow-states";
import { Live } from "../src/view/live";
import { trajectory, type Law, type Trajectory } from "../src/view/motion";
import type { Tracked } from "../src/view/overlay";
import { Scheduler } from "../src/view/scheduler";
import { PointTracker, type Happening } from "../src/view/tracker";
import { systemFrom } from "./systems";

/** dh/dt = x + h - h^3: three points near x = 0, one beyond the folds at |x| = 2 / sqrt(27). */
const FOLD = 2 / Math.sqrt(27);
const cubic = systemFrom({ n: 1, field: (h, x, out) => void (out[0] = x[0] + h[0] - h[0] ** 3) });
const decay = systemFrom({ n: 1, field: (h, x, out) => void (out[0] = x[0] - h[0]) });
const law = (map: boolean, noise = 0): Law => ({ system: decay, map, dt: 0.1, noise });

function finish(scheduler: Scheduler): void {
  while (scheduler.busy) scheduler.run(1000);
}

interface Watched {
  tracker: PointTracker;
  happened: Happening[];
  /** Moves the slider; `seeking` says whether new points are looked for on the way. */
  move(to: number, seeking?: boolean): void;
  search(): void;
}

function tracked(x: number, brokenOff = false): Watched {
  const scheduler = new Scheduler();
  const happened: Happening[] = [];
  const tracker = new PointTracker(scheduler, "test", { changed: () => undefined, happened: (all) => void happened.push(...all), passed: () => undefined }, 0.01);
  const starts = [-1.2, -0.1, 0.1, 1.2].map((value) => Float64Array.of(value));
  const conditions = (value: number) => ({ system: cubic, x: Float64Array.of(value), kind: "flow" as const, dt: 0.1 });
  tracker.reset(conditions(x), { known: starts });
  if (brokenOff) while (tracker.points.length === 0) scheduler.run(0);
  else finish(scheduler);
  let from = x;
  const move = (to: number, seeking = true): void => {
    tracker.moveTo({ conditions: conditions(to), parameter: { name: "x", value: to }, from, step: 0.02, starts: () => (seeking ? starts : []) });
    finish(scheduler);
    from = to;
  };
  const search = (): void => {
    tracker.search({ known: starts }, { name: "x", value: from });
    finish(scheduler);
  };
  return { tracker, happened, move, search };
}

const kinds = (points: readonly Tracked[]): string => points.map(({ point }) => point.kind).sort().join();

test("two points vanish at the fold, and the third goes on", () => {
  const { tracker, happened, move } = tracked(0);
  assert.equal(kinds(tracker.points), "stable,stable,unstable");
  const upper = tracker.points.find(({ point }) => point.h[0] > 0.5) as Tracked;
  move(0.6);
  assert.equal(kinds(tracker.points), "stable");
  assert.equal(tracker.points[0].id, upper.id, "a point keeps its number while it is followed");
  assert.deepEqual(happened.map(({ what }) => what), ["died", "died"]);
  for (const { parameter } of happened) assert.ok(Math.abs(parameter.value - FOLD) < 0.03, `died at ${parameter.value}`);
});

test("they are born again on the way back", () => {
  const { tracker, happened, move } = tracked(0.6);
  assert.equal(kinds(tracker.points), "stable");
  move(0);
  assert.equal(kinds(tracker.points), "stable,stable,unstable");
  assert.deepEqual(happened.map(({ what }) => what), ["born", "born"]);
  for (const { parameter } of happened) assert.ok(Math.abs(parameter.value - FOLD) < 0.03, `born at ${parameter.value}`);
});

test("a point is born with its partner, on the way to where both are gone again", () => {
  const { tracker, happened, move } = tracked(0.6);
  move(-0.6);
  assert.equal(kinds(tracker.points), "stable");
  assert.deepEqual(happened.map(({ what }) => what), ["born", "born", "died", "died"]);
  happened.forEach(({ parameter }, k) => assert.ok(Math.abs(parameter.value - (k < 2 ? FOLD : -FOLD)) < 0.03, `at ${parameter.value}`));
});

test("points that died are found again where they died, without any search", () => {
  const { tracker, move } = tracked(0);
  move(0.6, false);
  move(0, false);
  assert.equal(kinds(tracker.points), "stable,stable,unstable");
});

test("points that are found late are dated to where they were born", () => {
  const { tracker, happened, move, search } = tracked(0.6);
  move(0.1, false);
  assert.equal(kinds(tracker.points), "stable");
  search();
  assert.equal(kinds(tracker.points), "stable,stable,unstable");
  assert.deepEqual(happened.map(({ what }) => what), ["born", "born"]);
  for (const { parameter } of happened) assert.ok(Math.abs(parameter.value - FOLD) < 0.03, `born at ${parameter.value}`);
});

test("what is found while the input stays is no event, even close to another point", () => {
  const close = systemFrom({ n: 1, field: (h, _x, out) => void (out[0] = -1e6 * h[0] * (h[0] - 5e-4) * (h[0] + 1)) });
  const scheduler = new Scheduler();
  const happened: Happening[] = [];
  const tracker = new PointTracker(scheduler, "test", { changed: () => undefined, happened: (all) => void happened.push(...all), passed: () => undefined }, 0.01);
  const conditions = { system: close, x: Float64Array.of(0), kind: "flow" as const, dt: 0.1 };
  tracker.reset(conditions, { known: [Float64Array.of(6e-4), Float64Array.of(-1.1)] });
  finish(scheduler);
  assert.equal(tracker.points.length, 2);
  tracker.moveTo({ conditions, parameter: { name: "gate", value: 1 }, from: 0, step: 1, starts: () => [Float64Array.of(-1e-6)] });
  finish(scheduler);
  assert.equal(tracker.points.length, 3);
  assert.deepEqual(happened, []);
});

test("points that are found late because the first search was broken off are no event", () => {
  const { tracker, happened, move, search } = tracked(0, true);
  assert.ok(tracker.points.length < 3);
  move(0.01, false);
  search();
  assert.equal(kinds(tracker.points), "stable,stable,unstable");
  assert.deepEqual(happened, []);
});

test("points that were overlooked are no event", () => {
  const { tracker, happened, search } = tracked(0);
  tracker.points.splice(0, 1);
  search();
  assert.equal(tracker.points.length, 3);
  assert.deepEqual(happened, []);
});

test("isolated points beyond the most are left out, and that is known", () => {
  const scheduler = new Scheduler();
  const tracker = new PointTracker(scheduler, "test", { changed: () => undefined, happened: () => undefined, passed: () => undefined }, 0.01, 2);
  const conditions = { system: cubic, x: Float64Array.of(0), kind: "flow" as const, dt: 0.1 };
  const starts = (values: number[]) => ({ known: values.map((value) => Float64Array.of(value)) });
  tracker.reset(conditions, starts([-1.2, 1.2, -1.1]));
  finish(scheduler);
  assert.deepEqual([tracker.points.length, tracker.isFull], [2, false]);
  tracker.reset(conditions, starts([-1.2, 1.2, 0.1]));
  finish(scheduler);
  assert.deepEqual([tracker.points.length, tracker.isFull], [2, true]);
});

test("starts that depend on what is found are tried after the others", () => {
  const scheduler = new Scheduler();
  const tracker = new PointTracker(scheduler, "test", { changed: () => undefined, happened: () => undefined, passed: () => undefined }, 0.01);
  const conditions = { system: cubic, x: Float64Array.of(0), kind: "flow" as const, dt: 0.1 };
  tracker.reset(conditions, {
    known: [Float64Array.of(-1.2), Float64Array.of(1.2)],
    *more(_given, points) { return middles(points.map(({ point }) => point.h), 5); },
  });
  finish(scheduler);
  assert.equal(kinds(tracker.points), "stable,stable,unstable");
});

function run(start: number, x: number, given: Law): Trajectory {
  const made: Trajectory = { states: new Float64Array(), rows: 0, time: 0, done: false };
  for (const _ of trajectory(made, given, Float64Array.of(start), Float64Array.of(x), 1, 1)) continue;
  return made;
}

test("a trajectory ends at rest, at the fixed point", () => {
  const made = run(2, 0.5, law(false));
  assert.ok(made.done && made.rows > 20);
  assert.ok(Math.abs(made.states[made.rows - 1] - 0.5) < 1e-3);
  assert.equal(made.states[0], 2);
});

test("a map's trajectory holds every step", () => {
  const made = run(1, 0, law(true));
  for (let k = 0; k < 10; k++) assert.ok(Math.abs(made.states[k] - 0.9 ** k) < 1e-12);
});

test("noise is the same each time, and grows with its size", () => {
  const [one, two, none] = [run(0, 0, law(true, 0.5)), run(0, 0, law(true, 0.5)), run(0, 0, law(true))];
  assert.deepEqual(one.states, two.states);
  assert.ok(one.states.some((value) => value !== 0) && none.states.every((value) => value === 0));
});

test("the live state follows the flow in its own time, and rests when nothing happens", () => {
  const live = new Live(1, 1, 1);
  live.put([1]);
  const x = Float64Array.of(0);
  for (let k = 0; k < 60; k++) live.advance(law(false), x, 1 / 60, 2);
  assert.ok(Math.abs(live.h[0] - Math.exp(-2)) < 1e-5, "two seconds of the network in one of the viewer");
  let awake = 0;
  for (let k = 0; k < 3000; k++) if (live.advance(law(false), x, 1 / 60, 2)) awake += 1;
  assert.ok(awake > 100 && awake < 2000, `awake for ${awake} frames`);
  assert.ok(live.advance(law(false), Float64Array.of(1), 1 / 60, 2), "a pulse wakes it");
  live.held = true;
  const held = live.h[0];
  live.advance(law(false), Float64Array.of(1), 1 / 60, 2);
  assert.equal(live.h[0], held, "a hand holds it");
});
