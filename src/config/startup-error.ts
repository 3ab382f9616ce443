/** Why the server cannot start: one line for whoever started it. The process exits with a non-zero status. */
export class StartupError extends Error {
  override readonly name: string = 'StartupError';
}

/** The value of a flag is wrong: the mistake is on the command line itself, not in a file or in the environment. */
export class FlagError extends StartupError {
  override readonly name = 'FlagError';
}
