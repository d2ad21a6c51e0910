/** Lines along which a sampled function has a value, by marching squares. */

/**
 * The contour of `values` (size x size, by rows) at `level`, as segments [x0, y0, x1, y1, ...] in units of cells.
 * A saddle of the sampled function is split by the mean of its four corners. Cells with a NaN are left out.
 */
export function contour(values: ArrayLike<number>, size: number, level: number): Float32Array {
  const found: number[] = [];
  for (let j = 0; j + 1 < size; j++) {
    for (let i = 0; i + 1 < size; i++) {
      const at = j * size + i;
      const a = values[at] - level;
      const b = values[at + 1] - level;
      const c = values[at + size + 1] - level;
      const d = values[at + size] - level;
      const code = (a > 0 ? 1 : 0) | (b > 0 ? 2 : 0) | (c > 0 ? 4 : 0) | (d > 0 ? 8 : 0);
      if (code === 0 || code === 15 || Number.isNaN(a + b + c + d)) continue;
      const bottom = [i + a / (a - b), j];
      const right = [i + 1, j + b / (b - c)];
      const top = [i + d / (d - c), j + 1];
      const left = [i, j + a / (a - d)];
      for (const [from, to] of edges(code, a + b + c + d > 0, bottom, right, top, left)) found.push(from[0], from[1], to[0], to[1]);
    }
  }
  return Float32Array.from(found);
}

type Place = number[];

function edges(code: number, high: boolean, bottom: Place, right: Place, top: Place, left: Place): [Place, Place][] {
  switch (code) {
    case 1: case 14: return [[left, bottom]];
    case 2: case 13: return [[bottom, right]];
    case 4: case 11: return [[right, top]];
    case 8: case 7: return [[top, left]];
    case 3: case 12: return [[left, right]];
    case 6: case 9: return [[bottom, top]];
    case 5: return high ? [[left, top], [bottom, right]] : [[left, bottom], [right, top]];
    default: return high ? [[left, bottom], [right, top]] : [[left, top], [bottom, right]];
  }
}

/** A histogram of points in `limits`, smoothed by repeated means of three; size x size, its largest value is one. */
export function density(points: ArrayLike<number>, limits: readonly number[], size: number, rounds = 3): Float32Array {
  let counts = new Float32Array(size * size);
  const [left, right, bottom, top] = limits;
  for (let k = 0; k + 1 < points.length; k += 2) {
    const i = Math.round(((points[k] - left) / (right - left)) * (size - 1));
    const j = Math.round(((points[k + 1] - bottom) / (top - bottom)) * (size - 1));
    if (i >= 0 && i < size && j >= 0 && j < size) counts[j * size + i] += 1;
  }
  for (let k = 0; k < counts.length; k++) counts[k] = Math.log1p(counts[k]);
  for (let round = 0; round < rounds; round++) counts = smoothed(smoothed(counts, size, 1), size, size);
  const largest = counts.reduce((a, b) => Math.max(a, b), 0);
  if (largest > 0) for (let k = 0; k < counts.length; k++) counts[k] /= largest;
  return counts;
}

function smoothed(values: Float32Array, size: number, stride: number): Float32Array<ArrayBuffer> {
  const out = new Float32Array(values.length);
  for (let k = 0; k < values.length; k++) {
    const place = Math.floor(k / stride) % size;
    const before = place > 0 ? values[k - stride] : 0;
    const after = place + 1 < size ? values[k + stride] : 0;
    out[k] = (before + 2 * values[k] + after) / 4;
  }
  return out;
}

/** Joins segments [x0, y0, x1, y1, ...] that meet into lines [x0, y0, x1, y1, x2, y2, ...]: fewer to draw, and dashes run through. */
export function joined(segments: ArrayLike<number>): number[][] {
  const key = (k: number): string => `${segments[k].toFixed(2)} ${segments[k + 1].toFixed(2)}`;
  const ends = new Map<string, number[]>();
  const used = new Set<number>();
  for (let k = 0; k + 3 < segments.length; k += 4) {
    if (key(k) === key(k + 2)) used.add(k); // where the contour goes through a node there is a segment without length
    else for (const end of [k, k + 2]) ends.set(key(end), [...(ends.get(key(end)) ?? []), end]);
  }
  const walk = (from: number): number[] => {
    const line: number[] = [];
    for (let end: number | undefined = from; end !== undefined; ) {
      const other: number = end % 4 === 0 ? end + 2 : end - 2;
      used.add(end - (end % 4));
      line.push(segments[other], segments[other + 1]);
      end = ends.get(key(other))?.find((next) => !used.has(next - (next % 4)));
    }
    return line;
  };
  const lines: number[][] = [];
  for (let k = 0; k + 3 < segments.length; k += 4) {
    if (used.has(k)) continue;
    const forth = walk(k); // from the first place of the segment over the second
    const before = ends.get(key(k))?.find((next) => !used.has(next - (next % 4)));
    const back = before === undefined ? [] : walk(before);
    const line: number[] = [];
    for (let at = back.length - 2; at >= 0; at -= 2) line.push(back[at], back[at + 1]);
    line.push(segments[k], segments[k + 1], ...forth);
    lines.push(line);
  }
  return lines;
}
