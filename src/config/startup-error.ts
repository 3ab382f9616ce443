import { LorekeepError } from '../../lib/errors.js';

/** Why the server cannot start: one line for whoever started it. The process exits with a non-zero status. */
export class StartupError extends Error {
  override readonly name: string = 'StartupError';
}

/** The value of a flag is wrong: the mistake is on the command line itself, not in a file or in the environment. */
export class FlagError extends StartupError {
  override readonly name = 'FlagError';
}

/** What is wrong with a file that the server needs, as a StartupError. */
export async function orStartupError<T>(look: Promise<T>): Promise<T> {
  try {
    return await look;
  } catch (error) {
    throw error instanceof LorekeepError ? new StartupError(error.message, { cause: error }) : error;
  }
}
