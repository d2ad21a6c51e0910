/** Arrays of numbers as they travel in the document. */
import type { PackedArray, Weights } from "./document";

/** An array of doubles in row-major order. */
export interface NumberArray {
  shape: number[];
  data: Float64Array;
}

/** The number of elements of an array of this shape. */
export function sizeOf(shape: readonly number[]): number {
  return shape.reduce((product, length) => product * length, 1);
}

/** Reads base64 float32 as doubles. */
export function unpack(packed: PackedArray): NumberArray {
  const data = doubles(packed.data);
  if (data.length !== sizeOf(packed.shape)) {
    throw new Error(`An array of shape [${packed.shape}] must hold ${sizeOf(packed.shape)} numbers, but holds ${data.length}.`);
  }
  return { shape: packed.shape, data };
}

/** Reads every array of a blob of weights. Offsets count numbers, not bytes. */
export function unpackWeights(weights: Weights): Map<string, NumberArray> {
  const all = doubles(weights.data);
  const arrays = new Map<string, NumberArray>();
  for (const [name, { offset, shape }] of Object.entries(weights.arrays)) {
    const end = offset + sizeOf(shape);
    if (end > all.length) throw new Error(`The array '${name}' ends after the last of the weights.`);
    arrays.set(name, { shape, data: all.subarray(offset, end) });
  }
  return arrays;
}

function doubles(base64: string): Float64Array {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  const view = new DataView(bytes.buffer);
  const data = new Float64Array(bytes.length >> 2);
  for (let i = 0; i < data.length; i++) data[i] = view.getFloat32(4 * i, true);
  return data;
}
