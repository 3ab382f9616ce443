// A Whisper model of one layer that writes the same text for every sound: each token is followed by the next one of the text. The
// encoder and the attention compute, and change nothing. The format is that of whisper.cpp's ggml-*.bin.
import { toHalf } from './gguf-writer.mjs';

const magic = 0x67676d6c;
const vocabulary = 51_864;
const mels = 80;
const bins = 201;
const audioContext = 1500;
const textContext = 448;
const headWidth = 64;
const halfOne = 0x3c00;
// Special tokens of models that know English alone.
const endOfText = 50_256;
const startOfTranscript = 50_257;
const firstTimestamp = 50_363;

/**
 * Types of weights by name: number of a tensor's type and of a file's, values and bytes of a block, and a block whose values are 0 but
 * for one.
 */
export const whisperTypes = {
  F32: {
    tensor: 0,
    file: 0,
    values: 1,
    bytes: 4,
    block: (out, at, one) => one === 0 && out.writeFloatLE(1, at),
  },
  F16: {
    tensor: 1,
    file: 1,
    values: 1,
    bytes: 2,
    block: (out, at, one) => one === 0 && out.writeUInt16LE(halfOne, at),
  },
  Q8_0: { tensor: 8, file: 7, values: 32, bytes: 34, block: q8_0 },
  Q4_0: {
    tensor: 2,
    file: 2,
    values: 32,
    bytes: 18,
    block: nibbles({ zero: 8, one: 0, scale: -1 / 8, head: 2 }),
  },
  Q4_1: {
    tensor: 3,
    file: 3,
    values: 32,
    bytes: 20,
    block: nibbles({ zero: 0, one: 15, scale: 1 / 15, head: 4 }),
  },
  Q5_0: {
    tensor: 6,
    file: 8,
    values: 32,
    bytes: 22,
    block: nibbles({ zero: 0, one: 0, scale: -1 / 16, head: 6, high: true }),
  },
  Q5_1: {
    tensor: 7,
    file: 9,
    values: 32,
    bytes: 24,
    block: nibbles({ zero: 0, one: 15, scale: 1 / 15, head: 8 }),
  },
  Q2_K: { tensor: 10, file: 10, values: 256, bytes: 84, block: q2_k },
  Q3_K: { tensor: 11, file: 11, values: 256, bytes: 110, block: q3_k },
  Q4_K: { tensor: 12, file: 12, values: 256, bytes: 144, block: q4_k },
  Q5_K: { tensor: 13, file: 13, values: 256, bytes: 176, block: q5_k },
  Q6_K: { tensor: 14, file: 14, values: 256, bytes: 210, block: q6_k },
};

/** `one`: the index of the value that is 1 in the block, or -1. */
function q8_0(out, at, one) {
  out.writeUInt16LE(toHalf(1 / 127), at);
  if (one >= 0) out.writeInt8(127, at + 2 + one);
}

/** Blocks of 32 values of 4 or 5 bits: two in a byte, the first half low. A block without 1 has the scale 0 where 0 is no code. */
function nibbles({ zero, one: code, scale, head, high = false }) {
  return (out, at, one) => {
    out.writeUInt16LE(toHalf(scale), at);
    // The fifth bits: 16 stands for 0, and 0 for -16.
    if (high) out.writeUInt32LE(one < 0 ? 0xffff_ffff : (0xffff_ffff & ~(1 << one)) >>> 0, at + 2);
    out.fill(zero * 17, at + head, at + head + 16);
    if (one < 0) return;
    const place = at + head + (one % 16);
    const isHigh = one >= 16;
    out[place] = isHigh ? (out[place] & 0x0f) | (code << 4) : (out[place] & 0xf0) | code;
  };
}

/** The scale and minimum of each 16 values, four bits each, then the values of two bits, then the scales of these. */
function q2_k(out, at, one) {
  out.fill(1, at, at + 16);
  out.writeUInt16LE(toHalf(1 / 3), at + 80);
  if (one >= 0) setTwoBits(out, at + 16, one);
}

/** The third bits, the first two, scales of 6 bits, all 63 - 32, and their scale. The third bit alone stands for 0. */
function q3_k(out, at, one) {
  out.fill(0xff, at, at + 32);
  out.fill(0xff, at + 96, at + 108);
  out.writeUInt16LE(toHalf(1 / 93), at + 108);
  if (one >= 0) setTwoBits(out, at + 32, one);
}

function setTwoBits(out, at, one) {
  const [half, within] = [Math.floor(one / 128), one % 128];
  out[at + 32 * half + (within % 32)] = 0b11 << (2 * Math.floor(within / 32));
}

/** The scales of 32 values are 63, those of their minima too, whose own scale is 0. */
function q5_k(out, at, one) {
  out.writeUInt16LE(toHalf(1 / (63 * 31)), at);
  out.fill(0xff, at + 4, at + 16);
  if (one < 0) return;
  const [pair, within] = [Math.floor(one / 64), one % 64];
  out[at + 16 + (within % 32)] = 1 << Math.floor(one / 32);
  out[at + 48 + 32 * pair + (within % 32)] = within < 32 ? 15 : 15 << 4;
}

/** The first four sub-blocks of 32 have the scale 1; 1 may stand in these alone. */
function q4_k(out, at, one) {
  out.writeUInt16LE(toHalf(1 / 15), at);
  out.fill(1, at + 4, at + 8);
  if (one < 0) return;
  const [pair, within] = [Math.floor(one / 64), one % 64];
  out[at + 16 + 32 * pair + (within % 32)] = within < 32 ? 15 : 15 << 4;
}

/** 32 stands for 0: the low four bits are 0, the high two 2. */
function q6_k(out, at, one) {
  out.fill(0, at, at + 128);
  out.fill(0b10101010, at + 128, at + 192);
  out.fill(1, at + 192, at + 208);
  out.writeUInt16LE(toHalf(1 / 31), at + 208);
  if (one < 0) return;
  const [half, within] = [Math.floor(one / 128), one % 128];
  const [quarter, column] = [Math.floor(within / 32), within % 32];
  // 31 + 32 = 63: all bits.
  out[at + 64 * half + (quarter % 2) * 32 + column] |= quarter < 2 ? 0x0f : 0xf0;
  out[at + 128 + 32 * half + column] |= 0b11 << (2 * quarter);
}

/**
 * The bytes of a model that writes `text`, of at most 29 words. `width` is 64, or 256 for types with blocks of 256.
 * @param options type: a name of whisperTypes
 */
export function tinyWhisper({ text = 'The quick brown fox.', type = 'F16', width } = {}) {
  const kind = whisperTypes[type];
  const state = width ?? (kind.values > headWidth ? 256 : headWidth);
  const words = ['a', ' ', ...text.split(' ').map((word) => ` ${word}`)];
  // Without a last time, whisper.cpp takes all of the 30 s as heard.
  const chain = [startOfTranscript, firstTimestamp, ...[...words.keys()].slice(2), endOfText];
  if (chain.length > 32) throw new RangeError('text: at most 29 words are expected');
  const writer = new Writer();
  writer.numbers(
    magic,
    vocabulary,
    audioContext,
    state,
    state / headWidth,
    1,
    textContext,
    state,
    state / headWidth,
    1,
    mels,
    kind.file,
  );
  writer.numbers(mels, bins).floats(mels * bins, () => 0.01);
  writer.numbers(words.length);
  for (const word of words) writer.numbers(Buffer.byteLength(word)).bytes(Buffer.from(word));
  writeTensors(writer, { kind, state, chain });
  return writer.whole();
}

function writeTensors(writer, { kind, state, chain }) {
  const zeros = (name, shape = [state]) => writer.tensor(name, shape, whisperTypes.F32, () => -1);
  const ones = (name) => writer.constant(name, [state], 1);
  const weights = (name, shape, one) => writer.tensor(name, shape, kind, one ?? (() => -1));
  const half = kind.tensor === 0 ? whisperTypes.F32 : whisperTypes.F16;

  zeros('encoder.positional_embedding', [state, audioContext]);
  writer.tensor('encoder.conv1.weight', [3, mels, state], half, () => 1);
  zeros('encoder.conv1.bias', [1, state]);
  writer.tensor('encoder.conv2.weight', [3, state, state], half, () => 1);
  zeros('encoder.conv2.bias', [1, state]);
  ones('encoder.ln_post.weight');
  zeros('encoder.ln_post.bias');
  const attention = (prefix) => {
    ones(`${prefix}_ln.weight`);
    zeros(`${prefix}_ln.bias`);
    for (const part of ['query', 'key', 'value', 'out']) {
      // The values are 0, so attention adds nothing.
      weights(`${prefix}.${part}.weight`, [state, state], part === 'value' ? undefined : (row) => row);
      if (part !== 'key') zeros(`${prefix}.${part}.bias`);
    }
  };
  const perceptron = (prefix, first, second) => {
    ones(`${prefix}_ln.weight`);
    zeros(`${prefix}_ln.bias`);
    weights(`${prefix}.0.weight`, [state, 4 * state], first);
    zeros(`${prefix}.0.bias`, [4 * state]);
    weights(`${prefix}.2.weight`, [4 * state, state], second);
    zeros(`${prefix}.2.bias`);
  };
  attention('encoder.blocks.0.attn');
  perceptron('encoder.blocks.0.mlp');

  zeros('decoder.positional_embedding', [state, textContext]);
  const places = new Map(chain.map((token, place) => [token, place]));
  weights('decoder.token_embedding.weight', [state, vocabulary], (token) => places.get(token) ?? -1);
  writer.constant('decoder.ln.weight', [state], 4);
  zeros('decoder.ln.bias');
  attention('decoder.blocks.0.attn');
  attention('decoder.blocks.0.cross_attn');
  // From the place of a token to the place of the next.
  perceptron(
    'decoder.blocks.0.mlp',
    (row) => (row < chain.length ? row : -1),
    (row) => (row > 0 && row < chain.length ? row - 1 : -1),
  );
}

class Writer {
  #parts = [];

  numbers(...values) {
    const out = Buffer.alloc(4 * values.length);
    for (const [i, value] of values.entries()) out.writeUInt32LE(value, 4 * i);
    return this.bytes(out);
  }

  floats(count, value) {
    const out = Buffer.alloc(4 * count);
    for (let i = 0; i < count; i++) out.writeFloatLE(value(i), 4 * i);
    return this.bytes(out);
  }

  bytes(part) {
    this.#parts.push(part);
    return this;
  }

  /** `one(row)`: the index of the value that is 1 in a row, or -1. */
  tensor(name, shape, { tensor, values, bytes, block }, one) {
    const [width, ...others] = shape;
    const rows = others.reduce((product, extent) => product * extent, 1);
    const blocks = width / values;
    const out = Buffer.alloc(rows * blocks * bytes);
    for (let row = 0; row < rows; row++) {
      const at = one(row);
      for (let n = 0; n < blocks; n++) {
        const within = at >= n * values && at < (n + 1) * values ? at - n * values : -1;
        block(out, (row * blocks + n) * bytes, within);
      }
    }
    return this.#head(name, shape, tensor).bytes(out);
  }

  constant(name, shape, value) {
    return this.#head(name, shape, whisperTypes.F32.tensor).floats(shape[0], () => value);
  }

  #head(name, shape, type) {
    return this.numbers(shape.length, name.length, type, ...shape).bytes(Buffer.from(name));
  }

  whole() {
    return Buffer.concat(this.#parts);
  }
}
