import { type LogSink, levelNumbers } from '../../log/sink.js';

/** Lines that are kept, and warnings and errors that are kept in addition. */
const maxLines = 500;
const longestLine = 4096;

/** Lines that follow one another. */
export interface KeptLines {
  /** Number of the first one. The lines of a server are numbered from 1. */
  readonly seq: number;
  readonly lines: readonly string[];
  /** Warnings and errors from before the first one, oldest first: lines between them are no longer kept. */
  readonly earlier?: readonly NumberedLine[];
}

export interface NumberedLine {
  readonly seq: number;
  readonly line: string;
}

/** Lines as a page gets them. */
export interface LogEvent extends KeptLines {
  /** As in TurnsEvent. */
  readonly instance: string;
}

/**
 * The latest lines of the log, oldest first, and the latest warnings and errors, which other lines do not push out. `trace` lines
 * may hold texts of users, so they are kept only when asked for.
 */
export class LogTail implements LogSink {
  readonly #lines: string[] = [];
  readonly #severe: NumberedLine[] = [];
  readonly #minLevel: number;
  #newest = 0;
  #onLine: () => void = () => {};

  constructor(keepTrace: boolean) {
    this.#minLevel = keepTrace ? levelNumbers.trace : levelNumbers.debug;
  }

  /** The number of lines so far. */
  get newest(): number {
    return this.#newest;
  }

  /** Returns the lines after number `seq` that are still kept. */
  after(seq: number): KeptLines {
    const oldest = this.#newest - this.#lines.length;
    const begin = Math.max(seq, oldest);
    const earlier = this.#severe.filter((line) => line.seq > seq && line.seq <= begin);
    return {
      seq: begin + 1,
      lines: this.#lines.slice(begin - oldest),
      ...(earlier.length > 0 && { earlier }),
    };
  }

  /** `onLine` is called after every further line. */
  follow(onLine: () => void): void {
    this.#onLine = onLine;
  }

  write(line: string, level: number): void {
    if (level < this.#minLevel) return;
    const kept = line.slice(0, longestLine).trimEnd();
    this.#lines.push(kept);
    if (this.#lines.length > maxLines) this.#lines.shift();
    this.#newest++;
    if (level >= levelNumbers.warn) this.#severe.push({ seq: this.#newest, line: kept });
    if (this.#severe.length > maxLines) this.#severe.shift();
    this.#onLine();
  }
}
