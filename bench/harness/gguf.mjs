// GGUF files, read and written whole: metadata stays as its bytes, in the file's order.
// Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
import { readFileSync, writeFileSync } from 'node:fs';

const alignment = 32;
const valueTypes = { u32: 4, string: 8, array: 9 };
/** Bytes of a scalar by its type's number; strings and arrays have lengths of their own. */
const scalarBytes = { 0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8 };

/** Storage of tensors by type: `block` elements take `bytes` bytes. */
export const tensorTypes = {
  F32: { id: 0, block: 1, bytes: 4 },
  F16: { id: 1, block: 1, bytes: 2 },
  Q4_0: { id: 2, block: 32, bytes: 18 },
  Q4_1: { id: 3, block: 32, bytes: 20 },
  Q5_0: { id: 6, block: 32, bytes: 22 },
  Q8_0: { id: 8, block: 32, bytes: 34 },
  IQ4_NL: { id: 20, block: 32, bytes: 18 },
};

/**
 * {metadata: Map(key -> bytes of type and value), tensors: [{name, shape, type, bytes}]}. `shape` is fastest first.
 * @throws Error for other versions and tensor types
 */
export function readGguf(path) {
  const bytes = readFileSync(path);
  if (bytes.toString('latin1', 0, 4) !== 'GGUF' || bytes.readUInt32LE(4) !== 3) {
    throw new Error(`${path}: not a GGUF file of version 3`);
  }
  const cursor = new Cursor(bytes, 8);
  const count = cursor.u64();
  const metadata = new Map();
  for (let left = cursor.u64(); left > 0; left--) {
    const key = cursor.string();
    const begin = cursor.at;
    cursor.skipValue(cursor.u32());
    metadata.set(key, bytes.subarray(begin, cursor.at));
  }
  const described = Array.from({ length: count }, () => {
    const name = cursor.string();
    const shape = Array.from({ length: cursor.u32() }, () => cursor.u64());
    const id = cursor.u32();
    const type = Object.keys(tensorTypes).find((known) => tensorTypes[known].id === id);
    if (type === undefined) throw new Error(`${path}: ${name}: tensors of type ${id} are not read`);
    return { name, shape, type, offset: cursor.u64() };
  });
  const begin = Math.ceil(cursor.at / alignment) * alignment;
  const tensors = described.map(({ offset, ...tensor }) => {
    const elements = tensor.shape.reduce((product, extent) => product * extent, 1);
    const { block, bytes: blockBytes } = tensorTypes[tensor.type];
    return {
      ...tensor,
      bytes: bytes.subarray(begin + offset, begin + offset + (elements / block) * blockBytes),
    };
  });
  return { metadata, tensors };
}

class Cursor {
  constructor(bytes, at) {
    this.bytes = bytes;
    this.at = at;
  }
  take(size) {
    this.at += size;
    return this.at - size;
  }
  u32() {
    return this.bytes.readUInt32LE(this.take(4));
  }
  u64() {
    return Number(this.bytes.readBigUInt64LE(this.take(8)));
  }
  string() {
    const length = this.u64();
    const begin = this.take(length);
    return this.bytes.toString('utf8', begin, begin + length);
  }
  skipValue(type) {
    if (type === valueTypes.string) this.string();
    else if (type === valueTypes.array) {
      const element = this.u32();
      for (let left = this.u64(); left > 0; left--) this.skipValue(element);
    } else this.take(scalarBytes[type]);
  }
}

/** The bytes of metadata values, for writeGguf(). */
export const metadataValue = {
  u32: (value) => Buffer.concat([u32(valueTypes.u32), u32(value)]),
  string: (value) => Buffer.concat([u32(valueTypes.string), text(value)]),
};

/** Writes what readGguf() returns. The same model gives the same bytes. Returns their number. */
export function writeGguf(path, { metadata, tensors }) {
  const head = [Buffer.from('GGUF', 'latin1'), u32(3), u64(tensors.length), u64(metadata.size)];
  for (const [key, value] of metadata) head.push(text(key), value);
  let offset = 0;
  for (const { name, shape, type, bytes } of tensors) {
    head.push(text(name), u32(shape.length), ...shape.map(u64), u32(tensorTypes[type].id), u64(offset));
    offset += padded(bytes).length;
  }
  const whole = Buffer.concat([padded(Buffer.concat(head)), ...tensors.map(({ bytes }) => padded(bytes))]);
  writeFileSync(path, whole);
  return whole.length;
}

function u32(value) {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function u64(value) {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}

function text(value) {
  const bytes = Buffer.from(value, 'utf8');
  return Buffer.concat([u64(bytes.length), bytes]);
}

function padded(bytes) {
  return Buffer.concat([bytes, Buffer.alloc((alignment - (bytes.length % alignment)) % alignment)]);
}
