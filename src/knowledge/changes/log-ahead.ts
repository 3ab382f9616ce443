import { stampAt } from '../../../lib/basics.js';
import type { ChangeLog } from '../../../lib/internal.js';
import { foldAhead } from './apply-versions.js';
import { type LogSource, readLog } from './base-log.js';

/** The change log of a base, read while its other files are loaded. */
export class LogAhead implements AsyncDisposable {
  readonly #source: LogSource;
  readonly #stamp: Promise<string | undefined>;
  readonly #log: Promise<ChangeLog | undefined>;

  constructor(source: LogSource) {
    this.#source = source;
    this.#stamp = stampAt(source.files.changes);
    this.#log = this.#read();
    this.#log.catch(() => {}); // told by take()
  }

  async #read(): Promise<ChangeLog | undefined> {
    await this.#stamp;
    const log = await readLog(this.#source);
    if (log !== undefined) await foldAhead(log, this.#source);
    return log;
  }

  /** Returns the log as it is now, for the caller to close; undefined without one. @throws as readLog() */
  async take(): Promise<ChangeLog | undefined> {
    const log = await this.#log;
    if ((await this.#stamp) === (await stampAt(this.#source.files.changes))) return log;
    await log?.close();
    return readLog(this.#source);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const log = await this.#log.catch(() => undefined);
    await log?.close();
  }
}
