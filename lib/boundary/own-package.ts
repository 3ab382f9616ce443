/** Finds the package of this code, and whether the code is still in it: a bundler may have moved it. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LorekeepError } from './errors.js';

/** The name in the package's own package.json. */
const packageName = 'lorekeep';

/**
 * Returns the folder of a module from its `import.meta.url`. Bundlers that emit CommonJS leave that undefined, and some
 * programs of one file give it another scheme: UNSUPPORTED then, with the setting of the bundler.
 */
export function moduleFolder(url: string | undefined): string {
  if (url?.startsWith('file:')) return dirname(fileURLToPath(url));
  throw bundledError('a module without a path');
}

/**
 * Returns the folder of the package that contains the module, from lib/ (TypeScript sources under test) and dist/ alike. In
 * an asar archive of Electron that is the folder next to the archive, if the package was unpacked there: C++ opens its files.
 */
export function packageFolder(url: string | undefined = import.meta.url): string {
  const own = moduleFolder(url);
  let folder = own;
  while (!existsSync(join(folder, 'package.json'))) {
    if (dirname(folder) === folder) return own;
    folder = dirname(folder);
  }
  const unpacked = folder.replace(inArchive, '.asar.unpacked');
  return existsSync(join(unpacked, 'package.json')) ? unpacked : folder;
}

const inArchive = /\.asar(?=[\\/])/;

/** Returns the error for a package in an asar archive; undefined if the folder is not in one. */
export function archiveError(folder: string, cause?: unknown): LorekeepError | undefined {
  if (!inArchive.test(folder)) return undefined;
  return LorekeepError.about(
    'UNSUPPORTED',
    {
      field: 'native addon',
      reason: `${folder} is in an asar archive, from which no native library can be loaded`,
      remedy:
        'unpack it and its dependencies (electron-builder: `"asarUnpack": ["**/node_modules/**"]`); docs/guides/shipping.md of the package has every setting',
    },
    { cause },
  );
}

/** Returns the version of the package in a folder; undefined if the folder holds another package, or none. */
export function versionOfPackage(folder: string, name: string = packageName): string | undefined {
  try {
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Record<
      string,
      unknown
    >;
    return manifest.name === name && typeof manifest.version === 'string' ? manifest.version : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the error for code that a bundler has copied away from the package's files. `place`: where it runs from. */
export function bundledError(place: string, cause?: unknown): LorekeepError {
  return LorekeepError.about(
    'UNSUPPORTED',
    {
      field: 'native addon',
      reason: `lorekeep runs from ${place}, outside its package: a bundler has copied its JavaScript without its files`,
      remedy:
        'keep it out of the bundle (esbuild: `--external:lorekeep`; webpack: `externals`; vite: `ssr.external`) and ship node_modules/lorekeep; docs/guides/shipping.md of the package has every setting',
    },
    { cause },
  );
}

/** Whether this process is a single executable application: its program is not a Node.js that could run another script. */
export function isSingleExecutable(): boolean {
  const sea = process.getBuiltinModule?.('node:sea') as { isSea(): boolean } | undefined;
  return sea?.isSea() === true;
}
