/** Reads the parts of a minidump that an explanation needs. Format: google_breakpad/common/minidump_format.h. */

export interface DumpModule {
  path: string;
  base: bigint;
  size: number;
  /** Names the exact build, as symbol files do; empty if the module has no build id. */
  id: string;
}

export interface DumpThread {
  id: number;
  instruction: bigint;
  /** The stack's words, innermost first. Those that were neither code, stack nor small numbers are overwritten. */
  stack: readonly bigint[];
}

export interface Minidump {
  at: Date;
  signal: number;
  /** The address whose use raised the signal. */
  address: bigint;
  modules: readonly DumpModule[];
  threads: readonly DumpThread[];
  /** The thread that crashed; undefined if the dump lacks it. */
  crashed: DumpThread | undefined;
}

/** The file is no complete minidump. */
export class NotADump extends Error {}

const streamTypes = { threads: 3, modules: 4, exception: 6 } as const;
const entrySizes = { directory: 12, thread: 48, module: 108 } as const;

/** Offsets in the saved registers, by their size: x86-64 and aarch64. */
const registerPlaces: Record<number, { instruction: number; stackPointer: number } | undefined> = {
  1232: { instruction: 248, stackPointer: 152 },
  796: { instruction: 264, stackPointer: 256 },
};

/** "BpEL": a build id follows. */
const buildIdSignature = 0x4270454c;

/** @throws NotADump */
export function readMinidump(bytes: Buffer): Minidump {
  try {
    if (bytes.toString('latin1', 0, 4) !== 'MDMP') throw new NotADump('it is not a minidump');
    return new Reader(bytes).dump();
  } catch (error) {
    if (error instanceof RangeError) throw new NotADump('it is incomplete', { cause: error });
    throw error;
  }
}

class Reader {
  readonly #bytes: Buffer;
  readonly #streams = new Map<number, number>();

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    const directory = bytes.readUInt32LE(12);
    for (let i = 0; i < bytes.readUInt32LE(8); i++) {
      const entry = directory + i * entrySizes.directory;
      this.#streams.set(bytes.readUInt32LE(entry), bytes.readUInt32LE(entry + 8));
    }
  }

  dump(): Minidump {
    const bytes = this.#bytes;
    const exception = this.#stream(streamTypes.exception);
    const crashedId = bytes.readUInt32LE(exception);
    // The thread list has the signal handler's registers for no thread: breakpad stores those of the crash.
    const threads = this.#list(streamTypes.threads, entrySizes.thread, (at) => this.#thread(at));
    return {
      at: new Date(bytes.readUInt32LE(20) * 1000),
      signal: bytes.readUInt32LE(exception + 8),
      address: bytes.readBigUInt64LE(exception + 24),
      modules: this.#list(streamTypes.modules, entrySizes.module, (at) => this.#module(at)),
      threads,
      crashed: threads.find(({ id }) => id === crashedId),
    };
  }

  #stream(type: number): number {
    const place = this.#streams.get(type);
    if (place === undefined) throw new NotADump(`it has no stream ${type}`);
    return place;
  }

  #list<Item>(type: number, size: number, read: (at: number) => Item): Item[] {
    const start = this.#stream(type);
    const length = this.#bytes.readUInt32LE(start);
    return Array.from({ length }, (_, i) => read(start + 4 + i * size));
  }

  #thread(at: number): DumpThread {
    const bytes = this.#bytes;
    const context = bytes.readUInt32LE(at + 44);
    const places = registerPlaces[bytes.readUInt32LE(at + 40)];
    if (places === undefined) throw new NotADump('it is from a processor that lorekeep does not support');
    const stackStart = bytes.readBigUInt64LE(at + 24);
    const stackBytes = bytes.readUInt32LE(at + 32);
    const stackPlace = bytes.readUInt32LE(at + 36);
    const memory = bytes.subarray(stackPlace, stackPlace + stackBytes);
    if (memory.length < stackBytes) throw new NotADump('it is incomplete');
    const below = Number(bytes.readBigUInt64LE(context + places.stackPointer) - stackStart);
    return {
      id: bytes.readUInt32LE(at),
      instruction: bytes.readBigUInt64LE(context + places.instruction),
      // When it is asked for: a false dump may have many threads with one long stack.
      get stack() {
        const words: bigint[] = [];
        for (let offset = Math.max(0, below); offset + 8 <= stackBytes; offset += 8)
          words.push(memory.readBigUInt64LE(offset));
        return words;
      },
    };
  }

  #module(at: number): DumpModule {
    const bytes = this.#bytes;
    return {
      path: this.#text(bytes.readUInt32LE(at + 20)),
      base: bytes.readBigUInt64LE(at),
      size: bytes.readUInt32LE(at + 8),
      id: this.#buildId(bytes.readUInt32LE(at + 76), bytes.readUInt32LE(at + 80)),
    };
  }

  #text(at: number): string {
    return this.#bytes.toString('utf16le', at + 4, at + 4 + this.#bytes.readUInt32LE(at));
  }

  /** Returns the id in the spelling of symbol files: the first 16 bytes as a GUID, and an age of 0. */
  #buildId(size: number, at: number): string {
    const bytes = this.#bytes;
    if (size < 20 || bytes.readUInt32LE(at) !== buildIdSignature) return '';
    const id = Buffer.from(bytes.subarray(at + 4, at + 20));
    id.subarray(0, 4).reverse();
    id.subarray(4, 6).reverse();
    id.subarray(6, 8).reverse();
    return `${id.toString('hex').toUpperCase()}0`;
  }
}
