import { makeFolder } from '../../lib/basics.js';
import type { ServerConfig } from '../config/schema.js';
import { ConsoleSink } from './console-sink.js';
import { FileSink } from './file-sink.js';
import { createLog, type Log, silentLog } from './log.js';
import { RotatingFile, type Rotation } from './rotating-file.js';
import { type LogSink, levelNumbers } from './sink.js';

/** Rotation in production mode. */
export const rotation: Rotation = { maxBytes: 10 * 1024 * 1024, files: 5 };

export type LogConfig = Pick<
  ServerConfig,
  'logs_dir' | 'log_mode' | 'log_level' | 'log_flush_on' | 'log_flush_every_ms'
>;

export interface OpenLog {
  log: Log;
  /** The log without the console, for messages that the console shows in another form. */
  fileLog: Log;
  /** Path of the log file; absent: console only. */
  file?: string;
  /** Writes pending lines to the file and closes it. The console stays open. */
  close(): void;
}

/**
 * Opens the server's log: the console, and a file in `logs_dir`. If the file cannot be written, warns and uses the console
 * alone. Pending lines are written when the process exits. `others` get every line, too.
 */
export function openLog(
  config: LogConfig,
  others: readonly LogSink[] = [],
  console: LogSink = new ConsoleSink(),
): OpenLog {
  const consoleLog = createLog(config.log_level, console, ...others);
  const consoleOnly = { log: consoleLog, fileLog: silentLog(), close: () => {} };
  if (config.logs_dir === '') return consoleOnly;
  let file: RotatingFile;
  try {
    makeFolder(config.logs_dir);
    file = openFile(config);
  } catch (error) {
    const { message } = error as Error;
    consoleLog.warn(`logs_dir: no log file can be written, so the log goes to the console only: ${message}`);
    return consoleOnly;
  }
  const sink = new FileSink(file, flushRules(config), ({ message }) => {
    consoleLog.error(`the log file cannot be written; its lines are lost until it can: ${message}`);
  });
  const close = () => {
    process.off('exit', close);
    sink.close();
  };
  process.on('exit', close);
  const log = createLog(config.log_level, console, sink, ...others);
  return { log, fileLog: createLog(config.log_level, sink), file: file.path, close };
}

function openFile({ logs_dir, log_mode }: LogConfig): RotatingFile {
  if (log_mode === 'production') return new RotatingFile(logs_dir, 'service', rotation);
  const started = new Date().toISOString().replace(/[:.]/g, '-');
  return new RotatingFile(logs_dir, `service_${started}`);
}

function flushRules({ log_flush_on, log_flush_every_ms }: LogConfig) {
  const flushLevel = log_flush_on === 'off' ? Number.POSITIVE_INFINITY : levelNumbers[log_flush_on];
  return { flushLevel, flushEveryMs: log_flush_every_ms };
}
