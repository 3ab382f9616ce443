import { randomUUID } from 'node:crypto';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

const valueTypes = { u32: 4, i32: 5, f32: 6, bool: 7, string: 8, array: 9 };
const tensorTypes = { F32: 0, F16: 1, Q4_0: 2, Q8_0: 8 };
const alignment = 32;
const blockSize = 32;
/** Collects little-endian bytes. */
class Bytes {
  parts = [];
  length = 0;
  append(part) {
    this.parts.push(part);
    this.length += part.length;
  }
  u32(value) {
    const part = Buffer.alloc(4);
    part.writeUInt32LE(value);
    this.append(part);
  }
  u64(value) {
    const part = Buffer.alloc(8);
    part.writeBigUInt64LE(BigInt(value));
    this.append(part);
  }
  string(value) {
    const part = Buffer.from(value, 'utf8');
    this.u64(part.length);
    this.append(part);
  }
  pad() {
    this.append(new Uint8Array((alignment - (this.length % alignment)) % alignment));
  }
  join() {
    return Buffer.concat(this.parts, this.length);
  }
}
/**
 * Writes GGUF version 3, the file format of llama.cpp: metadata, tensor table, tensors, all in the order of the calls,
 * so that the same calls give the same bytes. Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
 */
export class GgufWriter {
  metadata = new Map();
  tensors = [];
  /** Sets a metadata key; setting it again replaces its value in place. */
  set(key, value) {
    this.metadata.set(key, value);
    return this;
  }
  /** Adds a tensor. `shape` is fastest first, as llama.cpp prints it: a matrix of n rows of d numbers is [d, n]. */
  tensor(name, shape, type, data) {
    const elements = shape.reduce((product, extent) => product * extent, 1);
    if (elements !== data.length)
      throw new RangeError(`${name}: ${data.length} numbers for the shape [${shape}]`);
    if (type === 'Q8_0' && shape[0] % blockSize !== 0) {
      throw new RangeError(`${name}: rows of Q8_0 are multiples of ${blockSize} long, not ${shape[0]}`);
    }
    this.tensors.push({ name, shape, type, bytes: encode(type, data) });
    return this;
  }
  /**
   * Adds a tensor whose bytes are in the layout of `type` already; a number is ggml's own of a type. `bytes` may be
   * {length, parts()}: a tensor that is made while it is written.
   */
  blocks(name, shape, type, bytes) {
    this.tensors.push({ name, shape, type, bytes });
    return this;
  }
  toBuffer() {
    return Buffer.concat([...this.parts()]);
  }
  /** Yields the file's bytes in order. */
  *parts() {
    const bytes = new Bytes();
    bytes.append(Buffer.from('GGUF', 'latin1'));
    bytes.u32(3);
    bytes.u64(this.tensors.length);
    bytes.u64(this.metadata.size);
    for (const [key, value] of this.metadata) {
      bytes.string(key);
      writeValue(bytes, value);
    }
    let offset = 0;
    for (const { name, shape, type, bytes: data } of this.tensors) {
      bytes.string(name);
      bytes.u32(shape.length);
      for (const extent of shape) bytes.u64(extent);
      bytes.u32(tensorTypes[type] ?? type);
      bytes.u64(offset);
      offset += Math.ceil(data.length / alignment) * alignment;
    }
    bytes.pad();
    yield bytes.join();
    for (const { bytes: data } of this.tensors) {
      if (data.parts === undefined) yield data;
      else yield* data.parts();
      yield new Uint8Array((alignment - (data.length % alignment)) % alignment);
    }
  }
  /**
   * Writes the file under a temporary name and renames it, so that no reader ever sees a part of it. Resolves to its
   * size in bytes.
   */
  async write(path) {
    const temporary = `${path}.${randomUUID()}.tmp`;
    let length = 0;
    await mkdir(dirname(path), { recursive: true });
    try {
      const file = await open(temporary, 'w');
      try {
        for (const part of this.parts()) {
          await file.writeFile(part);
          length += part.length;
        }
      } finally {
        await file.close();
      }
      await rename(temporary, path);
      return length;
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
  }
}
function writeValue(bytes, value) {
  switch (value.type) {
    case 'u32':
    case 'i32':
    case 'f32':
      bytes.u32(valueTypes[value.type]);
      bytes.append(asBytes(numbers(value.type, [value.value])));
      return;
    case 'bool':
      bytes.u32(valueTypes.bool);
      bytes.append(Uint8Array.of(value.value ? 1 : 0));
      return;
    case 'string':
      bytes.u32(valueTypes.string);
      bytes.string(value.value);
      return;
    case 'i32[]':
    case 'f32[]': {
      const type = value.type === 'i32[]' ? 'i32' : 'f32';
      bytes.u32(valueTypes.array);
      bytes.u32(valueTypes[type]);
      bytes.u64(value.value.length);
      bytes.append(asBytes(numbers(type, value.value)));
      return;
    }
    case 'string[]':
      bytes.u32(valueTypes.array);
      bytes.u32(valueTypes.string);
      bytes.u64(value.value.length);
      for (const text of value.value) bytes.string(text);
  }
}
function numbers(type, values) {
  if (type === 'f32') return Float32Array.from(values);
  return type === 'i32' ? Int32Array.from(values) : Uint32Array.from(values);
}
// Node runs on little-endian machines only where this package does, so typed arrays have the file's byte order.
function asBytes(array) {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}
function encode(type, data) {
  if (type === 'F32') return asBytes(data.slice());
  if (type === 'F16') return asBytes(Uint16Array.from(data, toHalf));
  return encodeQ8(data);
}
/** Blocks of 32 numbers: an F16 scale, then 32 signed bytes; a number is scale * byte. */
function encodeQ8(data) {
  const blocks = data.length / blockSize;
  const bytes = Buffer.alloc(blocks * (2 + blockSize));
  for (let b = 0; b < blocks; b++) {
    const block = data.subarray(b * blockSize, (b + 1) * blockSize);
    let largest = 0;
    for (const value of block) largest = Math.max(largest, Math.abs(value));
    const scale = largest / 127;
    const at = b * (2 + blockSize);
    bytes.writeUInt16LE(toHalf(scale), at);
    if (scale === 0) continue;
    for (let i = 0; i < blockSize; i++) bytes.writeInt8(Math.round(block[i] / scale), at + 2 + i);
  }
  return bytes;
}
const floatView = new Float32Array(1);
const bitsView = new Uint32Array(floatView.buffer);
/** The bits of the nearest IEEE 754 half-precision number, ties to even; too large becomes infinity. */
export function toHalf(value) {
  floatView[0] = value;
  const bits = bitsView[0];
  const sign = (bits >>> 16) & 0x8000;
  const exponent = (bits >>> 23) & 0xff;
  const mantissa = bits & 0x7fffff;
  if (exponent === 0xff) return sign | (mantissa === 0 ? 0x7c00 : 0x7e00);
  const half = exponent - 127 + 15;
  if (half >= 31) return sign | 0x7c00;
  if (half < -10) return sign;
  // A subnormal half keeps fewer bits of the mantissa, and its leading one is no longer implied.
  const kept = half <= 0 ? (mantissa | 0x800000) >>> (1 - half) : mantissa | (half << 23);
  const lost = half <= 0 ? (mantissa | 0x800000) & ((1 << (1 - half)) - 1) : 0;
  const rounded = kept >>> 13;
  const rest = kept & 0x1fff;
  const up = rest > 0x1000 || (rest === 0x1000 && (lost > 0 || (rounded & 1) === 1));
  return sign | (up ? rounded + 1 : rounded);
}
