/** Where the package of this code is, and whether this code still lies in it. */
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

/** Returns the folder of the package that the module lies in, from lib/ (TypeScript sources under test) and dist/ alike. */
export function packageFolder(url: string | undefined = import.meta.url): string {
  const own = moduleFolder(url);
  let folder = own;
  while (!existsSync(join(folder, 'package.json'))) {
    if (dirname(folder) === folder) return own;
    folder = dirname(folder);
  }
  return folder;
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
        'keep it out of the bundle (esbuild: `--external:lorekeep`; webpack: `externals`; vite: `ssr.external`) and ship node_modules/lorekeep; docs/bundlers.md of the package has every setting',
    },
    { cause },
  );
}
