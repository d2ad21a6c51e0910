/** Particles as ribbons: their corners in pixels, for whatever draws them. */
import { KNOTS, type Particles } from "./particles";

/** Places of a ribbon: the particle's own and its knots. */
export const PLACES = KNOTS + 1;

/** Writes the places of the k-th particle in pixels from the lower left corner: x, y of the newest first. */
export function placesOf(particles: Particles, k: number, matrix: Float32Array | null, width: number, height: number, out: Float32Array): void {
  for (let back = 0; back < PLACES; back++) {
    const row = (particles.newest - back + 1 + KNOTS) % KNOTS;
    const source = back === 0 ? particles.places : particles.knots;
    const at = back === 0 ? 3 * k : 3 * (row * particles.count + k);
    const p0 = 2 * source[at] - 1;
    const p1 = 2 * source[at + 1] - 1;
    if (matrix === null) {
      out[2 * back] = 0.5 * (1 + p0) * width;
      out[2 * back + 1] = 0.5 * (1 + p1) * height;
      continue;
    }
    const p2 = 2 * source[at + 2] - 1;
    const w = matrix[3] * p0 + matrix[7] * p1 + matrix[11] * p2 + matrix[15];
    out[2 * back] = 0.5 * (1 + (matrix[0] * p0 + matrix[4] * p1 + matrix[8] * p2 + matrix[12]) / w) * width;
    out[2 * back + 1] = 0.5 * (1 + (matrix[1] * p0 + matrix[5] * p1 + matrix[9] * p2 + matrix[13]) / w) * height;
  }
}

/** Numbers of a corner: its place as a share of clip space, opacity, side of the ribbon, speed. */
export const CORNER = 5;

/** Fills `out` with two corners for each place of each particle; `half` is half the width at the head in pixels. */
export function corners(particles: Particles, matrix: Float32Array | null, width: number, height: number, half: number, out: Float32Array): void {
  const places = new Float32Array(2 * PLACES);
  let to = 0;
  for (let k = 0; k < particles.count; k++) {
    placesOf(particles, k, matrix, width, height, places);
    const strength = particles.strength(k);
    const speed = particles.speeds[k];
    for (let back = 0; back < PLACES; back++) {
      const before = 2 * Math.min(PLACES - 1, back + 1);
      const after = 2 * Math.max(0, back - 1);
      const dx = places[after] - places[before];
      const dy = places[after + 1] - places[before + 1];
      const size = Math.sqrt(dx * dx + dy * dy);
      const past = back / (PLACES - 1);
      const reach = size > 1e-3 ? (half * (1 - 0.5 * past) + 0.5) / size : 0;
      for (let side = -1; side <= 1; side += 2) {
        out[to] = (2 * (places[2 * back] - side * dy * reach)) / width - 1;
        out[to + 1] = (2 * (places[2 * back + 1] + side * dx * reach)) / height - 1;
        out[to + 2] = strength * (1 - past);
        out[to + 3] = side;
        out[to + 4] = speed;
        to += CORNER;
      }
    }
  }
}

/** The triangles between the corners. */
export function triangles(count: number): Uint32Array<ArrayBuffer> {
  const made = new Uint32Array(count * 6 * (PLACES - 1));
  let to = 0;
  for (let k = 0; k < count; k++) {
    for (let part = 0; part < PLACES - 1; part++) {
      const first = 2 * (k * PLACES + part);
      for (const corner of [0, 1, 2, 2, 1, 3]) made[to++] = first + corner;
    }
  }
  return made;
}
