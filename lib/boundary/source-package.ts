/** Finds the npm package that holds the C++ sources and, once it was installed or run, an addon compiled on this machine. */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { versionOfPackage } from './own-package.js';

const sourcePackage = '@lorekeep/source';

/** Returns the folder of the source package installed next to lorekeep, in any version; undefined if there is none. */
function findSourcePackage(root: string): string | undefined {
  try {
    const require = createRequire(join(root, 'package.json'));
    return dirname(require.resolve(`${sourcePackage}/package.json`));
  } catch {
    return undefined;
  }
}

/** Whether the source package in a folder is of the same version as lorekeep in `root`. */
function isOfSameVersion(source: string, root: string): boolean {
  const version = versionOfPackage(root);
  return version !== undefined && versionOfPackage(source, sourcePackage) === version;
}

/** Returns the folder of a source package of this version that has compiled an addon; undefined if there is none. */
export function compiledSourcePackage(root: string): string | undefined {
  const source = findSourcePackage(root);
  if (source === undefined || !isOfSameVersion(source, root)) return undefined;
  return existsSync(join(source, 'build', 'Release', 'lorekeep.node')) ? source : undefined;
}

/** Returns the command that compiles the addon for an installed package. */
export function compileCommand(root: string): string {
  const source = findSourcePackage(root);
  if (source !== undefined && isOfSameVersion(source, root)) return `npx ${sourcePackage}`;
  const version = versionOfPackage(root);
  return `npm install ${sourcePackage}${version === undefined ? '' : `@${version}`}`;
}
