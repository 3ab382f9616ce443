import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { vendor } from '../vendor/vendor.mjs';
import { addonConfigure, build, configure } from './native-tree.mjs';
import { phase } from './phase.mjs';
import { releaseTree, stageFolder } from './project.mjs';
import { Stop } from './stop.mjs';
import { withTreeLock } from './tree-lock.mjs';

/** Compiles and puts what loads into build/Release. Prints one line per phase. */
export const buildNative = (variants) =>
  compileNative(variants, (files) => phase('stage', () => stage(files, stageFolder)), ['lorekeep']);

/** As buildNative(), with the production edition's addon alone: it is in no edition's way. */
export const buildProductionAddon = (variants) =>
  compileNative(
    variants,
    (files) => phase('stage', () => stage([productionAddon(files), ...files.slice(1)], stageFolder)),
    ['lorekeep_production'],
  );

/** The addon of the production edition, in a folder beside the development edition's: the first of `files`. */
export const productionAddon = ([addon]) => join(dirname(addon), 'production', basename(addon));

/**
 * `variants`: native (this machine's CPU plugin alone) or all. Calls `use` with the paths of all that is shipped, the
 * addon first, while no other build can change them.
 */
export async function compileNative(variants, use, addons) {
  if (variants !== 'native' && variants !== 'all')
    throw new Stop(`--variants is ${variants}: native or all is expected`);
  return withTreeLock(releaseTree, async () => {
    await phase('vendor', () => vendor());
    await phase('configure', async () => {
      const changed = await configure(releaseTree, await addonConfigure(releaseTree, {}));
      return changed ? '' : 'unchanged';
    });
    await phase('compile', async (report) => {
      const compiled = await build(releaseTree, [...addons, `lorekeep_cpu_${variants}`], report);
      return compiled === 0 ? 'nothing to do' : `${compiled} files`;
    });
    return use(shippedFiles(variants));
  });
}

/** As CMake wrote them out. */
const shippedFiles = (variants) =>
  readFileSync(join(releaseTree, `lorekeep-files-${variants}.txt`), 'utf8')
    .trim()
    .split('\n');

const isLibrary = /\.(node|so|dylib|dll)$/;

/**
 * Makes `files` the only libraries in `folder`. Each is copied beside its place and renamed: a running process keeps the
 * library that it has mapped.
 */
function stage(files, folder) {
  mkdirSync(folder, { recursive: true });
  const names = new Set(files.map((file) => basename(file)));
  const stale = readdirSync(folder).filter((name) => isLibrary.test(name) && !names.has(name));
  for (const name of stale) rmSync(join(folder, name));
  let copied = 0;
  for (const file of files) {
    const place = join(folder, basename(file));
    if (isSame(file, place)) continue;
    const beside = `${place}.${process.pid}`;
    copyFileSync(file, beside);
    const { atime, mtime } = statSync(file);
    utimesSync(beside, atime, mtime);
    renameSync(beside, place);
    copied++;
  }
  const parts = [];
  if (copied > 0) parts.push(`${copied} of ${files.length} files copied to build/Release`);
  if (stale.length > 0) parts.push(`${stale.length} removed`);
  return parts.join(', ') || 'build/Release is current';
}

function isSame(file, place) {
  if (!existsSync(place)) return false;
  const a = statSync(file);
  const b = statSync(place);
  return a.size === b.size && Math.abs(a.mtimeMs - b.mtimeMs) < 2;
}
