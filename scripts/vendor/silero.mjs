// Makes the file of Silero VAD that is shipped: the weights of its ONNX model for 16 kHz in the format of whisper.cpp.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, vendorFolder } from '../tool/project.mjs';
import { Stop } from '../tool/stop.mjs';

const target = join(root, 'data', 'models', 'ggml-silero-v6.2.0.bin');

/** Of the file that whisper.cpp ships for its tests: the same bytes. */
const sha256 = '2aa269b785eeb53a82983a20501ddf7c1d9c48e33ab63a41391ac6c9f7fb6987';

const version = [6, 2, 0];
const window = 512;
const context = 64;
/** Inputs, outputs and kernel. */
const encoder = [
  [129, 128, 3],
  [128, 64, 3],
  [64, 64, 3],
  [64, 128, 3],
];
const names = [
  ...[0, 1, 2, 3].flatMap((i) => [`encoder.${i}.reparam_conv.weight`, `encoder.${i}.reparam_conv.bias`]),
  ...['weight_ih', 'weight_hh', 'bias_ih', 'bias_hh'].map((name) => `decoder.rnn.${name}`),
  ...['decoder.decoder.2.weight', 'decoder.decoder.2.bias', 'stft.forward_basis_buffer'],
];

/** Writes the file unless it is there. */
export function makeSilero() {
  if (existsSync(target) && hashOf(readFileSync(target)) === sha256) return;
  const file = ggmlFile(weightsOf(readFileSync(join(vendorFolder, 'silero-vad', 'silero_vad_v6.onnx'))));
  if (hashOf(file) !== sha256) throw new Stop('silero-vad: its weights are not those of version 6.2.0');
  const beside = `${target}.${process.pid}`;
  writeFileSync(beside, file);
  renameSync(beside, target);
}

const hashOf = (bytes) => createHash('sha256').update(bytes).digest('hex');

/** The tensors of the branch for 16 kHz, by name: [extents, bytes]. */
function weightsOf(onnx) {
  const found = new Map();
  for (const [field, value] of fieldsOf(onnx)) if (field === 7) walk(value, '', found);
  const ours = [...found].filter(([key]) => key.startsWith('/then_branch '));
  return new Map(ours.map(([key, tensor]) => [key.slice(13).split('__Inline_0__').at(-1), tensor]));
}

/** GraphProto: 1 node, 5 initializer. NodeProto: 2 output, 5 attribute. AttributeProto: 1 name, 5 t, 6 g. */
function walk(graph, path, found) {
  for (const [field, value] of fieldsOf(graph)) {
    if (field === 5) {
      const { name, tensor } = tensorOf(value);
      found.set(`${path} ${name}`, tensor);
    }
    if (field !== 1) continue;
    const parts = [...fieldsOf(value)];
    const output = parts.find(([number]) => number === 2)?.[1].toString();
    for (const [number, attribute] of parts) {
      if (number !== 5) continue;
      const given = new Map(fieldsOf(attribute));
      if (given.has(5)) found.set(`${path} ${output}`, tensorOf(given.get(5)).tensor);
      if (given.has(6)) walk(given.get(6), `${path}/${given.get(1)}`, found);
    }
  }
}

/** TensorProto: 1 dims, 8 name, 9 raw_data. */
function tensorOf(message) {
  let name = '';
  let bytes = Buffer.alloc(0);
  const extents = [];
  for (const [field, value] of fieldsOf(message)) {
    if (field === 1 && typeof value === 'number') extents.push(value);
    else if (field === 1)
      for (let at = 0; at < value.length; ) at = varint(value, at, (n) => extents.push(n));
    else if (field === 8) name = value.toString();
    else if (field === 9) bytes = value;
  }
  return { name, tensor: [extents, bytes] };
}

/** The fields of a protobuf message: number, and a number or the bytes. */
function* fieldsOf(message) {
  for (let at = 0; at < message.length; ) {
    let key = 0;
    at = varint(message, at, (value) => {
      key = value;
    });
    let size = key % 8 === 1 ? 8 : 4;
    if (key % 8 === 0 || key % 8 === 2)
      at = varint(message, at, (value) => {
        size = value;
      });
    if (key % 8 === 0) yield [Math.floor(key / 8), size];
    else {
      yield [Math.floor(key / 8), message.subarray(at, at + size)];
      at += size;
    }
  }
}

function varint(bytes, start, take) {
  let value = 0;
  let at = start;
  for (let factor = 1; ; factor *= 128) {
    const byte = bytes[at++];
    value += (byte % 128) * factor;
    if (byte < 128) break;
  }
  take(value);
  return at;
}

function ggmlFile(weights) {
  const parts = [numbers(0x67676d6c, 10), Buffer.from('silero-16k'), numbers(...version)];
  parts.push(numbers(window, context, encoder.length, ...encoder.flat(), 128, 128, 128, 1));
  for (const short of names) {
    const [extents, bytes] = weights.get(short) ?? [];
    if (extents === undefined) throw new Stop(`silero-vad: it has no tensor ${short}`);
    const isBasis = short.startsWith('stft');
    const half = isBasis || (short.includes('weight') && !short.includes('rnn'));
    const shape = (isBasis ? [...extents] : extents.filter((extent) => extent !== 1)).reverse();
    const name = Buffer.from(`_model.${short}`);
    parts.push(numbers(shape.length, name.length, half ? 1 : 0, ...shape), name);
    parts.push(half ? halves(bytes) : bytes);
  }
  return Buffer.concat(parts);
}

function numbers(...values) {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [i, value] of values.entries()) bytes.writeUInt32LE(value, 4 * i);
  return bytes;
}

/** Rounds 32-bit floats to 16 bits, to nearest even; the weights have no infinity and nothing beyond the range. */
function halves(bytes) {
  const result = Buffer.alloc(bytes.length / 2);
  for (let i = 0; i < bytes.length / 4; i++) result.writeUInt16LE(halfOf(bytes.readFloatLE(4 * i)), 2 * i);
  return result;
}

function halfOf(value) {
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  const size = Math.abs(value);
  if (size === 0) return sign;
  const exponent = Math.max(-14, Math.floor(Math.log2(size)));
  // In units of the last place; a carry moves into the exponent by itself.
  const units = roundToEven(size / 2 ** (exponent - 10));
  return sign + (exponent === -14 && units < 1024 ? units : (exponent + 15) * 1024 + (units - 1024));
}

function roundToEven(value) {
  const whole = Math.floor(value);
  const rest = value - whole;
  if (rest !== 0.5) return Math.round(value);
  return whole % 2 === 0 ? whole : whole + 1;
}
