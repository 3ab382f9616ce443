import { isAbsolute, posix, win32 } from 'node:path';

/** A longer path is judged by its beginning: reading all of it would hold the event loop. */
const longestJudged = 1024 * 1024;

/**
 * Whether a path that starts `depth` folders below a root leaves the root by its text alone: it is absolute, or has more
 * `..` than folders at any point. That holds for what the path may mean to a client of another system, and to one
 * that encoded it as in a URL: the same request is refused on every system.
 */
export function leavesRoot(path: string, depth: number): boolean {
  const judged = path.slice(0, longestJudged);
  const decoded = decode(judged);
  return [judged, decoded].some(
    (spelled) => isRooted(spelled) || climbs(spelled, depth) || climbs(spelled.replaceAll('\\', '/'), depth),
  );
}

/** A path of a file in a root, without `..`, from the root. Precondition: it does not leave the root. */
export function fromRoot(folder: string, path: string): string {
  const separated = process.platform === 'win32' ? path.replaceAll('\\', '/') : path;
  return posix.normalize(posix.join(folder, separated));
}

const driveLetter = /^[a-z]:/i;

const isRooted = (path: string) =>
  isAbsolute(path) || win32.isAbsolute(path) || driveLetter.test(path) || path.includes('\0');

function climbs(path: string, start: number): boolean {
  let depth = start;
  for (let begin = 0; begin <= path.length; ) {
    const slash = path.indexOf('/', begin);
    const end = slash < 0 ? path.length : slash;
    const length = end - begin;
    const isDot = length === 1 && path[begin] === '.';
    if (length === 2 && path.startsWith('..', begin)) depth--;
    else if (length > 0 && !isDot) depth++;
    if (depth < 0) return true;
    begin = end + 1;
  }
  return false;
}

/** Percent-encoding taken off, however often it was put on, in one pass: a character that is decoded may end another code. */
function decode(path: string): string {
  if (!path.includes('%')) return path;
  const units = new Uint16Array(path.length);
  let length = 0;
  for (let index = 0; index < path.length; index++) {
    units[length++] = path.charCodeAt(index);
    while (length >= 3 && units[length - 3] === percent) {
      const high = hexDigit(units[length - 2] as number);
      const low = hexDigit(units[length - 1] as number);
      if (high < 0 || low < 0) break;
      length -= 2;
      units[length - 1] = high * 16 + low;
    }
  }
  return Buffer.from(units.buffer, 0, length * 2).toString('utf16le');
}

const percent = 0x25;

/** -1 for what is none. */
function hexDigit(unit: number): number {
  if (unit >= 0x30 && unit <= 0x39) return unit - 0x30;
  const lower = unit | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x61 + 10 : -1;
}
