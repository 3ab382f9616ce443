/** Reads a small GGUF file with F32 tensors: for reference computations that share no code with the runtime. */
import { readFileSync } from 'node:fs';

export interface Gguf {
  metadata: Map<string, unknown>;
  /** Rows of `width` numbers. */
  tensors: Map<string, { width: number; data: Float32Array }>;
}

const alignment = 32;

class Cursor {
  at = 0;
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
    if (type === 4) return this.u32();
    if (type === 7) return this.bytes[this.at++] !== 0;
    if (type === 8) return this.string();
    if (type === 9) {
      const element = this.u32();
      return Array.from({ length: this.u64() }, () => this.value(element));
    }
    this.at += 4;
    if (type === 5) return this.bytes.readInt32LE(this.at - 4);
    if (type === 6) return this.bytes.readFloatLE(this.at - 4);
    throw new Error(`metadata type ${type} is not read here`);
  }
}

export function readGguf(path: string): Gguf {
  const cursor = new Cursor(readFileSync(path));
  cursor.at = 8;
  const tensorCount = cursor.u64();
  const metadata = new Map<string, unknown>();
  for (let left = cursor.u64(); left > 0; left--) {
    const key = cursor.string();
    metadata.set(key, cursor.value(cursor.u32()));
  }
  const described = Array.from({ length: tensorCount }, () => {
    const name = cursor.string();
    const shape = Array.from({ length: cursor.u32() }, () => cursor.u64());
    if (cursor.u32() !== 0) throw new Error(`${name}: only F32 is read here`);
    return { name, shape, offset: cursor.u64() };
  });
  const begin = Math.ceil(cursor.at / alignment) * alignment;
  const tensors = new Map(
    described.map(({ name, shape, offset }) => {
      const data = new Float32Array(shape.reduce((product, extent) => product * extent, 1));
      for (let i = 0; i < data.length; i++) data[i] = cursor.bytes.readFloatLE(begin + offset + 4 * i);
      return [name, { width: shape[0] as number, data }] as const;
    }),
  );
  return { metadata, tensors };
}
