// Where things are. Every script works on the checkout (or installed package) that it lies in.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

export const vendorFolder = join(root, 'native', 'vendor');
export const manifestFile = join(root, 'scripts', 'vendor', 'manifest.json');
/** CMake's tree of the addon. */
export const releaseTree = join(root, '.cmake', 'release');
/** The folder that the loader looks at first. `node-gyp rebuild` wipes build/, so nothing else lies there. */
export const stageFolder = join(root, 'build', 'Release');
export const prebuildsFolder = join(root, 'prebuilds');
/** GPU plugins that this checkout has built. */
export const backendsFolder = join(root, 'backends');
/** Folder of the production edition's addon inside a prebuild's folder. */
export const productionFolder = 'production';
/** Symbol files of the libraries in prebuildsFolder. Not part of the package. */
export const symbolsFolder = join(root, 'symbols');
export const isMusl = process.platform === 'linux' && !process.report.getReport().header.glibcVersionRuntime;
/** Platform and architecture, as the addon's loader names folders of prebuilds. */
export const platformTag = `${process.platform}-${process.arch}${isMusl ? '-musl' : ''}`;

export const packageJson = () => JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/** A git checkout has the tests; a published package does not. */
export const isCheckout = () => existsSync(join(root, 'test')) && existsSync(join(root, 'biome.json'));
