// ggml's block types for weights: 32 numbers share an F16 scale, and each is scale * code.
// Format: https://github.com/ggml-org/ggml/blob/master/src/ggml-common.h
import { fromHalf, toHalf } from '../../bench/harness/half.mjs';

const blockSize = 32;
const half = blockSize / 2;

/** Codes by type. A stored index is a place in the list. */
const codes = {
  Q4_0: range(-8, 7),
  Q5_0: range(-16, 15),
  Q8_0: range(-127, 127),
  IQ4_NL: listed([-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113]),
};

const writers = { Q4_0: writeNibbles, IQ4_NL: writeNibbles, Q5_0: writeFiveBits, Q8_0: writeBytes };

/** Scales tried around the one that maps a block's largest number to the last code, as shares of it. */
const shares = Float64Array.from({ length: 13 }, (_, i) => 0.7 + i * 0.05);

/** Returns the blocks of `values`, whose number is a multiple of 32. Each scale minimises the squared error. */
export function quantise(type, values) {
  const found = { scale: 0, indices: new Uint8Array(blockSize) };
  const blocks = Array.from({ length: values.length / blockSize }, (_, block) => {
    chooseCodes(values.subarray(block * blockSize, (block + 1) * blockSize), codes[type], found);
    return writers[type](found);
  });
  return Buffer.concat(blocks);
}

// Each candidate's codes c give the least-squares scale sum(x c) / sum(c c), whose error is
// sum(x x) - sum(x c)^2 / sum(c c).
function chooseCodes(values, { list, nearest }, found) {
  let largest = 0;
  for (const value of values) if (Math.abs(value) > Math.abs(largest)) largest = value;
  found.scale = 0;
  let best = 0;
  for (const extreme of largest === 0 ? [] : [list[0], list[list.length - 1]]) {
    for (const share of shares) {
      const inverse = (extreme * share) / largest;
      let product = 0;
      let square = 0;
      for (const value of values) {
        const code = list[nearest(value * inverse)];
        product += value * code;
        square += code * code;
      }
      if (square === 0 || (product * product) / square <= best) continue;
      best = (product * product) / square;
      found.scale = product / square;
    }
  }
  const stored = fromHalf(toHalf(found.scale));
  const inverse = stored === 0 ? 0 : 1 / stored;
  for (let i = 0; i < blockSize; i++) found.indices[i] = nearest(values[i] * inverse);
}

/** All whole numbers of a range. */
function range(from, to) {
  const list = Float64Array.from({ length: to - from + 1 }, (_, i) => from + i);
  return { list, nearest: (wanted) => Math.min(Math.max(Math.round(wanted), from), to) - from };
}

/** Ascending whole numbers from -128 to 127. Midpoints are multiples of 0.5, so a table over those finds the nearest. */
function listed(numbers) {
  const steps = 512;
  const list = Float64Array.from(numbers);
  const table = Uint8Array.from({ length: steps }, (_, i) => {
    const wanted = (i - steps / 2) / 2;
    return list.findIndex((number, at) => at + 1 === list.length || wanted <= (number + list[at + 1]) / 2);
  });
  const step = (wanted) => Math.min(Math.max(Math.ceil(2 * wanted) + steps / 2, 0), steps - 1);
  return { list, nearest: (wanted) => table[step(wanted)] };
}

function writeNibbles({ scale, indices }) {
  const bytes = Buffer.alloc(2 + half);
  bytes.writeUInt16LE(toHalf(scale));
  for (let i = 0; i < half; i++) bytes[2 + i] = indices[i] | (indices[i + half] << 4);
  return bytes;
}

function writeFiveBits({ scale, indices }) {
  const bytes = Buffer.alloc(2 + 4 + half);
  bytes.writeUInt16LE(toHalf(scale));
  let high = 0;
  for (let i = 0; i < blockSize; i++) high = (high | ((indices[i] >> 4) << i)) >>> 0;
  bytes.writeUInt32LE(high, 2);
  for (let i = 0; i < half; i++) bytes[6 + i] = (indices[i] & 15) | ((indices[i + half] & 15) << 4);
  return bytes;
}

function writeBytes({ scale, indices }) {
  const bytes = Buffer.alloc(2 + blockSize);
  bytes.writeUInt16LE(toHalf(scale));
  for (let i = 0; i < blockSize; i++) bytes.writeInt8(codes.Q8_0.list[indices[i]], 2 + i);
  return bytes;
}
