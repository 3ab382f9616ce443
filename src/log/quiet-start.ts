import { type LogSink, levelNumbers } from './sink.js';

/** A console that shows only warnings and errors until the server has started: one line then says what people need. */
export class QuietStart implements LogSink {
  readonly #console: LogSink;
  #hasStarted = false;

  constructor(console: LogSink) {
    this.#console = console;
  }

  /** From now on all lines are shown. */
  started(): void {
    this.#hasStarted = true;
  }

  write(line: string, level: number): void {
    if (this.#hasStarted || level >= levelNumbers.warn) this.#console.write(line, level);
  }
}
