import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundledError, packageFolder, versionOfPackage } from '../../../lib/basics.js';

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
