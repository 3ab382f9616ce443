/** Finds the files of the addon without loading them. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isMusl } from './c-library.js';
import { compiledSourcePackage } from './source-package.js';

export { packageFolder } from './own-package.js';

/** Platform and architecture, as in the names of prebuild folders. */
export const platform = `${process.platform}-${process.arch}${isMusl ? '-musl' : ''}`;

/**
 * Returns the folder whose build/Release or prebuilds/ holds the addon to load. A build in the package itself comes first,
 * then the source package's addon, which was compiled for this machine, then the prebuild.
 */
export function addonFolder(root: string): string {
  const { LOREKEEP_PREBUILD, PREBUILDS_ONLY } = process.env;
  if (LOREKEEP_PREBUILD || PREBUILDS_ONLY || addonsIn(join(root, 'build', 'Release')).length > 0) return root;
  return compiledSourcePackage(root) ?? root;
}

/** Returns every .node file for this platform, in the order of the loader. */
export function addonCandidates(root: string): string[] {
  const { LOREKEEP_PREBUILD, PREBUILDS_ONLY } = process.env;
  const base = LOREKEEP_PREBUILD || root;
  const compiled = LOREKEEP_PREBUILD || PREBUILDS_ONLY ? undefined : compiledSourcePackage(root);
  const folders = [
    ...(PREBUILDS_ONLY ? [] : [join(base, 'build', 'Release')]),
    ...(compiled === undefined ? [] : [join(compiled, 'build', 'Release')]),
    join(base, 'prebuilds', platform),
  ];
  return folders.flatMap(addonsIn);
}

function addonsIn(folder: string): string[] {
  const names = existsSync(folder) ? readdirSync(folder) : [];
  return names.filter((name) => name.endsWith('.node')).map((name) => join(folder, name));
}
