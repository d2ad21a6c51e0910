/** The flow in a box of a space of three states, sampled for particles. */
import { motion, type Sampled } from "./grid";
import { pacedVelocity, type Carrier } from "./particles";
import type { Job } from "./scheduler";

const BATCH = 64;
const SIZES = [7, 15, 23];

export interface Box {
  centre: readonly number[];
  half: readonly number[];
}

/** Samples finer and finer lattices; each is given on as a carrier of particles. */
export function* sampleBox(sampled: Sampled, box: Box, ready: (carrier: Carrier) => void): Job {
  for (const size of SIZES) {
    const count = size ** 3;
    const velocity = new Float32Array(3 * count);
    const states = new Float64Array(3 * BATCH);
    const found = new Float64Array(3 * BATCH);
    for (let from = 0; from < count; from += BATCH) {
      const rows = Math.min(BATCH, count - from);
      for (let k = 0; k < rows; k++) {
        const node = from + k;
        const places = [node % size, Math.floor(node / size) % size, Math.floor(node / (size * size))];
        for (let c = 0; c < 3; c++) states[3 * k + c] = box.centre[c] + box.half[c] * ((2 * places[c]) / (size - 1) - 1);
      }
      motion(sampled, states, rows, found);
      for (let k = 0; k < 3 * rows; k++) velocity[3 * from + k] = found[k];
      yield;
    }
    const widths = box.half.map((half) => 2 * half);
    ready(boxCarrier(pacedVelocity(velocity, widths, 3), size));
  }
}

/** Trilinear interpolation in a lattice over the unit cube. */
function boxCarrier(paced: Float32Array, size: number): Carrier {
  const strides = [3, 3 * size, 3 * size * size];
  const low = [0, 0, 0];
  const share = [0, 0, 0];
  return {
    dimensions: 3,
    at(place, from, out) {
      for (let c = 0; c < 3; c++) {
        const x = place[from + c] * (size - 1);
        low[c] = Math.max(0, Math.min(size - 2, Math.floor(x)));
        share[c] = x - low[c];
      }
      const at = low[0] * strides[0] + low[1] * strides[1] + low[2] * strides[2];
      out[0] = out[1] = out[2] = 0;
      for (let corner = 0; corner < 8; corner++) {
        let weight = 1;
        let node = at;
        for (let c = 0; c < 3; c++) {
          const upper = (corner >> c) & 1;
          weight *= upper === 1 ? share[c] : 1 - share[c];
          if (upper === 1) node += strides[c];
        }
        for (let c = 0; c < 3; c++) out[c] += weight * paced[node + c];
      }
      return Math.min(1, Math.hypot(out[0], out[1], out[2]) / 0.22);
    },
  };
}
