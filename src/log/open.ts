import { join } from 'node:path';
import { makeFolder } from '../../lib/basics.js';
import { type FileLock, isLocked, lockFile } from '../../lib/internal.js';
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
  let opened: ReturnType<typeof openFile>;
  try {
    makeFolder(config.logs_dir);
    opened = openFile(config);
  } catch (error) {
    const { message } = error as Error;
    consoleLog.warn(`logs_dir: no log file can be written, so the log goes to the console only: ${message}`);
    return consoleOnly;
  }
  const { file, lock } = opened;
  const sink = new FileSink(file, flushRules(config), ({ message }) => {
    consoleLog.error(`the log file cannot be written; its lines are lost until it can: ${message}`);
  });
  const close = () => {
    process.off('exit', close);
    sink.close();
    void lock?.release();
  };
  process.on('exit', close);
  const log = createLog(config.log_level, console, sink, ...others);
  return { log, fileLog: createLog(config.log_level, sink), file: file.path, close };
}

/** Servers that may share a folder at a time. */
const mostServers = 64;

/** Opens a file that no other server writes: rotation by two would mix their lines. */
function openFile({ logs_dir, log_mode }: LogConfig): { file: RotatingFile; lock?: FileLock | undefined } {
  if (log_mode === 'dev') {
    const started = new Date().toISOString().replace(/[:.]/g, '-');
    return { file: new RotatingFile(logs_dir, `service_${started}`) };
  }
  const { name, lock } = freeName(logs_dir);
  try {
    return { file: new RotatingFile(logs_dir, name, rotation), lock };
  } catch (error) {
    void lock?.release();
    throw error;
  }
}

/** Takes the first of `service`, `service-2`, `service-3` and so on that no running server has. */
function freeName(folder: string): { name: string; lock?: FileLock } {
  for (let number = 1; number <= mostServers; number++) {
    const name = number === 1 ? 'service' : `service-${number}`;
    try {
      return { name, lock: lockFile(join(folder, `${name}.lock`)) };
    } catch (error) {
      if (isLocked(error)) continue;
      // A file system without locks, or a folder that cannot be written, which opening the log reports.
      break;
    }
  }
  return { name: 'service' };
}

function flushRules({ log_flush_on, log_flush_every_ms }: LogConfig) {
  const flushLevel = log_flush_on === 'off' ? Number.POSITIVE_INFINITY : levelNumbers[log_flush_on];
  return { flushLevel, flushEveryMs: log_flush_every_ms };
}
