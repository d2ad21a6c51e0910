/** Systems with closed forms, as the page sees a network. */
import { differences } from "../src/math/derivatives";
import type { System } from "../src/math/system";

interface Given {
  n: number;
  m?: number;
  p?: number;
  tau?: number;
  dt?: number;
  field: (h: Float64Array, x: Float64Array, out: Float64Array) => void;
  readout?: (h: Float64Array, out: Float64Array) => void;
}

/** A system from its field, with a Jacobian by differences and Euler's map. */
export function systemFrom({ n, m = 1, p = n, tau = 1, dt = 0.1, field, readout }: Given): System {
  const velocity = new Float64Array(n);
  const system: System = {
    name: "test", n, m, p, tau, dt, hasGate: false, hasStep: false, field,
    fieldMany: (hs, count, x, out) => {
      for (let k = 0; k < count; k++) field(hs.subarray(k * n, (k + 1) * n), x, out.subarray(k * n, (k + 1) * n));
    },
    jacobian: (h, x, out) => differences((state, rate) => field(state, x, rate), h, n, out),
    step: (h, x, step, out) => {
      field(h, x, velocity);
      for (let i = 0; i < n; i++) out[i] = h[i] + step * velocity[i];
    },
    mapJacobian: (h, x, step, out) => {
      system.jacobian(h, x, out);
      for (let k = 0; k < n * n; k++) out[k] = step * out[k] + (k % (n + 1) === 0 ? 1 : 0);
    },
    readout: readout ?? ((h, out) => out.set(h)),
    gate: (_h, _x, out) => out.fill(1),
    drift: (h, x, out) => {
      field(h, x, out);
      for (let i = 0; i < n; i++) out[i] *= tau;
    },
    driftJacobian: (h, x, out) => {
      system.jacobian(h, x, out);
      for (let k = 0; k < n * n; k++) out[k] *= tau;
    },
    initial: (_x, out) => out.fill(0),
    withOptions: () => system,
  };
  return system;
}

/** dh/dt = A h + x. */
export function linear(A: number[][], dt = 0.1): System {
  const n = A.length;
  return systemFrom({
    n, m: n, dt,
    field: (h, x, out) => { for (let i = 0; i < n; i++) out[i] = x[i] + A[i].reduce((sum, entry, j) => sum + entry * h[j], 0); },
  });
}

/** dh/dt = x h - h^3: one point for x < 0, three for x > 0. */
export const pitchfork = systemFrom({ n: 1, field: (h, x, out) => { out[0] = x[0] * h[0] - h[0] ** 3; } });

/** dh/dt = x - h^2, and a second dimension that decays: two points for x > 0, which meet at 0. */
export const fold = systemFrom({ n: 2, field: (h, x, out) => { out[0] = x[0] - h[0] ** 2; out[1] = -h[1]; } });

/** The oscillator of Van der Pol with mu = x. */
export const vanDerPol = systemFrom({ n: 2, field: (h, x, out) => { out[0] = h[1]; out[1] = x[0] * (1 - h[0] ** 2) * h[1] - h[0]; } });

/** Points of a ring of radius one, each neutral along it. */
export const ring = systemFrom({
  n: 2,
  field: (h, _x, out) => {
    const excess = 1 - (h[0] ** 2 + h[1] ** 2);
    out[0] = h[0] * excess;
    out[1] = h[1] * excess;
  },
});

/** A sequence of numbers in [-0.5, 0.5) that is the same every time. */
export function numbers(seed = 1): () => number {
  let state = seed;
  return () => {
    state = (state * 1664525 + 1013904223) % 4294967296;
    return state / 4294967296 - 0.5;
  };
}

export const vector = (...values: number[]): Float64Array => Float64Array.from(values);
