// Writes a language model in Q4_1 again in other formats, for comparisons of runtimes: F32 has exactly its weights, and
// so is the reference of all; Q8_0 and Q4_0 are rounded as ggml does.
// node bench/generation/variants.mjs MODEL.Q4_1.gguf FOLDER [F32 Q8_0 Q4_0 ...]
import { basename, join } from 'node:path';
import { metadataValue, readGguf, tensorTypes, writeGguf } from '../harness/gguf.mjs';
import { fromHalf, toHalf } from '../harness/half.mjs';

const block = 32;
const half = block / 2;
/** general.file_type of llama.cpp. */
const fileTypes = { F32: 0, Q4_0: 2, Q8_0: 7 };

function fromQ4_1(bytes, elements) {
  const values = new Float32Array(elements);
  const size = tensorTypes.Q4_1.bytes;
  for (let i = 0; i < elements / block; i++) {
    const at = i * size;
    const scale = fromHalf(bytes.readUInt16LE(at));
    const minimum = fromHalf(bytes.readUInt16LE(at + 2));
    for (let j = 0; j < half; j++) {
      const packed = bytes[at + 4 + j];
      values[i * block + j] = (packed & 15) * scale + minimum;
      values[i * block + half + j] = (packed >> 4) * scale + minimum;
    }
  }
  return values;
}

const writers = {
  F32: (values) => Buffer.from(values.buffer, values.byteOffset, values.byteLength),
  Q8_0: (values) =>
    blocks(values, 34, (from, bytes, at) => {
      const scale = Math.max(...from.map(Math.abs)) / 127;
      bytes.writeUInt16LE(toHalf(scale), at);
      for (let j = 0; j < block; j++) bytes.writeInt8(scale ? Math.round(from[j] / scale) : 0, at + 2 + j);
    }),
  Q4_0: (values) =>
    blocks(values, 18, (from, bytes, at) => {
      let largest = 0;
      for (const value of from) if (Math.abs(value) > Math.abs(largest)) largest = value;
      const scale = largest / -8;
      bytes.writeUInt16LE(toHalf(scale), at);
      const code = (value) => (scale ? Math.min(15, Math.floor(value / scale + 8.5)) : 8);
      for (let j = 0; j < half; j++) bytes[at + 2 + j] = code(from[j]) | (code(from[half + j]) << 4);
    }),
};

function blocks(values, size, write) {
  const bytes = Buffer.alloc((values.length / block) * size);
  for (let i = 0; i < values.length / block; i++) {
    write(values.subarray(i * block, (i + 1) * block), bytes, i * size);
  }
  return bytes;
}

/** Writes one variant; returns its path. */
export function writeVariant(from, folder, format) {
  const { metadata, tensors } = readGguf(from);
  const path = join(folder, basename(from).replace('Q4_1', format));
  metadata.set('general.file_type', metadataValue.u32(fileTypes[format]));
  const written = tensors.map((tensor) => {
    if (tensor.type !== 'Q4_1') return tensor;
    const elements = tensor.shape.reduce((product, extent) => product * extent, 1);
    return { ...tensor, type: format, bytes: writers[format](fromQ4_1(tensor.bytes, elements)) };
  });
  writeGguf(path, { metadata, tensors: written });
  return path;
}

const [from, folder, ...formats] = process.argv.slice(2);
if (import.meta.url.endsWith(basename(process.argv[1] ?? '')) && folder) {
  for (const format of formats.length > 0 ? formats : Object.keys(writers)) {
    process.stdout.write(`${writeVariant(from, folder, format)}\n`);
  }
}
