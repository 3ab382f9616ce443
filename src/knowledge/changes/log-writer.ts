import { LorekeepError, systemReason } from '../../../lib/basics.js';
import type { ChangeLogFacts } from '../../../lib/internal.js';
import {
  batchOf,
  type EncodedBatch,
  headerBytes,
  headerOf,
  type LogHeader,
  mergeMarkOf,
  sealFrame,
} from './frames.js';
import { type LogFile, type LogFiles, systemLogFiles } from './log-file.js';
import type { FlushSetting } from './public.js';

interface Pending {
  frame: Buffer;
  /** Of the storage after it; undefined for a mark. */
  version: number | undefined;
  resolve(): void;
  reject(error: unknown): void;
}

/** Longest time in milliseconds between two attempts to flush after one has failed. */
const retryMs = 1000;
/** Most bytes that are written and flushed together. */
const groupBytes = 64 * 1024 * 1024;

/**
 * Appends batches to a change log. Batches that wait are written and flushed together. A batch that cannot be written is refused
 * with all that wait behind it, and the log is cut back to the last good batch. The caller holds the lock of the log.
 */
export class ChangeLogWriter {
  readonly #path: string;
  readonly #files: LogFiles;
  readonly #flush: FlushSetting;
  readonly #onError: (error: LorekeepError) => void;
  #file: LogFile;
  #id: string;
  #version: number;
  /** End of the last good frame. */
  #end: number;
  /** Bytes that are on the device. */
  #durable: number;
  /** Whether there may be bytes behind the end. */
  #uncut = false;
  /** Whether a flush has failed: the system may have dropped what was not on the device. */
  #unflushed = false;
  #queue: Pending[] = [];
  #running: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  private constructor(
    path: string,
    file: LogFile,
    state: { id: string; version: number; end: number; durable: number },
    { flush, files, onError }: typeof defaults,
  ) {
    this.#path = path;
    this.#file = file;
    this.#id = state.id;
    this.#version = state.version;
    this.#end = state.end;
    this.#durable = state.durable;
    this.#flush = flush;
    this.#files = files;
    this.#onError = onError;
  }

  /** Makes a log without batches in place of the one that is there. @throws IO; INVALID_ARGUMENT for another kind of file */
  static async create(
    path: string,
    header: LogHeader,
    options: ChangeLogWriterOptions = {},
  ): Promise<ChangeLogWriter> {
    const all = { ...defaults, ...options };
    const file = await refusing(path, () => all.files.replace(path, [headerOf(header)], all.mode));
    return new ChangeLogWriter(path, file, stateOf(header), all);
  }

  /** Continues a log after its last good frame. A torn tail is cut off. @throws IO, CORRUPT for a log that is damaged otherwise */
  static async continue(
    path: string,
    { id, version, end, damage }: ChangeLogFacts,
    options: ChangeLogWriterOptions = {},
  ): Promise<ChangeLogWriter> {
    if (damage?.torn === false) throw damagedLog(path, damage);
    const all = { ...defaults, ...options };
    const file = await refusing(path, () => all.files.open(path));
    const writer = new ChangeLogWriter(path, file, { id, version, end, durable: headerBytes }, all);
    try {
      // Frames that this process finds may not be on the device yet.
      if (damage !== undefined) await refusing(path, () => file.truncate(end));
      if (all.flush !== 'never') await refusing(path, () => writer.#sync());
      return writer;
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  get id(): string {
    return this.#id;
  }

  /** Version of the storage after the last batch in the log. */
  get version(): number {
    return this.#version;
  }

  /** Bytes of the log. */
  get size(): number {
    return this.#end;
  }

  /**
   * Appends a batch; resolves when it is acknowledged: see FlushSetting. Batches are written in the order of the calls.
   * @throws IO: nothing of the batch is in the log, and later batches are written when there is space again
   */
  append(version: number, time: number, batch: EncodedBatch): Promise<void> {
    return this.#add(batchOf(version, time, batch), version);
  }

  /** Appends the mark of a merge, which is on the device afterwards whatever the setting. @throws IO */
  async mark(version: number, time: number, records: { size: number; checksum: string }): Promise<void> {
    await this.#add(mergeMarkOf(version, time, records), undefined);
    if (this.#durable < this.#end) await refusing(this.#path, () => this.#sync());
  }

  /**
   * Starts the log anew with another header and the frames from `from` on, which stay in their order. Resolves when the new log is
   * in place. The caller appends nothing meanwhile. @throws IO: the old log goes on
   */
  async restart(header: LogHeader, from: number): Promise<void> {
    await this.#running;
    const kept = await refusing(this.#path, () => this.#framesFrom(from));
    let at = headerBytes;
    for (const frame of kept) {
      sealFrame(frame, header.id, at);
      at += frame.length;
    }
    const file = await refusing(this.#path, () =>
      this.#files.replace(this.#path, [headerOf(header), ...kept]),
    );
    for (const frame of kept) frame.fill(0);
    await this.#file.close().catch(() => {});
    this.#file = file;
    this.#id = header.id;
    if (kept.length === 0) this.#version = header.baseVersion;
    this.#end = this.#durable = at;
    this.#uncut = this.#unflushed = false;
  }

  /** Puts the log in place again if its file was removed. Returns false if another one is there, or if it was cut. @throws IO */
  async keepInPlace(): Promise<boolean> {
    await this.#running;
    const place = await refusing(this.#path, () => this.#file.placeOf(this.#path, this.#end));
    if (place !== 'gone') return place === 'here';
    const content: Buffer[] = [];
    const file = await refusing(this.#path, async () => {
      for (let at = 0; at < this.#end; at += groupBytes)
        content.push(await this.#file.read(at, Math.min(groupBytes, this.#end - at)));
      return this.#files.replace(this.#path, content);
    });
    for (const part of content) part.fill(0);
    await this.#file.close().catch(() => {});
    this.#file = file;
    this.#durable = this.#end;
    this.#uncut = this.#unflushed = false;
    return true;
  }

  /** Writes the batches that wait, flushes, and closes the file. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#running;
    if (this.#flush !== 'never' && this.#durable < this.#end) await this.#sync().catch(() => {});
    await this.#file.close();
  }

  #add(frame: Buffer, version: number | undefined): Promise<void> {
    if (this.#closed) return Promise.reject(new LorekeepError('CLOSED', `${this.#path}: used after close()`));
    return new Promise((resolve, reject) => {
      this.#queue.push({ frame, version, resolve, reject });
      this.#running ??= this.#run();
    });
  }

  async #run(): Promise<void> {
    // Batches of the same turn of the event loop form one group.
    await Promise.resolve();
    while (this.#queue.length > 0) {
      const group = this.#takeGroup();
      try {
        await this.#write(group.map(({ frame }) => frame));
        this.#version = group.findLast(({ version }) => version !== undefined)?.version ?? this.#version;
        for (const { resolve } of group) resolve();
      } catch (cause) {
        const error = unwritten(this.#path, cause);
        // Batches behind them have the versions after theirs.
        group.push(...this.#queue.splice(0));
        for (const { reject } of group) reject(error);
      }
      // Their texts may be forgotten.
      for (const { frame } of group) frame.fill(0);
    }
    // Before the callers of the last group go on, who may append again.
    this.#running = undefined;
  }

  #takeGroup(): Pending[] {
    let bytes = 0;
    const beyond = this.#queue.findIndex(({ frame }) => {
      bytes += frame.length;
      return bytes > groupBytes;
    });
    return this.#queue.splice(0, beyond < 0 ? this.#queue.length : Math.max(1, beyond));
  }

  async #write(frames: readonly Buffer[]): Promise<void> {
    if (this.#uncut) await this.#cut();
    if (this.#unflushed) await this.#rewrite();
    const end = this.#end;
    let at = end;
    try {
      for (const frame of frames) {
        sealFrame(frame, this.#id, this.#durable);
        await this.#file.write(frame, at);
        at += frame.length;
      }
      if (this.#flush === 'always') await this.#file.sync();
    } catch (error) {
      this.#uncut = true;
      await this.#cut().catch(() => {}); // tried again before the next batch
      throw error;
    }
    this.#end = at;
    if (this.#flush === 'always') this.#durable = at;
    else if (this.#flush !== 'never') this.#flushLater(this.#flush);
  }

  /** Removes bytes behind the last good frame. @throws system errors */
  async #cut(): Promise<void> {
    await this.#file.truncate(this.#end);
    if (this.#flush === 'always') await this.#file.sync();
    this.#uncut = false;
  }

  /** Writes again all bytes that are not known to be on the device: after a failed flush, the system counts them as written. */
  async #rewrite(): Promise<void> {
    for (let at = this.#durable; at < this.#end; at += groupBytes) {
      const part = await this.#file.read(at, Math.min(groupBytes, this.#end - at));
      await this.#file.write(part, at);
      part.fill(0);
    }
    await this.#sync();
  }

  async #sync(): Promise<void> {
    const end = this.#end;
    try {
      await this.#file.sync();
    } catch (error) {
      this.#unflushed = true;
      throw error;
    }
    this.#unflushed = false;
    this.#durable = Math.max(this.#durable, end);
  }

  #flushLater(ms: number): void {
    if (this.#timer !== undefined || this.#closed) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      const flush = this.#unflushed ? this.#rewrite() : this.#sync();
      flush.catch((cause: unknown) => {
        this.#onError(unwritten(this.#path, cause));
        this.#flushLater(retryMs);
      });
    }, ms);
    this.#timer.unref();
  }

  async #framesFrom(from: number): Promise<Buffer[]> {
    const frames: Buffer[] = [];
    for (let at = from; at < this.#end; ) {
      const head = await this.#file.read(at, frameHead);
      const size = frameHead + Number(head.readBigUInt64LE(payloadSizeAt));
      frames.push(await this.#file.read(at, size));
      at += size;
    }
    return frames;
  }
}

const stateOf = ({ id, baseVersion }: LogHeader) => ({
  id,
  version: baseVersion,
  end: headerBytes,
  durable: headerBytes,
});

const frameHead = 64;
const payloadSizeAt = 32;

export interface ChangeLogWriterOptions {
  /** Default: "always". */
  flush?: FlushSetting;
  /** For tests. */
  files?: LogFiles;
  /** Told of a flush that failed after its batches were acknowledged. */
  onError?: (error: LorekeepError) => void;
  /** Permissions of a log that is made. Default: its owner's alone. */
  mode?: number;
}

const defaults: Required<Omit<ChangeLogWriterOptions, 'mode'>> & Pick<ChangeLogWriterOptions, 'mode'> = {
  flush: 'always',
  files: systemLogFiles,
  onError: () => {},
};

export const remedyOfDamage =
  'restore the file from a backup, or move it away to go on without all of its changes';

/** The error of a log whose damage is no torn tail. */
export function damagedLog(file: string, { at, reason }: { at: number; reason: string }): LorekeepError {
  return LorekeepError.about('CORRUPT', {
    file,
    reason: `is damaged at byte ${at}: ${reason}; the changes up to there are used, and no change is taken`,
    remedy: remedyOfDamage,
  });
}

async function refusing<T>(path: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (cause) {
    throw unwritten(path, cause);
  }
}

function unwritten(file: string, cause: unknown): LorekeepError {
  if (cause instanceof LorekeepError) return cause;
  const reason = `cannot be written, so the change is refused: ${systemReason(cause as Error)}`;
  return LorekeepError.about('IO', { file, reason }, { cause });
}
