import { type LogSink, levelNumbers } from './sink.js';

/** Kept warnings; the log has the others. */
const most = 100;

/** Keeps the warnings and errors that are logged until the server listens, for the program that started it. */
export class StartWarnings implements LogSink {
  #kept: string[] | undefined = [];

  write(line: string, level: number): void {
    if (this.#kept === undefined || this.#kept.length === most || level < levelNumbers.warn) return;
    const { msg } = JSON.parse(line) as { msg?: string };
    if (msg !== undefined) this.#kept.push(msg);
  }

  /** Returns the messages in their order, and keeps no more. */
  end(): string[] {
    const kept = this.#kept ?? [];
    this.#kept = undefined;
    return kept;
  }
}
