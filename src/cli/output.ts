import { exitStatus } from './exit-status.js';
import { failureMessage } from './failure.js';
import { printable, printableJson } from './terminal/printable.js';

let isLost = false;

/** Whether stdout takes nothing more: its reader has gone, or its disk is full. */
export const outputIsLost = (): boolean => isLost;

/**
 * A closed pipe (`| head`) is not a failure. A result that cannot be written, as on a full disk, is one. Errors of stderr
 * are ignored.
 */
export function watchOutput(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    isLost = true;
    if (error.code === 'EPIPE' || process.exitCode === exitStatus.failed) return;
    process.exitCode = exitStatus.failed;
    note(`lorekeep: the output cannot be written: ${error.message}`);
  });
  process.stderr.on('error', () => {});
}

export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Prints the single result of a command under --json. */
export function printJson(value: unknown): void {
  process.stdout.write(`${printableJson(value, 2)}\n`);
}

/** Prints one of several results under --json. */
export function printJsonLine(value: unknown): void {
  process.stdout.write(`${printableJson(value)}\n`);
}

/** Prints a note for people on stderr. stdout is for results. */
export function note(text: string): void {
  process.stderr.write(`${text}\n`);
}

export function warn(text: string): void {
  note(`lorekeep: warning: ${printable(text)}`);
}

/** Prints a warning of a library call, with its cause. */
export function warnWithCause({ err }: { err?: unknown }, message: string): void {
  warn(err === undefined ? message : `${message}: ${failureMessage(err)}`);
}

export function printFailure(thrown: unknown): void {
  note(`lorekeep: ${failureMessage(thrown)}`);
}
