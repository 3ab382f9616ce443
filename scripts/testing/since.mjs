// Which tests the changes since a revision can reach.
import { execFileSync } from 'node:child_process';
import { basename, dirname } from 'node:path';
import { Stop } from '../tool/stop.mjs';
import { ImportGraph, testFiles } from './import-graph.mjs';

/** Files that decide how everything is built or run. */
const ofEverything =
  /^(package(-lock)?\.json|\.npmrc|binding\.gyp|CMakeLists\.txt|tsconfig.*\.json|vitest\.config\.ts|native\/cmake\/.*|scripts\/(test\.mjs|(testing|tool|vendor|layers)\/.*)|test\/helpers\/neutral-environment\.ts)$/;
/** Files that the package is made of. */
const ofPackage = /^(lib|src|native|scripts|data|web|licenses)\//;
const isProgram = /^(lib|src|native|data|web)\//;

/** The files that differ from the common ancestor with `revision`, new ones too, relative to the checkout. */
export function changedFiles(revision, root) {
  const git = (...args) =>
    execFileSync('git', args, {
      cwd: root,
      encoding: 'utf8',
      maxBuffer: 64 << 20,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  const lines = (text) => text.split('\0').filter(Boolean);
  let base;
  try {
    base = git('merge-base', revision, 'HEAD').trim();
  } catch (error) {
    throw new Stop(
      `--since ${revision}: ${
        String(error.stderr ?? error.message)
          .trim()
          .split('\n')[0]
      }`,
    );
  }
  const known = lines(git('diff', '--name-only', '--no-renames', '-z', base));
  const fresh = lines(git('ls-files', '--others', '--exclude-standard', '-z'));
  return [...new Set([...known, ...fresh])].sort();
}

/** What a set of changed files can reach. */
export class Reach {
  #changed;
  #graph;
  #root;

  constructor(changed, root) {
    this.#changed = changed;
    this.#root = root;
    this.#graph = new ImportGraph(root);
  }

  get changed() {
    return this.#changed;
  }

  /** The changed file because of which everything runs; undefined if there is none. */
  get everythingBecauseOf() {
    return this.#changed.find((file) => ofEverything.test(file));
  }

  /** Whether one of `files` has changed. */
  reaches(files) {
    return this.everythingBecauseOf !== undefined || this.#changed.some((file) => files.has(file));
  }

  get reachesPackage() {
    return this.everythingBecauseOf !== undefined || this.#changed.some((file) => ofPackage.test(file));
  }

  /** Whether a file in a folder at the top of the checkout has changed. */
  reachesFolder(folder) {
    return (
      this.everythingBecauseOf !== undefined || this.#changed.some((file) => file.startsWith(`${folder}/`))
    );
  }

  /** The files of vitest that the changes reach, and all that there are. */
  testFiles() {
    const all = testFiles(this.#root);
    return { all, reached: this.everythingBecauseOf ? all : all.filter((file) => this.#reachesTest(file)) };
  }

  #reachesTest(file) {
    const closure = this.#graph.closureOf(file);
    if (this.#changed.some((path) => closure.has(path))) return true;
    const own = [...closure]
      .filter((path) => path.startsWith('test/'))
      .map((path) => this.#graph.textOf(path));
    const runsPrograms = own.some((text) => /child_process|worker_threads|\bdist\b|bench\//.test(text));
    const loads = this.#graph.loadsAddon(file);
    return this.#changed.some(
      (path) =>
        (runsPrograms && isProgram.test(path)) ||
        (loads && path.startsWith('native/')) ||
        own.some((text) => mentions(text, path)),
    );
  }
}

/** Whether a text names a file that it does not import: by the file's name, or by its folder at the top of the checkout. */
function mentions(text, path) {
  if (text.includes(basename(path))) return true;
  const [top] = path.split('/');
  if (dirname(path) === '.' || ['test', 'src', 'lib', 'native'].includes(top)) return false;
  return text.includes(`'${top}'`) || text.includes(`${top}/`);
}
