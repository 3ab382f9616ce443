import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { relativeImports } from '../layers/imports.mjs';
import { sourceFiles } from '../tool/sources.mjs';

/** The file that loads the addon when it is imported. */
export const addonLoader = /^lib\/(.*\/)?binding\.ts$/;

/** What the modules of a checkout import when they run. Paths are relative to its root. */
export class ImportGraph {
  #root;
  #imports = new Map();
  #closures = new Map();

  constructor(root) {
    this.#root = root;
  }

  /** The files that `file` imports. Files that do not exist are left out. */
  importsOf(file) {
    let imports = this.#imports.get(file);
    if (imports === undefined) {
      const found = relativeImports(file, this.textOf(file), { types: false });
      imports = [...new Set(found)].filter((path) => existsSync(join(this.#root, path)));
      this.#imports.set(file, imports);
    }
    return imports;
  }

  textOf(file) {
    return /\.[cm]?[jt]sx?$/.test(file) ? readFileSync(join(this.#root, file), 'utf8') : '';
  }

  /** `file` and all that it imports, directly or through others. */
  closureOf(file) {
    let closure = this.#closures.get(file);
    if (closure === undefined) {
      closure = new Set([file]);
      for (const reached of closure) for (const next of this.importsOf(reached)) closure.add(next);
      this.#closures.set(file, closure);
    }
    return closure;
  }

  loadsAddon(file) {
    return [...this.closureOf(file)].some((path) => addonLoader.test(path));
  }
}

/** The files of vitest's tests, sorted. */
export const testFiles = (root) => sourceFiles(root, ['test'], ['.test.ts']);

/** The helper by which tests have a short and a long form. */
const repetitions = 'test/helpers/repetitions.ts';

/** Whether a file of tests is left to `npm run test:rest`, since it takes long. */
export const isSlow = (file) => file.endsWith('.slow.test.ts');

/** The tests of a checkout that have a long form, which `npm run test:rest` runs. */
export const testsWithLongForm = (root) => testsThatImport(root, repetitions);

/** The tests of a checkout that import a file, directly or through others. */
export function testsThatImport(root, imported) {
  const graph = new ImportGraph(root);
  return testFiles(root).filter((file) => graph.closureOf(file).has(imported));
}

/** The tests of a checkout by whether they load the addon into their process. */
export function testsByAddon(root) {
  const graph = new ImportGraph(root);
  const files = testFiles(root);
  return {
    withAddon: files.filter((file) => graph.loadsAddon(file)),
    withoutAddon: files.filter((file) => !graph.loadsAddon(file)),
  };
}
