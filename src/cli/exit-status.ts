/** Exit statuses. Scripts rely on the numbers (docs/reference/cli.md). */
export const exitStatus = {
  done: 0,
  /** The command failed, or the checked file has a mistake. */
  failed: 1,
  /** The command line itself is wrong. */
  usage: 2,
} as const;

/** Signals that end a command: the first one gracefully, the second at once. */
export const stopSignals = ['SIGINT', 'SIGTERM'] as const;

/** The status of a process ended by a signal: 128 + the signal's number. */
export const interruptedStatus = { SIGINT: 130, SIGTERM: 143 } as const;

export const exitStatusHelp =
  'Exit status: 0 done, 1 failed or mistakes found, 2 wrong command line, 130 interrupted (128 + signal).';
