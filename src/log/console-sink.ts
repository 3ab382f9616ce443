import { writeSync } from 'node:fs';
import { hasColours } from './colours.js';
import { prettyLine } from './pretty.js';
import type { LogSink } from './sink.js';

const descriptors = { stdout: 1, stderr: 2 } as const;

/** After a pipe has accepted nothing for this long, in ms, lines are dropped until one gets through. */
const longestWait = 20;

/**
 * Standard output or standard error: readable lines on a terminal, else JSON lines. Writes are synchronous, so that the
 * last line before a crash is not lost. A closed pipe or a full disk only loses lines.
 */
export class ConsoleSink implements LogSink {
  readonly #format: (line: string) => string;
  readonly #descriptor: number;
  #stuck = false;

  constructor(stream: keyof typeof descriptors = 'stdout') {
    this.#descriptor = descriptors[stream];
    const { isTTY } = process[stream];
    const colors = hasColours(process[stream]);
    this.#format = isTTY ? (line) => prettyLine(line, colors) : (line) => line;
  }

  write(line: string): void {
    const bytes = Buffer.from(this.#format(line));
    const started = performance.now();
    for (let written = 0; written < bytes.length; ) {
      try {
        written += writeSync(this.#descriptor, bytes, written);
      } catch (error) {
        // The pipe is non-blocking, and its reader is slow.
        const busy = (error as NodeJS.ErrnoException).code === 'EAGAIN';
        if (!busy || this.#stuck || performance.now() - started > longestWait) {
          this.#stuck = busy;
          return;
        }
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
      }
    }
    this.#stuck = false;
  }
}
