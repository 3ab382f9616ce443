import { shellText } from '../base/schema/shell-word.js';
import { FlagError, StartupError } from '../config/startup-error.js';
import { exitStatus, interruptedStatus } from './exit-status.js';
import type { FailureCode } from './failure-codes.js';
import { printable } from './terminal/printable.js';

/** The failure of a command, as one line for the user. */
export class CommandError extends Error {
  override readonly name: string = 'CommandError';
  readonly code: FailureCode;
  /** The same facts for programs. */
  readonly detail: object | undefined;

  constructor(code: FailureCode, message: string, options: ErrorOptions & { detail?: object } = {}) {
    super(message, options);
    this.code = code;
    this.detail = options.detail;
  }

  /** The process's exit status. */
  get status(): number {
    return exitStatus.failed;
  }
}

/** The command line itself is wrong. */
export class UsageError extends CommandError {
  override readonly name = 'UsageError';

  constructor(message: string) {
    super('USAGE', message);
  }

  override get status(): number {
    return exitStatus.usage;
  }
}

/** Returns the one text among the words of the command line. @throws UsageError if the shell has split it */
export function oneText(words: readonly string[], command: string): string | undefined {
  if (words.length < 2) return words[0];
  throw new UsageError(`put quotes around the text: ${command} ${shellText(words.join(' '))}`);
}

/** The user pressed Ctrl-C. */
export class Interrupted extends CommandError {
  override readonly name = 'Interrupted';
  readonly #signal: keyof typeof interruptedStatus;

  constructor(signal: keyof typeof interruptedStatus) {
    super('INTERRUPTED', 'interrupted');
    this.#signal = signal;
  }

  override get status(): number {
    return interruptedStatus[this.#signal];
  }
}

/** A failure as `--json` prints it; docs/reference/cli.md lists the codes. */
export interface FailureReport {
  error: { code: string; message: string; detail?: unknown };
}

export function failureReport(thrown: unknown): FailureReport {
  const { detail, details = detail } = thrown as { detail?: unknown; details?: unknown };
  const message = failureMessage(thrown);
  return { error: { code: failureCode(thrown), message, ...(details !== undefined && { detail: details }) } };
}

/** A failure for people. Control characters, which a message may quote from a file, are replaced. */
export function failureMessage(thrown: unknown): string {
  if (process.env.LOREKEEP_DEBUG === '1' && thrown instanceof Error) return debugText(thrown);
  const message = isOfAbsentFolder(thrown)
    ? 'the current folder no longer exists; change to another one'
    : thrown instanceof Error
      ? thrown.message
      : String(thrown);
  const told = isDefect(thrown) ? `a bug in lorekeep: ${message} (LOREKEEP_DEBUG=1 shows where)` : message;
  return told.split('\n').map(printable).join('\n');
}

export function failureStatus(thrown: unknown): number {
  if (thrown instanceof FlagError) return exitStatus.usage;
  return thrown instanceof CommandError ? thrown.status : exitStatus.failed;
}

function failureCode(thrown: unknown): string {
  const { code, name } = thrown as { code?: unknown; name?: unknown };
  if (thrown instanceof FlagError) return 'USAGE' satisfies FailureCode;
  if (thrown instanceof StartupError) return 'CONFIG_INVALID' satisfies FailureCode;
  if (name === 'ConnectionLostError') return 'CONNECTION_LOST' satisfies FailureCode;
  if (isSystemError(thrown)) return (code === 'ENOENT' ? 'NOT_FOUND' : 'IO') satisfies FailureCode;
  return isDefect(thrown) ? ('INTERNAL' satisfies FailureCode) : String(code);
}

/** The error's code. Errors without one are unexpected. */
function isDefect(thrown: unknown): boolean {
  if (thrown instanceof StartupError || isSystemError(thrown)) return false;
  const { code, name } = thrown as { code?: unknown; name?: unknown };
  const told = typeof code === 'number' || (typeof code === 'string' && !code.startsWith('ERR_'));
  return !told && name !== 'ConnectionLostError';
}

/** Whether it was the call for the current folder that failed. */
export function isOfAbsentFolder(thrown: unknown): boolean {
  return isSystemError(thrown) && (thrown as NodeJS.ErrnoException).syscall === 'uv_cwd';
}

/** The code of a failed system call. */
function isSystemError(thrown: unknown): boolean {
  return thrown instanceof Error && 'errno' in thrown && 'syscall' in thrown;
}

function debugText(error: Error): string {
  const cause = error.cause instanceof Error ? `\ncaused by ${debugText(error.cause)}` : '';
  return `${error.stack ?? error.message}${cause}`;
}
