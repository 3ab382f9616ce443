import { lstat, stat } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { readRegular } from '../../../lib/basics.js';
import { UnreadableDocument } from '../document.js';
import { PathPatterns } from './path-patterns.js';

/** Bounds of a .gitignore file: its rules are tried for every file. */
const maxBytes = 1024 * 1024;
const maxWildcards = 32 * 1024;
const maxRules = 10_000;

const tooMany = () =>
  new UnreadableDocument(
    `is not indexed: its .gitignore has more than ${maxRules} rules, or ${maxWildcards / 1024} KiB of rules with wildcards`,
  );

interface Level {
  /** The folder of the .gitignore file. */
  folder: string;
  patterns: PathPatterns;
}

/** The rules of the .gitignore files above and in a folder. Those of deeper folders win. */
export class IgnoreRules {
  readonly #levels: readonly Level[];

  private constructor(levels: readonly Level[]) {
    this.#levels = levels;
  }

  static readonly none = new IgnoreRules([]);

  /** Returns the rules of the Git repository around a folder, without the folder's own. */
  static async above(folder: string): Promise<IgnoreRules> {
    const above: string[] = [];
    for (let at = folder; !(await isRepository(at)); at = dirname(at)) {
      if (dirname(at) === at) return IgnoreRules.none;
      above.unshift(dirname(at));
    }
    let rules = IgnoreRules.none;
    for (const at of above) rules = await rules.enter(at);
    return rules;
  }

  /** Adds the rules of a folder. @throws UnreadableDocument for more rules than can be obeyed */
  async enter(folder: string): Promise<IgnoreRules> {
    const path = join(folder, '.gitignore');
    const text = await readRegular(path, maxBytes).catch(() => '');
    if (text === '') {
      if ((await stat(path).catch(() => undefined))?.isFile() && (await stat(path)).size > maxBytes)
        throw tooMany();
      return this;
    }
    const lines = text.replace(/^\uFEFF/, '').split('\n');
    const wildcards = lines.filter((line) => /[*?[]/.test(line));
    if (lines.length > maxRules || wildcards.join('').length > maxWildcards) throw tooMany();
    const patterns = new PathPatterns(lines);
    return new IgnoreRules([...this.#levels, { folder, patterns }]);
  }

  /** Whether the file or folder at an absolute path is ignored. The folders above it are not looked at. */
  ignores(path: string, isFolder: boolean): boolean {
    for (const { folder, patterns } of this.#levels.toReversed()) {
      const inside = path.slice(folder.endsWith(sep) ? folder.length : folder.length + 1);
      const found = patterns.test(sep === '/' ? inside : inside.replaceAll(sep, '/'), isFolder);
      if (found !== undefined) return found;
    }
    return false;
  }
}

const isRepository = (folder: string) =>
  lstat(join(folder, '.git')).then(
    () => true,
    () => false,
  );
