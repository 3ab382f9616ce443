import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundledError, packageFolder, versionOfPackage } from '../../../lib/basics.js';
import { isWithin } from './within.js';

/** The folder of the installed package, at which built-in default paths start. */
export const homeFolder = packageFolder(import.meta.url);

const version = versionOfPackage(homeFolder);
if (version === undefined) throw bundledError(homeFolder);

/** The version of the package. */
export const packageVersion: string = version;

const { edition } = JSON.parse(readFileSync(join(homeFolder, 'package.json'), 'utf8')) as {
  edition?: string;
};

/** The package is the production edition: monitor, debug commands and samples are not in it. */
export const isProduction: boolean = edition === 'production';

/** The package is installed, rather than a checkout: it has no sources. Nothing is written into its folder then. */
export const isInstalled: boolean = !existsSync(join(homeFolder, 'tsconfig.json'));

/** Returns whether a path is where nothing may be written: in the folder of an installed package. */
export const isSealed = (path: string): boolean => isInstalled && isWithin(path, homeFolder);
