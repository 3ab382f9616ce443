import { lstat, stat } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { readRegular } from '../../../lib/basics.js';
import { UnreadableDocument } from '../document.js';
import { PathPatterns } from './path-patterns.js';
import { openReason } from './read-file.js';

/** Longest .gitignore file. */
const maxBytes = 1024 * 1024;
/** Most steps of the rules with wildcards above a file: they are tried for every file. Some 100 ms. */
const maxSteps = 2_000_000;

const notIndexed = (reason: string) => new UnreadableDocument(`is not indexed: its .gitignore ${reason}`);

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

  /** Adds the rules of a folder. @throws UnreadableDocument if they cannot be read or cost too much: files that they exclude must not be indexed */
  async enter(folder: string): Promise<IgnoreRules> {
    const path = join(folder, '.gitignore');
    const facts = await stat(path).catch(() => undefined);
    if (!facts?.isFile()) return this;
    if (facts.size > maxBytes) throw notIndexed(`has more than ${maxBytes} bytes`);
    const text = await readRegular(path, maxBytes).catch((error: NodeJS.ErrnoException) => {
      throw notIndexed(openReason(error));
    });
    const patterns = new PathPatterns(text.replace(/^\uFEFF/, '').split('\n'));
    const steps = this.#levels.reduce((sum, level) => sum + level.patterns.steps, patterns.steps);
    if (steps > maxSteps)
      throw notIndexed('and those above it have more rules with wildcards than can be tried for each file');
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
