import type { LogSink } from './sink.js';

/** Where the lines go in the end. */
export interface LineFile {
  /** @throws when not all of them could be written */
  append(lines: readonly string[]): void;
  close(): void;
}

export interface FlushRules {
  /** Lines from this level number on are written at once, with all before them; infinity: none is. */
  flushLevel: number;
  /** Interval in ms at which what waits is written; 0: none. */
  flushEveryMs: number;
}

/** UTF-16 units that wait at most, so that the log's memory is bounded without any rule. */
const mostPending = 1024 * 1024;

/**
 * Lines wait in memory until a rule says that they are written: then they are in the operating system, and a killed
 * process loses none of them. What cannot be written (a full disk) is dropped and counted, and the count is the first
 * line that can be written again.
 */
export class FileSink implements LogSink {
  readonly #file: LineFile;
  readonly #flushLevel: number;
  readonly #onFailure: (error: Error) => void;
  readonly #timer: NodeJS.Timeout | undefined;
  #pending: string[] = [];
  #pendingLength = 0;
  #dropped = 0;

  /** `onFailure` is told the first error of a row of failures. */
  constructor(file: LineFile, { flushLevel, flushEveryMs }: FlushRules, onFailure: (error: Error) => void) {
    this.#file = file;
    this.#flushLevel = flushLevel;
    this.#onFailure = onFailure;
    if (flushEveryMs > 0) this.#timer = setInterval(() => this.flush(), flushEveryMs).unref();
  }

  write(line: string, level: number): void {
    this.#pending.push(line);
    this.#pendingLength += line.length;
    if (level >= this.#flushLevel || this.#pendingLength >= mostPending) this.flush();
  }

  /** Writes what waits. */
  flush(): void {
    if (this.#pending.length === 0) return;
    const lines = this.#pending;
    this.#pending = [];
    this.#pendingLength = 0;
    const dropped = this.#dropped;
    try {
      this.#file.append(dropped === 0 ? lines : [lossLine(dropped), ...lines]);
      this.#dropped = 0;
    } catch (error) {
      this.#dropped = dropped + lines.length;
      if (dropped === 0) this.#onFailure(error as Error);
    }
  }

  close(): void {
    clearInterval(this.#timer);
    this.flush();
    this.#file.close();
  }
}

function lossLine(lines: number): string {
  const time = new Date().toISOString();
  const msg = 'lines were lost: the log file could not be written';
  return `${JSON.stringify({ level: 'warn', time, lines, msg })}\n`;
}
