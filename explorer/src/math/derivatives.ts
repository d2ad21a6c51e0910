/** Derivatives by differences, where the document has no program for them. */
import type { System } from "./system";

const STEP = Math.cbrt(Number.EPSILON); // where rounding and truncation of a central difference are about equal

/** d out / dh of a function of the state, rows x n, by central differences. */
export function differences(
  apply: (h: Float64Array, out: Float64Array) => void, h: Float64Array, rows: number, out: Float64Array,
): void {
  const n = h.length;
  const moved = Float64Array.from(h);
  const above = new Float64Array(rows);
  const below = new Float64Array(rows);
  for (let j = 0; j < n; j++) {
    const step = STEP * Math.max(1, Math.abs(h[j]));
    moved[j] = h[j] + step;
    const high = moved[j];
    apply(moved, above);
    moved[j] = h[j] - step;
    const low = moved[j];
    apply(moved, below);
    moved[j] = h[j];
    for (let i = 0; i < rows; i++) out[i * n + j] = (above[i] - below[i]) / (high - low);
  }
}

/** d step / dh, n x n by rows. */
export function mapJacobianByDifferences(system: System, h: Float64Array, x: Float64Array, dt: number, out: Float64Array): void {
  differences((state, next) => system.step(state, x, dt, next), h, system.n, out);
}
