import { StartupError } from '../config/startup-error.js';
import { exitStatus, interruptedStatus } from './exit-status.js';
import { printable } from './terminal/printable.js';

/** Why a command ends without having done its work: one line for whoever typed it. */
export class CommandError extends Error {
  override readonly name: string = 'CommandError';
  readonly status: number;

  constructor(message: string, status: number = exitStatus.failed, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}

/** The command line itself is wrong. */
export class UsageError extends CommandError {
  override readonly name = 'UsageError';

  constructor(message: string) {
    super(message, exitStatus.usage);
  }
}

/** Someone pressed Ctrl-C. */
export class Interrupted extends CommandError {
  override readonly name = 'Interrupted';

  constructor(signal: keyof typeof interruptedStatus) {
    super('interrupted', interruptedStatus[signal]);
  }
}

/** A failure as `--json` tells it. */
export interface FailureReport {
  error: { code: string; message: string; detail?: unknown };
}

export function failureReport(thrown: unknown): FailureReport {
  const { code, detail } = thrown as { code?: unknown; detail?: unknown };
  const message = failureMessage(thrown);
  const named = typeof code === 'string' || typeof code === 'number' ? String(code) : errorName(thrown);
  return { error: { code: named, message, ...(detail !== undefined && { detail }) } };
}

/** For people, without control characters, which a message may quote from a file. */
export function failureMessage(thrown: unknown): string {
  if (process.env.LOREKEEP_DEBUG === '1' && thrown instanceof Error) return debugText(thrown);
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  const told = isExpected(thrown)
    ? message
    : `a defect of lorekeep: ${message} (LOREKEEP_DEBUG=1 shows where)`;
  return told.split('\n').map(printable).join('\n');
}

export function failureStatus(thrown: unknown): number {
  return thrown instanceof CommandError ? thrown.status : exitStatus.failed;
}

/** Errors of the library, of the system and of a server carry a code; what has none was not foreseen. */
function isExpected(thrown: unknown): boolean {
  if (thrown instanceof CommandError || thrown instanceof StartupError) return true;
  const { code, name } = thrown as { code?: unknown; name?: unknown };
  return code !== undefined || name === 'ConnectionLostError';
}

function errorName(thrown: unknown): string {
  return thrown instanceof Error ? thrown.name : 'Error';
}

function debugText(error: Error): string {
  const cause = error.cause instanceof Error ? `\ncaused by ${debugText(error.cause)}` : '';
  return `${error.stack ?? error.message}${cause}`;
}
