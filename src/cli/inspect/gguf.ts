import { open } from 'node:fs/promises';

/** A metadata value; arrays are told by their length alone. */
export type GgufValue = number | bigint | string | boolean | { length: number };

export interface GgufHeader {
  version: number;
  tensors: number;
  metadata: Map<string, GgufValue>;
}

/** Headers are a few MiB (the vocabulary); what goes on beyond this is damaged. */
const mostBytes = 256 * 1024 * 1024;
const longestText = 1024 * 1024;

const scalarSizes: Readonly<Record<number, number>> = {
  0: 1,
  1: 1,
  2: 2,
  3: 2,
  4: 4,
  5: 4,
  6: 4,
  7: 1,
  10: 8,
  11: 8,
  12: 8,
};
const textType = 8;
const arrayType = 9;

/** A file that says it is GGUF and is not as the format says. */
export class GgufError extends Error {
  override readonly name = 'GgufError';
}

/**
 * Reads what a GGUF file says of itself, not its tensors. The format: magic, version (u32), tensors and metadata entries
 * (u64 each), then key, type and value of each entry; all little-endian. @throws GgufError
 */
export async function readGgufHeader(path: string): Promise<GgufHeader> {
  const reader = await Reader.open(path);
  try {
    await reader.bytes(4);
    const version = (await reader.bytes(4)).readUInt32LE();
    if (version < 2 || version > 3)
      throw new GgufError(`GGUF version ${version} is not one that lorekeep reads`);
    const tensors = await reader.count();
    const entries = await reader.count();
    const metadata = new Map<string, GgufValue>();
    for (let entry = 0; entry < entries; entry++) {
      const key = await reader.text();
      metadata.set(key, await readValue(reader, (await reader.bytes(4)).readUInt32LE()));
    }
    return { version, tensors, metadata };
  } finally {
    await reader.close();
  }
}

async function readValue(reader: Reader, type: number): Promise<GgufValue> {
  if (type === textType) return reader.text();
  if (type === arrayType) return skipArray(reader, 0);
  const size = scalarSizes[type];
  if (size === undefined) throw new GgufError(`a value of the unknown type ${type}`);
  return scalar(await reader.bytes(size), type);
}

async function skipArray(reader: Reader, depth: number): Promise<{ length: number }> {
  const type = (await reader.bytes(4)).readUInt32LE();
  const length = await reader.count();
  const size = scalarSizes[type];
  if (size !== undefined) await reader.skip(size * length);
  else if (type === textType) for (let i = 0; i < length; i++) await reader.skip(await reader.count());
  else if (type === arrayType && depth < 4)
    for (let i = 0; i < length; i++) await skipArray(reader, depth + 1);
  else throw new GgufError(`an array of the unknown type ${type}`);
  return { length };
}

function scalar(bytes: Buffer, type: number): GgufValue {
  const readers: Readonly<Record<number, () => GgufValue>> = {
    0: () => bytes.readUInt8(),
    1: () => bytes.readInt8(),
    2: () => bytes.readUInt16LE(),
    3: () => bytes.readInt16LE(),
    4: () => bytes.readUInt32LE(),
    5: () => bytes.readInt32LE(),
    6: () => bytes.readFloatLE(),
    7: () => bytes.readUInt8() !== 0,
    10: () => bytes.readBigUInt64LE(),
    11: () => bytes.readBigInt64LE(),
    12: () => bytes.readDoubleLE(),
  };
  return (readers[type] as () => GgufValue)();
}

/** Reads a file from its beginning, through a window. */
class Reader {
  readonly #file: Awaited<ReturnType<typeof open>>;
  readonly #size: number;
  #window = Buffer.alloc(0);
  #start = 0;
  #at = 0;

  private constructor(file: Awaited<ReturnType<typeof open>>, size: number) {
    this.#file = file;
    this.#size = Math.min(size, mostBytes);
  }

  static async open(path: string): Promise<Reader> {
    const file = await open(path, 'r');
    return new Reader(file, (await file.stat()).size);
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  async bytes(length: number): Promise<Buffer> {
    const from = await this.#take(length);
    if (from + length > this.#start + this.#window.length || from < this.#start)
      await this.#load(from, length);
    return this.#window.subarray(from - this.#start, from - this.#start + length);
  }

  async skip(length: number): Promise<void> {
    await this.#take(length);
  }

  async count(): Promise<number> {
    const value = (await this.bytes(8)).readBigUInt64LE();
    if (value > BigInt(this.#size))
      throw new GgufError('the file ends within its header, or a length in it is wrong');
    return Number(value);
  }

  async text(): Promise<string> {
    const length = await this.count();
    if (length > longestText) throw new GgufError('a text is longer than a MiB');
    return (await this.bytes(length)).toString('utf8');
  }

  /** Moves on; the place before. */
  async #take(length: number): Promise<number> {
    const from = this.#at;
    if (from + length > this.#size) throw new GgufError('the file ends within its header');
    this.#at += length;
    return from;
  }

  async #load(from: number, length: number): Promise<void> {
    const window = Buffer.alloc(Math.max(length, 1024 * 1024));
    const { bytesRead } = await this.#file.read(window, 0, window.length, from);
    if (bytesRead < length) throw new GgufError('the file ends within its header');
    this.#window = window.subarray(0, bytesRead);
    this.#start = from;
  }
}
