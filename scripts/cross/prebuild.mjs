// prebuilds/<platform>/ of a target, as `npm run prebuild` makes the machine's own.
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { writeChecksums } from '../tool/checksums.mjs';
import { productionAddon } from '../tool/native-build.mjs';
import { build } from '../tool/native-tree.mjs';
import { phase } from '../tool/phase.mjs';
import { prebuildsFolder, productionFolder } from '../tool/project.mjs';
import { Stop } from '../tool/stop.mjs';
import { strip } from '../tool/strip.mjs';
import { withTreeLock } from '../tool/tree-lock.mjs';
import { vendor } from '../vendor/vendor.mjs';
import { configureTarget, treeOf } from './tree.mjs';

/** `variants`: native (a CPU plugin for the building machine) or all. Returns the folder. */
export async function prebuildTarget(target, variants) {
  if (variants !== 'native' && variants !== 'all')
    throw new Stop(`--variants is ${variants}: native or all is expected`);
  const tree = treeOf(target);
  return withTreeLock(tree, async () => {
    await phase('vendor', () => vendor());
    await phase('configure', () => configureTarget(target));
    await phase('compile', async (report) => {
      const made = ['lorekeep', 'lorekeep_production', `lorekeep_cpu_${variants}`];
      return `${await build(tree, made, report)} files`;
    });
    return phase('prebuild', async () => {
      const files = readFileSync(join(tree, `lorekeep-files-${variants}.txt`), 'utf8')
        .trim()
        .split('\n');
      const folder = join(prebuildsFolder, target.tag);
      await replaceFolder(folder, (made) => fill(made, target.addon, files));
      return `prebuilds/${target.tag}, ${(sizeOf(files) / 2 ** 20).toFixed(0)} MiB before stripping`;
    });
  });
}

const sizeOf = (files) => files.reduce((bytes, file) => bytes + statSync(file).size, 0);

/** Makes a folder beside its place and renames it. */
async function replaceFolder(folder, make) {
  mkdirSync(prebuildsFolder, { recursive: true });
  const beside = mkdtempSync(join(prebuildsFolder, '.making-'));
  try {
    const made = join(beside, 'made'); // mkdtemp's own folder is closed to others
    mkdirSync(made);
    await make(made);
    rmSync(folder, { recursive: true, force: true });
    renameSync(made, folder);
  } finally {
    rmSync(beside, { recursive: true, force: true });
  }
}

/** `program`: strips a file, unless the linker did. `files`: those of the development edition, its addon first. The other edition has another addon alone. */
async function fill(folder, { file, strip: program }, files) {
  const place = async (from, to) => {
    copyFileSync(from, to);
    if (program !== undefined) await strip(to, program);
  };
  const [addon, ...libraries] = files;
  for (const library of libraries) await place(library, join(folder, basename(library)));
  await place(addon, join(folder, file));
  writeChecksums(folder);
  mkdirSync(join(folder, productionFolder));
  await place(productionAddon(files), join(folder, productionFolder, file));
  writeChecksums(join(folder, productionFolder));
}
