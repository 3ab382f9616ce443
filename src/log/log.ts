import { createRequire } from 'node:module';
import { type DestinationStream, type Logger, pino } from 'pino';

export type Log = Logger;
export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent';

/**
 * The console log: JSON lines, or readable ones on a terminal when pino-pretty is installed. Writes are synchronous, so
 * that the last line before a crash is there. No line below `trace` carries a user's text.
 */
export function createLog(level: LogLevel): Log {
  const pretty = process.stdout.isTTY ? prettyStream() : undefined;
  const destination = pretty ?? pino.destination({ fd: 1, sync: true });
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, destination);
}

/** A log that nobody reads. */
export function silentLog(): Log {
  return pino({ level: 'silent' });
}

function prettyStream(): DestinationStream | undefined {
  try {
    const pretty = createRequire(import.meta.url)('pino-pretty');
    return pretty({ sync: true, colorize: true, translateTime: 'SYS:HH:MM:ss.l' });
  } catch {
    return undefined;
  }
}
