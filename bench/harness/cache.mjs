// Where generated data and the peers' built indexes are kept between runs: .cache/bench of the project, not committed. Everything
// in it is made again when it is missing, so it may be removed at any time.
import { mkdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');

/** Where the real data lie, which may be absent. */
export const dataFolder = resolve(process.env.LOREKEEP_DATA ?? join(root, '..', 'shared', 'data'));

/** Path of a file or folder in the cache; its folder exists. */
export function cached(...names) {
  const path = join(root, '.cache', 'bench', ...names);
  mkdirSync(dirname(path), { recursive: true });
  return path;
}
