import { piecesOf, RunPattern } from './run-pattern.js';
import { SegmentPattern } from './segment-pattern.js';

/** What a pattern says of the paths that it matches, and the number of its line. */
interface Verdict {
  line: number;
  selects: boolean;
}

/** A pattern with wildcards. */
interface PathPattern extends Verdict {
  foldersOnly: boolean;
  /** Of the characters of each name. "**" is a run of names. */
  names: RunPattern<readonly string[]>;
}

/** The last patterns of one text without wildcards. */
interface Literal {
  ofFolders: Verdict;
  ofFiles?: Verdict;
}

/** Most long names, and most short names, in a path of 4,096 bytes. Most patterns refuse a short name at once. */
const mostLongNames = 16;
const mostShortNames = 2048;
/** Of any pattern. */
const leastSteps = 30;

/** Patterns with the grammar of .gitignore, relative to one folder. The last matching pattern decides. */
export class PathPatterns {
  /** Patterns without wildcards by name and by path. They are looked up, however many there are. */
  readonly #names = new Map<string, Literal>();
  readonly #paths = new Map<string, Literal>();
  /** Those with wildcards are tried one after the other. */
  readonly #patterns: PathPattern[] = [];
  /** Steps of some 50 ns that the test of a path takes at most. */
  readonly steps: number = 0;

  constructor(lines: readonly string[]) {
    for (const [line, text] of lines.entries()) {
      const parsed = parse(text);
      if (parsed === undefined) continue;
      const { negated, foldersOnly, path, anchored } = parsed;
      const verdict = { line, selects: !negated };
      if (/[*?[\\]/.test(path)) {
        const names = namesOf(path, anchored);
        this.#patterns.push({ ...verdict, foldersOnly, names });
        this.steps += leastSteps + names.steps(mostLongNames, mostShortNames);
        continue;
      }
      const literals = anchored ? this.#paths : this.#names;
      const ofFiles = foldersOnly ? literals.get(path)?.ofFiles : verdict;
      literals.set(path, { ofFolders: verdict, ...(ofFiles && { ofFiles }) });
    }
  }

  /** Returns whether the path is selected, or undefined if no pattern matches it. The path has slashes on every platform. */
  test(path: string, isFolder: boolean): boolean | undefined {
    const names = path.split('/');
    const kind = isFolder ? 'ofFolders' : 'ofFiles';
    const characters = names.map((name) => [...name]);
    const verdicts = [
      this.#names.get(names.at(-1) as string)?.[kind],
      this.#paths.get(path)?.[kind],
      this.#patterns.findLast(
        (pattern) => (isFolder || !pattern.foldersOnly) && pattern.names.matches(characters),
      ),
    ];
    let last: Verdict | undefined;
    for (const verdict of verdicts) if (verdict && verdict.line >= (last?.line ?? 0)) last = verdict;
    return last?.selects;
  }

  /** Like test() for a file, and for the folders above it. */
  selects(path: string): boolean {
    const names = path.split('/');
    return names.some((_, at) => {
      const isFile = at === names.length - 1;
      return this.test(names.slice(0, at + 1).join('/'), !isFile) === true;
    });
  }
}

function parse(line: string) {
  let text = withoutTrailingSpaces(line);
  if (text === '' || text.startsWith('#')) return undefined;
  const negated = text.startsWith('!');
  if (negated) text = text.slice(1);
  const foldersOnly = text.endsWith('/');
  if (foldersOnly) text = text.slice(0, -1);
  if (text === '') return undefined;
  const anchored = text.includes('/');
  return { negated, foldersOnly, anchored, path: text.startsWith('/') ? text.slice(1) : text };
}

function namesOf(path: string, anchored: boolean): RunPattern<readonly string[]> {
  const names = path.split('/').map((name) => (name === '**' ? 'run' : new SegmentPattern(name)));
  // "a/**" is all in the folder, but not the folder.
  if (names.at(-1) === 'run') names.push(new SegmentPattern('*'));
  return new RunPattern(piecesOf(anchored ? names : ['run', ...names]));
}

/** Trailing spaces do not count, unless a backslash is before them. */
function withoutTrailingSpaces(line: string): string {
  let text = line.endsWith('\r') ? line.slice(0, -1) : line;
  while (text.endsWith(' ') && !text.endsWith('\\ ')) text = text.slice(0, -1);
  return text;
}
