import type { LogSink } from './sink.js';

/** The destination of the lines. */
export interface LineFile {
  /** @throws if not all lines could be written */
  append(lines: readonly string[]): void;
  close(): void;
}

export interface FlushRules {
  /** A line of at least this level is written at once, with all pending ones; infinity: none is. */
  flushLevel: number;
  /** Interval in ms at which pending lines are written; 0: none. */
  flushEveryMs: number;
}

/** Maximum number of pending UTF-16 units; bounds the memory even without flush rules. */
const maxPending = 1024 * 1024;

/**
 * Buffers lines in memory until a flush rule applies. Written lines are in the operating system, so a killed process loses
 * none of them. Lines that cannot be written (full disk) are dropped and counted; the first line written afterwards reports
 * the count.
 */
export class FileSink implements LogSink {
  readonly #file: LineFile;
  readonly #flushLevel: number;
  readonly #onFailure: (error: Error) => void;
  readonly #timer: NodeJS.Timeout | undefined;
  #pending: string[] = [];
  #pendingLength = 0;
  #dropped = 0;

  /** `onFailure` receives the first error of consecutive failures. */
  constructor(file: LineFile, { flushLevel, flushEveryMs }: FlushRules, onFailure: (error: Error) => void) {
    this.#file = file;
    this.#flushLevel = flushLevel;
    this.#onFailure = onFailure;
    if (flushEveryMs > 0) this.#timer = setInterval(() => this.flush(), flushEveryMs).unref();
  }

  write(line: string, level: number): void {
    this.#pending.push(line);
    this.#pendingLength += line.length;
    if (level >= this.#flushLevel || this.#pendingLength >= maxPending) this.flush();
  }

  /** Writes the pending lines. */
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
