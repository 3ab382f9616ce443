// `npm run prebuild`: prebuilds/<platform>-<arch>/ with the addon, its libraries and the CPU plugins of every CPU
// generation, stripped, and SHA256SUMS; their symbols go to symbols/. Prints what each file weighs.
// `npm run prebuild -- --backend vulkan|cuda|hip [--plugin FILE] [--to FOLDER]`: the npm package of one GPU plugin, as a
// tarball in FOLDER (build/packages). Without FILE: the plugin of `npm run build:vulkan` and so on.
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { packPlugin, pluginFile, requireBackend, stageOf, stagePlugin } from './backends/plugin.mjs';
import { writeChecksums } from './tool/checksums.mjs';
import { crashTools, writeSymbols } from './tool/crash-tools.mjs';
import { compileNative, productionAddon } from './tool/native-build.mjs';
import { phase } from './tool/phase.mjs';
import {
  isCheckout,
  platformTag,
  prebuildsFolder,
  productionFolder,
  root,
  symbolsFolder,
} from './tool/project.mjs';
import { runScript, Stop } from './tool/stop.mjs';
import { strip } from './tool/strip.mjs';
import { vendor } from './vendor/vendor.mjs';

await runScript('prebuild', async (args) => {
  const { values } = parseArgs({
    args,
    options: { backend: { type: 'string' }, plugin: { type: 'string' }, to: { type: 'string' } },
  });
  if (values.backend !== undefined) return packBackend(requireBackend(values.backend), values);
  if (values.plugin ?? values.to) throw new Stop('--plugin and --to belong to --backend');
  const folder = join(prebuildsFolder, platformTag);
  await compileNative('all', (files) =>
    phase('prebuild', async () => {
      await makePrebuild(files, folder);
      return `prebuilds/${platformTag}`;
    }),
  );
  printSizes(folder);
});

async function packBackend(backend, { plugin, to = join(root, 'build', 'packages') }) {
  const from = plugin === undefined ? join(stageOf(backend), pluginFile(backend)) : resolve(plugin);
  if (!existsSync(from)) {
    const hint = plugin === undefined ? `; run \`npm run build:${backend}\` first` : '';
    throw new Stop(`${from} does not exist${hint}`);
  }
  await phase('vendor', () => vendor()); // the licence text, and the version of ggml
  const folder = mkdtempSync(join(tmpdir(), 'lorekeep-plugin-'));
  try {
    await phase('package', async () => {
      stagePlugin(backend, from, join(folder, 'package'));
      const archive = await packPlugin(backend, join(folder, 'package'), resolve(to));
      return `${archive} (${(statSync(archive).size / 1024).toFixed(0)} KiB)`;
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** node-gyp-build skips a prebuild that is tagged for another C library. */
function addonName() {
  if (process.platform !== 'linux') return 'lorekeep.node';
  const glibc = process.report.getReport().header.glibcVersionRuntime;
  return glibc ? 'lorekeep.glibc.node' : 'lorekeep.musl.node';
}

async function makePrebuild(files, folder) {
  const beside = `${folder}.${process.pid}`;
  const symbols = await symbolWriter();
  mkdirSync(beside, { recursive: true });
  try {
    const copy = async (file, place) => {
      copyFileSync(file, place);
      symbols?.(file);
      await strip(place);
    };
    const [addon, ...libraries] = files;
    await copy(addon, join(beside, addonName()));
    for (const file of libraries) await copy(file, join(beside, basename(file)));
    // The default GPU plugin of macOS is a part of the package: `node scripts/build-backend.mjs metal` builds it.
    if (existsSync(stageOf('metal')))
      cpSync(stageOf('metal'), join(beside, 'backends', 'metal'), { recursive: true });
    writeChecksums(beside);
    const production = join(beside, productionFolder);
    mkdirSync(production);
    await copy(productionAddon(files), join(production, addonName()));
    writeChecksums(production);
    rmSync(folder, { recursive: true, force: true });
    renameSync(beside, folder);
  } finally {
    rmSync(beside, { recursive: true, force: true });
  }
}

/**
 * Returns what writes the symbol file of a library, before it is stripped; undefined where there are no crash dumps. A
 * release publishes symbols/, so that the dumps of its users can be read.
 */
async function symbolWriter() {
  if (process.platform !== 'linux' || !isCheckout()) return undefined;
  const { dumpSyms } = await crashTools();
  rmSync(symbolsFolder, { recursive: true, force: true });
  return (file) => writeSymbols(dumpSyms, file, symbolsFolder);
}

function printSizes(folder) {
  let total = 0;
  for (const name of readdirSync(folder, { recursive: true }).sort()) {
    const size = statSync(join(folder, name)).size;
    total += size;
    process.stdout.write(`  ${name.padEnd(34)} ${(size / 1024).toFixed(0).padStart(7)} KiB\n`);
  }
  process.stdout.write(`  ${'total'.padEnd(34)} ${(total / 1024).toFixed(0).padStart(7)} KiB\n`);
}
