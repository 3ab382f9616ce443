import { getSystemErrorMap } from 'node:util';

/**
 * Returns the reason of an error of the operating system: "EACCES: permission denied". Unlike the message of Node.js, it has no path. Of
 * any other error it is the code or the name, because its message may have one.
 */
export function systemReason(error: unknown): string {
  const { errno, code, name } = error as NodeJS.ErrnoException;
  const known = errno === undefined ? undefined : getSystemErrorMap().get(errno);
  return known?.join(': ') ?? code ?? name;
}
