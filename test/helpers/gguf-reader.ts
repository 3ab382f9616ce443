/** Reads the header of a GGUF file, sharing no code with the addon. */
import { readFileSync } from 'node:fs';

export const alignment = 32;

/** Bytes of a value, and how it is read, by its type. */
const scalars: Readonly<Record<number, [size: number, read: (bytes: Buffer, at: number) => unknown]>> = {
  0: [1, (bytes, at) => bytes.readUInt8(at)],
  1: [1, (bytes, at) => bytes.readInt8(at)],
  2: [2, (bytes, at) => bytes.readUInt16LE(at)],
  3: [2, (bytes, at) => bytes.readInt16LE(at)],
  4: [4, (bytes, at) => bytes.readUInt32LE(at)],
  5: [4, (bytes, at) => bytes.readInt32LE(at)],
  6: [4, (bytes, at) => bytes.readFloatLE(at)],
  7: [1, (bytes, at) => bytes.readUInt8(at) !== 0],
  10: [8, (bytes, at) => bytes.readBigUInt64LE(at)],
  11: [8, (bytes, at) => bytes.readBigInt64LE(at)],
  12: [8, (bytes, at) => bytes.readDoubleLE(at)],
};

class Cursor {
  at = 8; // behind the magic and the version
  constructor(readonly bytes: Buffer) {}

  u32(): number {
    this.at += 4;
    return this.bytes.readUInt32LE(this.at - 4);
  }
  u64(): number {
    this.at += 8;
    return Number(this.bytes.readBigUInt64LE(this.at - 8));
  }
  string(): string {
    const length = this.u64();
    this.at += length;
    return this.bytes.toString('utf8', this.at - length, this.at);
  }
  value(type: number): unknown {
    if (type === 8) return this.string();
    if (type === 9) {
      const element = this.u32();
      return Array.from({ length: this.u64() }, () => this.value(element));
    }
    const scalar = scalars[type];
    if (scalar === undefined) throw new Error(`there is no metadata type ${type}`);
    const [size, read] = scalar;
    this.at += size;
    return read(this.bytes, this.at - size);
  }
  since(begin: number): Buffer {
    return this.bytes.subarray(begin, this.at);
  }
}

export interface GgufHeader {
  /** Each with its bytes in the file, the key's name included. */
  keys: { name: string; value: unknown; bytes: Buffer }[];
  /** `head`: name, shape and type as in the file; `offset`: within `data`. */
  tensors: { name: string; shape: number[]; type: number; offset: number; head: Buffer }[];
  data: Buffer;
}

export function readGgufHeader(path: string): GgufHeader {
  const cursor = new Cursor(readFileSync(path));
  const tensorCount = cursor.u64();
  const keys = Array.from({ length: cursor.u64() }, () => {
    const begin = cursor.at;
    const name = cursor.string();
    const value = cursor.value(cursor.u32());
    return { name, value, bytes: cursor.since(begin) };
  });
  const tensors = Array.from({ length: tensorCount }, () => {
    const begin = cursor.at;
    const name = cursor.string();
    const shape = Array.from({ length: cursor.u32() }, () => cursor.u64());
    const type = cursor.u32();
    return { name, shape, type, head: cursor.since(begin), offset: cursor.u64() };
  });
  return { keys, tensors, data: cursor.bytes.subarray(Math.ceil(cursor.at / alignment) * alignment) };
}

export interface Gguf {
  metadata: Map<string, unknown>;
  /** Rows of `width` numbers. */
  tensors: Map<string, { width: number; data: Float32Array }>;
}

/** Reads a small file with F32 tensors, for reference computations. */
export function readGguf(path: string): Gguf {
  const { keys, tensors, data } = readGgufHeader(path);
  return {
    metadata: new Map(keys.map(({ name, value }) => [name, value])),
    tensors: new Map(
      tensors.map(({ name, shape, type, offset }) => {
        if (type !== 0) throw new Error(`${name}: only F32 is read here`);
        const numbers = new Float32Array(shape.reduce((product, extent) => product * extent, 1));
        for (let i = 0; i < numbers.length; i++) numbers[i] = data.readFloatLE(offset + 4 * i);
        return [name, { width: shape[0] as number, data: numbers }] as const;
      }),
    ),
  };
}
