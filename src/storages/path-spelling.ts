import { isAbsolute, posix, win32 } from 'node:path';

/** Longer paths, which no system has, are judged by this many characters: reading all of them would block the event loop. */
const longestJudged = 32_767;

/**
 * Returns whether the text alone of a path that starts `depth` folders below a root leaves the root: it is absolute, or has
 * more `..` than folders at any point. Also judges the path as written on other systems and as percent-encoded, so that
 * every system refuses the same requests.
 */
export function leavesRoot(path: string, depth: number): boolean {
  const judged = path.slice(0, longestJudged);
  const decoded = decode(judged);
  return [judged, decoded].some(
    (spelled) => isRooted(spelled) || climbs(spelled, depth) || climbs(spelled.replaceAll('\\', '/'), depth),
  );
}

/** Returns the path relative to the root, without `..`. Precondition: it does not leave the root. */
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

/** Removes any number of layers of percent-encoding in one pass: a decoded character may complete another code. */
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

/** Returns the value of a hexadecimal digit, else -1. */
function hexDigit(unit: number): number {
  if (unit >= 0x30 && unit <= 0x39) return unit - 0x30;
  const lower = unit | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x61 + 10 : -1;
}
