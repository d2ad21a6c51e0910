/** The page's own integrators. They allocate nothing after their first call for a dimension. */
import type { System } from "./system";

const work = new Map<number, Float64Array[]>();

/** Vectors for intermediate results, the same ones in every call. */
function vectors(n: number): Float64Array[] {
  let found = work.get(n);
  if (found === undefined) {
    found = [0, 1, 2, 3, 4].map(() => new Float64Array(n));
    work.set(n, found);
  }
  return found;
}

/** out = h + dt f(h, x). `out` may be `h`. */
export function euler(system: System, h: Float64Array, x: Float64Array, dt: number, out: Float64Array): void {
  const [k] = vectors(system.n);
  system.field(h, x, k);
  for (let i = 0; i < system.n; i++) out[i] = h[i] + dt * k[i];
}

/** One step of the classical Runge-Kutta method of order 4. `out` may be `h`. */
export function rk4(system: System, h: Float64Array, x: Float64Array, dt: number, out: Float64Array): void {
  const { n } = system;
  const [k1, k2, k3, k4, between] = vectors(n);
  system.field(h, x, k1);
  for (let i = 0; i < n; i++) between[i] = h[i] + (dt / 2) * k1[i];
  system.field(between, x, k2);
  for (let i = 0; i < n; i++) between[i] = h[i] + (dt / 2) * k2[i];
  system.field(between, x, k3);
  for (let i = 0; i < n; i++) between[i] = h[i] + dt * k3[i];
  system.field(between, x, k4);
  for (let i = 0; i < n; i++) out[i] = h[i] + (dt / 6) * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]);
}
