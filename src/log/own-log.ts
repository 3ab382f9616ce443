import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

/** Bytes read at the start and the end of a file: more than a log line. */
const lookedAt = 1024 * 1024;

/** Follow no links, wait for no pipe. Windows has neither flag. */
const careful = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** Returns whether a line belongs to the log. */
export type IsLine = (line: string) => boolean;

/** How lines of createLog() begin. Other programs also write JSON with a level and a time, but in another order or form. */
const lineBeginning =
  /^\{"level":"(?:trace|debug|info|warn|error|fatal)","time":"\d{4,6}-\d\d-\d\dT[\d:.]+Z",/;

/** Returns whether createLog() wrote a line. */
export function isLogLine(line: string): boolean {
  if (!lineBeginning.test(line)) return false;
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}

export interface OpenedLog {
  file: number;
  size: number;
  /** Whether the file ends with an incomplete line. */
  torn: boolean;
}

/** Opens or creates a log for appending. @throws system errors; an Error for a file that is not a log of ours */
export function openOwnLog(path: string, isLine: IsLine): OpenedLog {
  const file = openUnlinked(path, constants.O_RDWR | constants.O_APPEND | constants.O_CREAT);
  try {
    return { file, ...checkOwn(file, path, isLine) };
  } catch (error) {
    closeSync(file);
    throw error;
  }
}

/** Checks that a file is absent or a log of ours. @throws as openOwnLog() */
export function checkOwnLog(path: string, isLine: IsLine): void {
  let file: number | undefined;
  try {
    file = openUnlinked(path, constants.O_RDONLY);
    checkOwn(file, path, isLine);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function openUnlinked(path: string, flags: number): number {
  try {
    return openSync(path, flags | careful, 0o666);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ELOOP') throw notOurs(path, 'a symbolic link');
    throw error;
  }
}

/** Checks that the first and the last complete line are ours. */
function checkOwn(file: number, path: string, isLine: IsLine): { size: number; torn: boolean } {
  const found = fstatSync(file);
  if (!found.isFile()) throw notOurs(path, 'not a regular file');
  const { size } = found;
  if (size === 0) return { size, torn: false };
  const first = textAt(file, 0, size).split('\n', 1)[0] as string;
  const end = textAt(file, Math.max(0, size - lookedAt), size);
  const last = end.slice(0, end.lastIndexOf('\n')).split('\n').at(-1) as string;
  // After a crash, the file may hold only a part of its first line.
  if (end.includes('\n') ? isLine(first) && isLine(last) : first.startsWith('{"level":'))
    return { size, torn: !end.endsWith('\n') };
  throw notOurs(path, 'not a log of lorekeep');
}

function textAt(file: number, position: number, size: number): string {
  const length = Math.min(lookedAt, size);
  const buffer = Buffer.allocUnsafe(length);
  return buffer.toString('utf8', 0, readSync(file, buffer, 0, length, position));
}

const notOurs = (path: string, what: string) => new Error(`${path} is ${what}, so it is left as it is`);
