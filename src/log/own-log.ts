import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

/** How much of a file's beginning and end is looked at: more than a line of the log takes. */
const lookedAt = 1024 * 1024;

/** Links are not followed, and a pipe is not waited for. Windows has neither flag. */
const careful = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** Whether a line is one of the log's. */
export type IsLine = (line: string) => boolean;

/** A line of createLog(). */
export function isLogLine(line: string): boolean {
  try {
    const { level, time } = JSON.parse(line) as Record<string, unknown>;
    return typeof level === 'string' && typeof time === 'string';
  } catch {
    return false;
  }
}

export interface OpenedLog {
  file: number;
  size: number;
  /** Whether it ends within a line. */
  torn: boolean;
}

/** Opens a log to append to it, or makes it. @throws system errors; an Error for what is not a log of ours */
export function openOwnLog(path: string, isLine: IsLine): OpenedLog {
  const { O_RDWR, O_APPEND, O_CREAT } = constants;
  let file: number;
  try {
    file = openSync(path, O_RDWR | O_APPEND | O_CREAT | careful, 0o666);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ELOOP') throw notOurs(path, 'a symbolic link');
    throw error;
  }
  try {
    return { file, ...checkOwn(file, path, isLine) };
  } catch (error) {
    closeSync(file);
    throw error;
  }
}

/** Refuses to replace what is not a log of ours. Absent is fine. @throws as openOwnLog() */
export function checkOwnLog(path: string, isLine: IsLine): void {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | careful);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return;
    if (code === 'ELOOP') throw notOurs(path, 'a symbolic link');
    throw error;
  }
  try {
    checkOwn(file, path, isLine);
  } finally {
    closeSync(file);
  }
}

/** The first and the last complete line must be ours. */
function checkOwn(file: number, path: string, isLine: IsLine): { size: number; torn: boolean } {
  const found = fstatSync(file);
  if (!found.isFile()) throw notOurs(path, 'not a regular file');
  const { size } = found;
  if (size === 0) return { size, torn: false };
  const first = textAt(file, 0, size).split('\n', 1)[0] as string;
  const end = textAt(file, Math.max(0, size - lookedAt), size);
  const last = end.slice(0, end.lastIndexOf('\n')).split('\n').at(-1) as string;
  // A crash may have left a file that holds a part of its first line alone.
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
