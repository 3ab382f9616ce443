import { SegmentPattern } from './segment-pattern.js';

/** A pattern as in a .gitignore file. */
interface PathPattern {
  negated: boolean;
  foldersOnly: boolean;
  /** "**" stands for any number of segments. */
  segments: readonly (SegmentPattern | '**')[];
}

/** Patterns with the grammar of .gitignore, relative to one folder. The last matching pattern decides. */
export class PathPatterns {
  readonly #patterns: readonly PathPattern[];

  constructor(lines: readonly string[]) {
    this.#patterns = lines.map(parse).filter((pattern) => pattern !== undefined);
  }

  /** Returns whether the path is selected, or undefined if no pattern matches it. The path has slashes on every platform. */
  test(path: string, isFolder: boolean): boolean | undefined {
    const names = path.split('/');
    const found = this.#patterns.findLast(
      ({ segments, foldersOnly }) => (isFolder || !foldersOnly) && matches(segments, names),
    );
    return found === undefined ? undefined : !found.negated;
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

function parse(line: string): PathPattern | undefined {
  let text = withoutTrailingSpaces(line);
  if (text === '' || text.startsWith('#')) return undefined;
  const negated = text.startsWith('!');
  if (negated) text = text.slice(1);
  const foldersOnly = text.endsWith('/');
  if (foldersOnly) text = text.slice(0, -1);
  if (text === '') return undefined;
  const anchored = text.includes('/');
  const names = (text.startsWith('/') ? text.slice(1) : text).split('/');
  const segments = names.map((name) => (name === '**' ? '**' : new SegmentPattern(name)));
  // "a/**" is all in the folder, but not the folder.
  if (segments.at(-1) === '**') segments.push(new SegmentPattern('*'));
  return { negated, foldersOnly, segments: anchored ? segments : ['**', ...segments] };
}

/** Trailing spaces do not count, unless a backslash is before them. */
function withoutTrailingSpaces(line: string): string {
  let text = line.endsWith('\r') ? line.slice(0, -1) : line;
  while (text.endsWith(' ') && !text.endsWith('\\ ')) text = text.slice(0, -1);
  return text;
}

function matches(segments: PathPattern['segments'], names: readonly string[]): boolean {
  let at = 0;
  let segment = 0;
  let run = -1;
  let runAt = 0;
  while (at < names.length) {
    const wanted = segments[segment];
    if (wanted === '**') {
      run = segment++;
      runAt = at;
    } else if (wanted?.matches(names[at] as string)) {
      at++;
      segment++;
    } else if (run >= 0) {
      segment = run + 1;
      at = ++runAt;
    } else return false;
  }
  while (segments[segment] === '**') segment++;
  return segment === segments.length;
}
