import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the installed package, at which built-in default paths start. */
export const homeFolder = findHome(dirname(fileURLToPath(import.meta.url)));

const manifest = JSON.parse(readFileSync(join(homeFolder, 'package.json'), 'utf8')) as {
  version: string;
  edition?: string;
};

/** The version of the package. */
export const packageVersion: string = manifest.version;

/** The package is the production edition: monitor, debug commands and samples are not in it. */
export const isProduction: boolean = manifest.edition === 'production';

function findHome(folder: string): string {
  if (existsSync(join(folder, 'package.json'))) return folder;
  const parent = dirname(folder);
  if (parent === folder)
    throw new Error('lorekeep is not installed as a package: no package.json above its files');
  return findHome(parent);
}
