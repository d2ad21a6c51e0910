/** The link in the address: what is written is read again, and nonsense is left out. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { fileName } from "../src/view/export";
import { complex, duration, percent, shown, steady, typeset } from "../src/view/format";
import { memoryOfPoint } from "../src/view/hover";
import { read, written } from "../src/view/link";
import { Store, type ViewState } from "../src/view/store";

const PLAIN: ViewState = {
  network: 0, other: null, plane: { kind: "states", i: 0, j: 1 }, limits: null, direction: 0, depths: [], space: false, camera: { yaw: 0.7, pitch: 0.45, zoom: 1 },
  inputs: [0, 0], pulse: [], timeScale: 1, dtScale: 1, noise: 0, openGate: false, map: false,
  layers: { particles: true, points: true, vectors: false, slow: false, nullclines: false, paths: false, region: true, leaving: false },
  motion: true, pace: 0.1, selected: null, chosen: [], launches: [], trial: null, bin: 0, playing: false, speed: 1, filming: false, theme: "auto",
};

const OTHER: ViewState = {
  ...PLAIN, network: 2, other: 1, plane: { kind: "points", i: 0, j: 1, points: [[0, 1, 2], [3, -4, 5.5], [1e-3, 0, 1]] }, limits: [-1, 2, -0.5, 0.25], direction: 1, depths: [0, 0.5],
  space: true, camera: { yaw: -1, pitch: 0.2, zoom: 2 }, inputs: [0.5, -1.25], timeScale: 2, dtScale: 0.5, noise: 0.3, openGate: true, map: true,
  layers: { ...PLAIN.layers, vectors: true, particles: false }, pace: 0.02, selected: 4, launches: [{ id: 1, at: [0.5, 0.25], state: [0.5, 0.25] }], trial: 3, bin: 17, theme: "dark",
};

test("a view is written and read again", () => {
  assert.equal(written(PLAIN, PLAIN), "");
  const found = read(`#${written(OTHER, PLAIN)}`);
  assert.deepEqual({ ...PLAIN, ...found }, OTHER);
});

test("a state that is too long is found again by its place", () => {
  const long: ViewState = { ...PLAIN, launches: [{ id: 1, at: [1, 2], state: new Array<number>(100).fill(0.5) }] };
  assert.deepEqual(read(written(long, PLAIN)).launches, [{ id: 1, at: [1, 2], state: null }]);
});

test("what makes no sense is left out", () => {
  const nonsense = ["network=-1", "network=x", "plane=states:0,0", "plane=moon:1,2", "limits=1,0,0,1", "limits=a", "tau=0", "tau=1e99", "theme=<b>", "camera=1,2", "__proto__=1", "constructor=1", "trial=1.5", "%=%", "bin=%E0%A4%A"];
  for (const part of nonsense) assert.deepEqual(read(`#${part}`), {}, part);
  assert.deepEqual(read("#launch=;1;x,y;1,2"), { launches: [{ id: 1, at: [1, 2], state: null }] });
});

test("listeners hear of their keys only, and no more after they have stopped", () => {
  const store = new Store(PLAIN);
  const heard: string[] = [];
  const stop = store.on(["map", "noise"], (_view, changed) => void heard.push([...changed].join()));
  store.set({ map: true });
  store.set({ map: true });
  store.set({ bin: 3 });
  store.set({ noise: 1, bin: 4 });
  stop();
  store.set({ map: false });
  assert.deepEqual(heard, ["map", "noise,bin"]);
});

test("numbers in words", () => {
  assert.deepEqual([shown(0.012345), shown(-3), shown(0), shown(123456), shown(Infinity), shown(NaN)], ["0.0123", "\u22123", "0", "1.2e5", "\u221e", "undefined"]);
  assert.deepEqual([steady(-0.001), steady(-1.005, 1)], ["0.00", "\u22121.0"]);
  assert.deepEqual([duration(0.0005), duration(0.25), duration(12), duration(Infinity)], ["500\u00a0\u00b5s", "250\u00a0ms", "12\u00a0s", "\u221e"]);
  assert.deepEqual([complex({ re: 1, im: 0 }), complex({ re: -1, im: -2 })], ["1", "\u22121 \u2212 2i"]);
  assert.deepEqual([percent(0.001), percent(0.5)], ["<\u00a01\u00a0%", "50\u00a0%"]);
  assert.equal(typeset("a square of 1.01 x the size, over 10 s (error 6.48e-06); x 2e+07"), "a square of 1.01\u00a0\u00d7 the size, over 10\u00a0s (error 6.48e\u22126); x 2e7");
});

test("names of files hold letters, digits and dashes", () => {
  assert.equal(fileName("../a b/<c>", "png"), "a-b-c.png");
  assert.equal(fileName("///", "svg"), "portrait.svg");
});

test("a marginal point drifts as fast as its fastest growing direction, whatever is slower", () => {
  assert.equal(memoryOfPoint({ kind: "marginal", timeConstants: [-12.4, 44.2] }), "drifts in 12.4\u00a0s");
  assert.equal(memoryOfPoint({ kind: "marginal", timeConstants: [44.2, 0.1] }), "drifts in 44.2\u00a0s");
  assert.equal(memoryOfPoint({ kind: "saddle", timeConstants: [-0.5, 44.2] }), "a push is lost in 500\u00a0ms");
  assert.equal(memoryOfPoint({ kind: "stable", timeConstants: [44.2] }), "unlimited");
});
