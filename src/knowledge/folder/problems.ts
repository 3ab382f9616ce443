import { LorekeepError } from '../../../lib/internal.js';
import type { LeftOut } from './left-out.js';
import type { FileEntry } from './manifest.js';
import type { ScannedFile } from './scan.js';

/** A file that was left out, as a whole or in part, and why. */
export interface FileProblem {
  /** Relative to the folder. */
  path: string;
  reason: string;
}

/** Returns the problems of files, in the order of their paths. */
export function problemsOf(files: readonly ScannedFile[], entries: readonly FileEntry[]): FileProblem[] {
  const unread = files.filter(({ problem }) => problem !== undefined);
  return [
    ...unread.map(({ path, problem }) => ({ path, reason: problem as string })),
    ...entries.flatMap(({ path, problems = [] }) => problems.map((reason) => ({ path, reason }))),
  ].sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
}

/** The error of a folder without text to index. */
export function noText(
  folder: string,
  files: number,
  problems: readonly FileProblem[],
  leftOut: readonly LeftOut[],
  include: readonly string[] = [],
): LorekeepError {
  const [first] = problems;
  const why = first === undefined ? '' : `; ${first.path}: ${first.reason}`;
  const reason =
    files > 0
      ? `no text to index in ${files === 1 ? 'its only file' : `any of its ${files} files`}${why}`
      : include.length > 0
        ? `no file matches ${include.join(', ')}`
        : `no file of a kind that is read${others(leftOut)}`;
  return LorekeepError.about('INVALID_ARGUMENT', { file: folder, reason, problems });
}

/** Kinds that are named. */
const maxKinds = 8;

function others(leftOut: readonly LeftOut[]): string {
  if (leftOut.length === 0) return '';
  const kinds = leftOut
    .slice(0, maxKinds)
    .map(({ ending, files }) => `${files} ${ending || 'without ending'}`);
  const more = leftOut.length > maxKinds ? ', and others' : '';
  const pictures = leftOut.some(({ flag }) => flag === '--ocr')
    ? '; `ocr` (--ocr) reads the text of pictures'
    : '';
  return `; other kinds: ${kinds.join(', ')}${more}; name text files with other endings by \`include\` (--include)${pictures}`;
}
