import type { ServerConfig } from '../config/schema.js';
import type { Log } from '../log/log.js';
import type { LogTail } from '../operations/monitor/log-tail.js';

export interface OperationsOptions {
  config: ServerConfig;
  /** The source of each config field that is not at its default. */
  configSources: ReadonlyMap<string, string>;
  log: Log;
  /** The latest lines of the log, for the monitor. */
  logTail: LogTail | undefined;
}
