import { type LogSink, levelNumbers } from '../log/sink.js';

/** Lines that are kept. */
export const mostLines = 500;
const longestLine = 4096;

/** The latest lines of the log, oldest first. `trace` lines may hold texts of users, so they are kept only when asked for. */
export class LogTail implements LogSink {
  readonly #lines: string[] = [];
  readonly #leastLevel: number;
  #onLine: (line: string) => void = () => {};

  constructor(keepTrace: boolean) {
    this.#leastLevel = keepTrace ? levelNumbers.trace : levelNumbers.debug;
  }

  get lines(): readonly string[] {
    return this.#lines;
  }

  /** `onLine` is told of every further line. */
  follow(onLine: (line: string) => void): void {
    this.#onLine = onLine;
  }

  write(line: string, level: number): void {
    if (level < this.#leastLevel) return;
    const text = line.slice(0, longestLine).trimEnd();
    this.#lines.push(text);
    if (this.#lines.length > mostLines) this.#lines.shift();
    this.#onLine(text);
  }
}
