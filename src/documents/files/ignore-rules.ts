import { lstat } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { readRegular } from '../../../lib/basics.js';
import { PathPatterns } from './path-patterns.js';

/** A longer .gitignore is ignored. */
const maxBytes = 1024 * 1024;

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

  /** Adds the rules of a folder. */
  async enter(folder: string): Promise<IgnoreRules> {
    const text = await readRegular(join(folder, '.gitignore'), maxBytes).catch(() => '');
    if (text === '') return this;
    const patterns = new PathPatterns(text.replace(/^\uFEFF/, '').split('\n'));
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
