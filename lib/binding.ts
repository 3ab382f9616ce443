/** Loads the .node file from build/Release (a local build), else from prebuilds/ (part of the package). */
import { existsSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isMainThread } from 'node:worker_threads';
import { checkExports, loadFailure, platform } from './load-failure.js';
import type { NativeBinding } from './native.js';

const require = createRequire(import.meta.url);

/** Returns the package's folder, from lib/ (TypeScript sources under test) and from dist/lib/ alike. */
export function packageFolder(): string {
  const own = dirname(fileURLToPath(import.meta.url));
  let folder = own;
  while (!existsSync(join(folder, 'package.json'))) {
    if (dirname(folder) === folder) return own;
    folder = dirname(folder);
  }
  return folder;
}

/** Returns every .node file for this platform, in the order of node-gyp-build. */
function candidates(root: string): string[] {
  const built = process.env.PREBUILDS_ONLY ? [] : [join(root, 'build', 'Release')];
  return [...built, join(root, 'prebuilds', platform)].flatMap((folder) => {
    const names = existsSync(folder) ? readdirSync(folder) : [];
    return names.filter((name) => name.endsWith('.node')).map((name) => join(folder, name));
  });
}

function load(): { file: string; binding: NativeBinding } {
  const root = packageFolder();
  const nodeGypBuild = require('node-gyp-build') as { resolve(folder: string): string };
  let file: string;
  let exports: object;
  try {
    file = nodeGypBuild.resolve(root);
    exports = require(file) as object;
  } catch (error) {
    throw loadFailure(root, candidates(root), error);
  }
  checkExports(exports, file);
  return { file, binding: exports as NativeBinding };
}

const loaded = load();

export const binding: NativeBinding = loaded.binding;

/** Absolute path of the loaded addon. */
export const addonFile: string = loaded.file;

process.once('exit', () => binding.stop(isMainThread));
