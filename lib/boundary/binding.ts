/** Loads the .node file: of a local build, else of the source package, else of prebuilds/ (part of the package). */
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { isMainThread } from 'node:worker_threads';
import { addonCandidates, addonFolder, packageFolder } from './addon-files.js';
import { isMusl } from './c-library.js';
import { checkExports, loadFailure } from './load-failure.js';
import type { NativeBinding } from './native.js';
import { moduleFolder } from './own-package.js';
import { truncatedLibrary } from './whole-library.js';

const require = createRequire(join(moduleFolder(import.meta.url), 'binding.js'));

function load(): { file: string; binding: NativeBinding } {
  const root = packageFolder();
  let file: string;
  let exports: object;
  let truncated: string | undefined;
  try {
    file = findAddon(root);
    truncated = truncatedLibrary(dirname(file));
    if (truncated !== undefined) throw new Error(truncated);
    exports = require(file) as object;
  } catch (error) {
    throw loadFailure(root, addonCandidates(root), error, truncated !== undefined);
  }
  checkExports(exports, file);
  return { file, binding: exports as NativeBinding };
}

/** node-gyp-build knows musl on Alpine Linux alone, and no folder of its own for it. */
function findAddon(root: string): string {
  const [first] = isMusl ? addonCandidates(root) : [];
  if (first !== undefined) return first;
  const nodeGypBuild = require('node-gyp-build') as { resolve(folder: string): string };
  return nodeGypBuild.resolve(addonFolder(root));
}

const loaded = load();

export const binding: NativeBinding = loaded.binding;

/** Absolute path of the loaded addon. */
export const addonFile: string = loaded.file;

process.once('exit', () => binding.stop(isMainThread));
