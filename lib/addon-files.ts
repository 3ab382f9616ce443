/** Finds the files of the addon without loading them. */
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Platform and architecture, as in the names of prebuild folders. */
export const platform = `${process.platform}-${process.arch}`;

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
export function addonCandidates(root: string): string[] {
  const base = process.env.LOREKEEP_PREBUILD || root;
  const built = process.env.PREBUILDS_ONLY ? [] : [join(base, 'build', 'Release')];
  return [...built, join(base, 'prebuilds', platform)].flatMap((folder) => {
    const names = existsSync(folder) ? readdirSync(folder) : [];
    return names.filter((name) => name.endsWith('.node')).map((name) => join(folder, name));
  });
}
