import { type LogSink, levelNumbers } from '../log/sink.js';

/** Lines that are kept. */
const mostLines = 500;
const longestLine = 4096;

/** Lines that follow one another. */
export interface KeptLines {
  /** Number of the first one. The lines of a server are numbered from 1. */
  readonly seq: number;
  readonly lines: readonly string[];
}

/** Lines as a page gets them. */
export interface LogEvent extends KeptLines {
  /** As in TurnsEvent. */
  readonly instance: string;
}

/** The latest lines of the log, oldest first. `trace` lines may hold texts of users, so they are kept only when asked for. */
export class LogTail implements LogSink {
  readonly #lines: string[] = [];
  readonly #leastLevel: number;
  #newest = 0;
  #onLine: () => void = () => {};

  constructor(keepTrace: boolean) {
    this.#leastLevel = keepTrace ? levelNumbers.trace : levelNumbers.debug;
  }

  /** The number of lines so far. */
  get newest(): number {
    return this.#newest;
  }

  /** Returns the lines after number `seq` that are still kept. */
  after(seq: number): KeptLines {
    const oldest = this.#newest - this.#lines.length;
    const begin = Math.max(seq, oldest);
    return { seq: begin + 1, lines: this.#lines.slice(begin - oldest) };
  }

  /** `onLine` is called after every further line. */
  follow(onLine: () => void): void {
    this.#onLine = onLine;
  }

  write(line: string, level: number): void {
    if (level < this.#leastLevel) return;
    this.#lines.push(line.slice(0, longestLine).trimEnd());
    if (this.#lines.length > mostLines) this.#lines.shift();
    this.#newest++;
    this.#onLine();
  }
}
