import type { Dirent } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { UnreadableDocument } from '../document.js';
import { formatOf, isPicture } from '../formats/formats.js';
import { IgnoreRules } from './ignore-rules.js';
import { PathPatterns } from './path-patterns.js';
import { openReason } from './read-file.js';

export interface WalkOptions {
  /** Files to take, with the grammar of .gitignore. Default: every file with a known ending. */
  include?: readonly string[] | undefined;
  /** Files and folders to leave out, with the same grammar; stronger than `include` and .gitignore. */
  exclude?: readonly string[] | undefined;
  /** Whether .gitignore files count. Default true. */
  gitignore?: boolean | undefined;
  /** Whether pictures are taken, whose text is read by OCR. Default false. */
  ocr?: boolean | undefined;
  signal?: AbortSignal | undefined;
}

/** Files that the program itself wrote, which are no documents. */
export interface OwnFiles {
  names: ReadonlySet<string>;
  /** Whether a folder with such names was written by the program. */
  isOwn(folder: string): Promise<boolean>;
}

/**
 * A file below a folder, why a path below it was left out, the ending of a file whose kind is not read, or a folder before it is looked
 * into: "" for the first one.
 */
export type Found =
  | { path: string }
  | { path: string; problem: string }
  | { path: string; leftOut: string }
  | { path: string; isFolder: true };

/** Folders that hold no documents of the user. */
const skippedFolders = new Set(['node_modules', '__pycache__']);

/**
 * Finds the files of a folder, sorted by path within each folder. Paths are relative and have slashes. Hidden files and
 * folders are left out; links are not followed. `folders`: yields the folders, too. @throws system errors for the folder itself
 */
export async function* walk(
  folder: string,
  options: WalkOptions & { own?: OwnFiles; folders?: boolean } = {},
): AsyncGenerator<Found> {
  const { gitignore = true, folders = false, signal } = options;
  const chosen = choice(options);
  const above = gitignore ? await orProblem(IgnoreRules.above(folder)) : IgnoreRules.none;
  if ('problem' in above) {
    yield { path: '.', ...above };
    return;
  }
  const waiting = [{ path: '', rules: above }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    signal?.throwIfAborted();
    const at = join(folder, next.path);
    if (folders) yield { path: next.path, isFolder: true };
    const inside = gitignore ? await orProblem(next.rules.enter(at)) : next.rules;
    if ('problem' in inside) {
      yield { path: next.path === '' ? '.' : `${next.path}/`, ...inside };
      continue;
    }
    const below: typeof waiting = [];
    const entries = await entriesOf(at, next.path === '');
    if (!Array.isArray(entries)) {
      yield { path: `${next.path}/`, problem: entries.problem };
      continue;
    }
    const own = await ownNames(at, entries, options.own);
    if (own !== undefined && next.path !== '') continue;
    for (const entry of entries) {
      if (own?.has(entry.name)) continue;
      const path = next.path === '' ? entry.name : `${next.path}/${entry.name}`;
      const isFolder = entry.isDirectory();
      if (entry.name.startsWith('.') || chosen.excludes(path, isFolder)) continue;
      if (inside.ignores(join(at, entry.name), isFolder)) continue;
      if (isFolder) {
        if (!skippedFolders.has(entry.name)) below.push({ path, rules: inside });
      } else if (entry.isSymbolicLink() && (await isFolderLink(join(at, entry.name))))
        yield { path, problem: 'is a link to a folder; links are not followed' };
      else if (chosen.includes(path)) yield found(path, entry);
      else if (chosen.all && entry.isFile()) yield { path, leftOut: endingOf(entry.name) };
    }
    // The stack gives the first folder first.
    for (const folder of below.reverse()) waiting.push(folder);
  }
}

function found(path: string, entry: Dirent): Found {
  if (entry.isFile()) return { path };
  if (entry.isSymbolicLink()) return { path, problem: 'is a symbolic link; links are not followed' };
  return { path, problem: 'is not a regular file' };
}

const orProblem = (rules: Promise<IgnoreRules>) =>
  rules.catch((error: unknown) => {
    if (error instanceof UnreadableDocument) return { problem: error.message };
    throw error;
  });

async function ownNames(
  folder: string,
  entries: readonly Dirent[],
  own: OwnFiles | undefined,
): Promise<ReadonlySet<string> | undefined> {
  const isLikely = own !== undefined && entries.some(({ name }) => own.names.has(name));
  return isLikely && (await own.isOwn(folder)) ? own.names : undefined;
}

const isFolderLink = (path: string) =>
  stat(path).then(
    (facts) => facts.isDirectory(),
    () => false,
  );

/** Endings are shown; a longer one is part of a name. */
const longestEnding = 12;

function endingOf(name: string): string {
  const ending = extname(name).toLowerCase();
  return ending.length <= longestEnding ? ending : '';
}

function choice({ include, exclude = [], ocr = false }: WalkOptions) {
  const included = include === undefined || include.length === 0 ? undefined : new PathPatterns(include);
  const excluded = new PathPatterns(exclude);
  return {
    all: included === undefined,
    includes: (path: string) =>
      included === undefined
        ? formatOf(path) !== undefined && (ocr || !isPicture(path))
        : included.selects(path),
    excludes: (path: string, isFolder: boolean) => excluded.test(path, isFolder) === true,
  };
}

async function entriesOf(folder: string, isRoot: boolean): Promise<Dirent[] | { problem: string }> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    if (isRoot) throw error;
    return { problem: openReason(error as NodeJS.ErrnoException) };
  }
}
