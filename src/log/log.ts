import { type DestinationStream, type Logger, pino } from 'pino';
import { ConsoleSink } from './console-sink.js';
import { logContext } from './context.js';
import { errorFields } from './error-fields.js';
import { LiveLevel } from './live-level.js';
import type { LogSink } from './sink.js';

export type Log = Logger;
export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent';

/**
 * Creates a log of JSON lines: level, time, context (client, session, agent, turn), message. Only `trace` lines carry
 * users' texts.
 */
export function createLog(level: LogLevel, ...sinks: readonly LogSink[]): Log {
  const targets = sinks.length > 0 ? sinks : [new ConsoleSink()];
  // With this property, pino sets the level of each line on the stream.
  const destination = {
    [Symbol.for('pino.metadata')]: true,
    lastLevel: 0,
    write(line: string) {
      for (const target of targets) target.write(line, this.lastLevel);
    },
  };
  const live = new LiveLevel();
  const options = {
    level,
    onChild: (child: Log) => live.add(child),
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    mixin: (_fields: object, _level: number, logger: Log) => missingContext(logger),
    serializers: { err: (error: unknown) => errorFields(error, level === 'trace') },
  };
  const log = pino(options, destination as DestinationStream);
  liveLevels.set(log, live);
  return log;
}

const liveLevels = new WeakMap<Log, LiveLevel>();

/** Changes the level of a log that createLog() made, and of its children. */
export function setLogLevel(log: Log, level: LogLevel): void {
  liveLevels.get(log)?.set(log, level);
}

/** Returns the context fields that the logger lacks. */
function missingContext(logger: Log): object {
  const known = Object.entries(logContext());
  if (known.length === 0) return {};
  const said = logger.bindings();
  return Object.fromEntries(known.filter(([key, value]) => value !== undefined && !Object.hasOwn(said, key)));
}

/** Returns a log that discards everything. */
export function silentLog(): Log {
  return pino({ level: 'silent' });
}
