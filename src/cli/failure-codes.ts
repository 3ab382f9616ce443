import type { ErrorCode } from '../../lib/internal.js';

/** Codes of the command line's own failures. Others are the library's codes and a server's error numbers. */
export const commandFailures = {
  USAGE: 'the command line is wrong; the status is 2',
  INTERRUPTED: 'Ctrl-C or SIGTERM',
  CONFIG_INVALID: 'server-config.json, the model catalog or an environment variable is invalid',
  EXISTS: 'a file or folder exists that would be overwritten',
  UNREACHABLE: 'no lorekeep server answers at the address',
  CONNECTION_LOST: 'the server closed the connection',
  TURN_FAILED:
    "the agent's turn did not complete; `detail` has the `code` and the `name` of the server's error",
} as const;

export type FailureCode = keyof typeof commandFailures | ErrorCode;
