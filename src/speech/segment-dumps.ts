import { lstat, mkdir, open, readdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { perMs } from './heard-audio.js';
import { wavHeader } from './wav-header.js';

/** A segment of speech. */
export interface DumpedSegment {
  /** Id of the session. */
  readonly session: string;
  readonly stream: number;
  readonly segment: number;
  /** At 16 kHz, in [-1, 1]. */
  readonly samples: Float32Array;
}

interface DumpLog {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
}

export interface DumpLimits {
  /** Files of this kind in the folder. */
  readonly files: number;
  /** Bytes of them all. */
  readonly bytes: number;
  /** Bytes in memory that wait to be written. */
  readonly waiting: number;
  /** A full folder is counted again after this time, for an operator may have deleted files. */
  readonly recountMs: number;
}

const defaultLimits: DumpLimits = {
  files: 10_000,
  bytes: 1024 * 1024 * 1024,
  waiting: 64 * 1024 * 1024,
  recountMs: 60_000,
};

/** Names of dumps; other files of the folder are not counted. */
const dumpName = /^speech-.*\.wav$/;

/**
 * Writes each segment of speech to a WAV file of its own, for debugging. Names are those of session, stream and time. A file
 * that exists is never replaced. The folder's limits hold for the files of earlier servers, too.
 */
export class SegmentDumps {
  readonly #folder: string;
  readonly #log: DumpLog;
  readonly #limits: DumpLimits;
  #files = 0;
  #bytes = 0;
  /** Whether a segment was left out. One warning is for all until a count finds room again. */
  #isFull = false;
  /** Of performance.now(). */
  #countedAt = 0;
  /** Whether the last one was not written: one warning is for all until the next success. */
  #isFailing = false;
  #waiting = 0;
  /** Settles when the files so far are written. */
  #writing: Promise<void>;

  /** Says in the log that dumps are on. */
  constructor(folder: string, log: DumpLog, limits: DumpLimits = defaultLimits) {
    this.#folder = folder;
    this.#log = log;
    this.#limits = limits;
    log.warn({ folder }, 'stt_debug_dump_dir: every segment of speech is written to a file');
    this.#writing = this.#count().catch((error) => this.#failed(error));
  }

  /** Writes a segment soon, unless the folder is so slow that too much waits. Failures are logged. */
  write(segment: DumpedSegment): void {
    const at = new Date();
    const { byteLength } = segment.samples;
    const bytes = 44 + 2 * segment.samples.length;
    if (this.#waiting + byteLength > this.#limits.waiting) {
      this.#failed(new Error(`the folder is slower than speech: ${this.#waiting} bytes wait to be written`));
      return;
    }
    this.#waiting += byteLength;
    this.#writing = this.#writing
      .then(() => this.#write(segment, at, bytes))
      .catch((error) => this.#failed(error))
      .finally(() => {
        this.#waiting -= byteLength;
      });
  }

  /** Resolves when the segments so far are written. */
  settled(): Promise<void> {
    return this.#writing;
  }

  async #count(): Promise<void> {
    this.#countedAt = performance.now();
    await mkdir(this.#folder, { recursive: true });
    let [files, sum] = [0, 0];
    for (const name of await readdir(this.#folder)) {
      if (!dumpName.test(name)) continue;
      // An operator may delete it meanwhile.
      const facts = await lstat(join(this.#folder, name)).catch(nothingIfAbsent);
      if (facts === undefined) continue;
      files++;
      sum += facts.size;
    }
    [this.#files, this.#bytes] = [files, sum];
  }

  #hasRoom(bytes: number): boolean {
    return this.#files < this.#limits.files && this.#bytes + bytes <= this.#limits.bytes;
  }

  async #write({ session, stream, segment, samples }: DumpedSegment, at: Date, bytes: number): Promise<void> {
    const { files, bytes: most, recountMs } = this.#limits;
    if (!this.#hasRoom(bytes) && performance.now() - this.#countedAt >= recountMs) {
      await this.#count();
      if (this.#hasRoom(bytes)) this.#isFull = false;
    }
    if (!this.#hasRoom(bytes)) {
      if (!this.#isFull)
        this.#log.warn(
          { folder: this.#folder, files, bytes: most },
          'no more segments are written: the folder has its limit',
        );
      this.#isFull = true;
      return;
    }
    const time = at.toISOString().replace(/[-:]/g, '').replace('.', '-');
    const path = join(this.#folder, `speech-${session}-${stream}-${segment}-${time}.wav`);
    const body = Buffer.alloc(2 * samples.length);
    for (const [i, sample] of samples.entries())
      body.writeInt16LE(Math.round(Math.max(-1, Math.min(1, sample)) * 32_767), 2 * i);
    const file = await open(path, 'wx', 0o600);
    try {
      await file.writeFile(Buffer.concat([wavHeader(samples.length, 1000 * perMs), body]));
    } catch (error) {
      // No program plays a part of a file.
      await unlink(path);
      throw error;
    } finally {
      await file.close();
    }
    this.#isFailing = false;
    this.#files++;
    this.#bytes += bytes;
  }

  #failed(error: unknown): void {
    if (this.#isFailing) return;
    this.#isFailing = true;
    this.#log.warn({ err: error, folder: this.#folder }, 'a segment of speech was not written');
  }
}

function nothingIfAbsent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
