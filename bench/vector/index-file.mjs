// Where a contestant keeps the index of a set that it built, so that other trials of the run open it instead of building again. The
// name holds the peer's version; our own files are built anew by each trial that needs them.
import { existsSync } from 'node:fs';
import { cached } from '../harness/cache.mjs';
import { installedVersion } from '../harness/machine.mjs';

export function indexFile(set, name, packageName) {
  const version = packageName ? (installedVersion(packageName) ?? '') : process.pid;
  return cached('indexes', `${set.base}.${name.replaceAll(' ', '-')}-${version}`);
}

export const indexFileThere = (path) => existsSync(path);
