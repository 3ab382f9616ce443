import { LorekeepError } from '../../lib/basics.js';

/** The server cannot start. The message is one line for the user; the process exits with a non-zero status. */
export class StartupError extends Error {
  override readonly name: string = 'StartupError';
}

/** A flag's value is invalid: the mistake is on the command line, not in a file or the environment. */
export class FlagError extends StartupError {
  override readonly name = 'FlagError';
}

/** Converts an error about a file that the server needs to a StartupError. */
export async function orStartupError<T>(look: Promise<T>): Promise<T> {
  try {
    return await look;
  } catch (error) {
    throw error instanceof LorekeepError ? new StartupError(error.message, { cause: error }) : error;
  }
}
