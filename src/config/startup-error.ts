/** Why the server cannot start: one line for whoever started it. The process exits with a non-zero status. */
export class StartupError extends Error {
  override readonly name = 'StartupError';
}
