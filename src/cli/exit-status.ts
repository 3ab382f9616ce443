/** What the process exits with. The numbers are a promise to scripts (docs/cli.md). */
export const exitStatus = {
  done: 0,
  /** It could not be done, or what was checked has a mistake. */
  failed: 1,
  /** The command line itself is wrong. */
  usage: 2,
} as const;

/** The signals that end a command: the first one gently, the second at once. */
export const stopSignals = ['SIGINT', 'SIGTERM'] as const;

/** A process that a signal ended: 128 + the signal's number. */
export const interruptedStatus = { SIGINT: 130, SIGTERM: 143 } as const;

export const exitStatusHelp =
  'Exit status: 0 done, 1 failed or mistakes found, 2 wrong command line, 130 interrupted (128 + signal).';
