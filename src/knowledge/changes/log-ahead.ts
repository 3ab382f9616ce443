import type { ChangeLog } from '../../../lib/internal.js';
import { foldAhead } from './apply-versions.js';
import { type LogSource, readLog } from './base-log.js';
import { stampOf } from './followed-log.js';

/** The change log of a base, read while its other files are loaded. The caller takes it or drops it. */
export class LogAhead {
  readonly #source: LogSource;
  readonly #stamp: Promise<string>;
  readonly #log: Promise<ChangeLog | undefined>;

  constructor(source: LogSource) {
    this.#source = source;
    this.#stamp = stampOf(source.files.changes);
    this.#log = this.#read();
    this.#log.catch(() => {}); // told by take()
  }

  async #read(): Promise<ChangeLog | undefined> {
    await this.#stamp;
    const log = await readLog(this.#source);
    if (log !== undefined) foldAhead(log, this.#source);
    return log;
  }

  /** Returns the log as it is now; undefined without one. @throws as readLog() */
  async take(): Promise<ChangeLog | undefined> {
    const log = await this.#log;
    if ((await this.#stamp) === (await stampOf(this.#source.files.changes))) return log;
    await log?.close();
    return readLog(this.#source);
  }

  async drop(): Promise<void> {
    const log = await this.#log.catch(() => undefined);
    await log?.close();
  }
}
