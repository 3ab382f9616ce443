/** Splits a GGUF file into parts, as llama.cpp's gguf-split does. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { alignment, readGgufHeader } from './gguf-reader.js';

/** Writes `NAME-00001-of-0000N.gguf` and so on into `folder`. The first part holds `first` tensors. Returns the paths. */
export function splitModel(file: string, folder: string, parts: number, first = 1, name = 'split'): string[] {
  const { keys, tensors, data } = readGgufHeader(file);
  const content = tensors.map(({ head, offset }, index) => ({
    head,
    data: data.subarray(offset, tensors[index + 1]?.offset),
  }));
  const groups = Array.from({ length: parts }, (): typeof content => []);
  for (const [index, tensor] of content.entries())
    groups[index < first ? 0 : 1 + ((index - first) % (parts - 1))]?.push(tensor);
  mkdirSync(folder, { recursive: true });
  return groups.map((group, index) => {
    const own = [
      number16('split.no', index),
      number16('split.count', parts),
      number32('split.tensors.count', tensors.length),
    ];
    const path = join(folder, `${name}-${digits(index + 1)}-of-${digits(parts)}.gguf`);
    writeFileSync(path, encode(index === 0 ? [...keys.map(({ bytes }) => bytes), ...own] : own, group));
    return path;
  });
}

const digits = (value: number) => String(value).padStart(5, '0');

function encode(keys: readonly Buffer[], tensors: readonly { head: Buffer; data: Buffer }[]): Buffer {
  const head = Buffer.concat([Buffer.from('GGUF'), u32(3), u64(tensors.length), u64(keys.length), ...keys]);
  let offset = 0;
  const table = tensors.flatMap((tensor) => {
    const row = [tensor.head, u64(offset)];
    offset += padded(tensor.data).length;
    return row;
  });
  return Buffer.concat([padded(Buffer.concat([head, ...table])), ...tensors.map(({ data }) => padded(data))]);
}

function padded(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, Buffer.alloc((alignment - (bytes.length % alignment)) % alignment)]);
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function u64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}

const key = (name: string, type: number, value: Buffer) =>
  Buffer.concat([u64(name.length), Buffer.from(name), u32(type), value]);
const number16 = (name: string, value: number) => key(name, 2, u32(value).subarray(0, 2));
const number32 = (name: string, value: number) => key(name, 5, u32(value));
