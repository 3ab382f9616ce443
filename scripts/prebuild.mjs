// `npm run prebuild`: prebuilds/<platform>-<arch>/ with the addon, its libraries and the CPU plugins of every CPU
// generation, stripped, and SHA256SUMS; their symbols go to symbols/. Prints what each file weighs. `-- --variants native`
// makes one with the plugin of this machine alone, without symbols, to try a package.
// `npm run prebuild -- --backend vulkan|cuda|hip [--plugin FILE] [--to FOLDER]`: the npm package of one GPU plugin, as a
// tarball in FOLDER (the current one). Without FILE: the plugin of `npm run build:vulkan` and so on.
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
import { join, resolve } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { packPlugin, pluginFile, requireBackend, stageOf, stagePlugin } from './backends/plugin.mjs';
import { writeChecksums } from './tool/checksums.mjs';
import { crashTools, writeSymbols } from './tool/crash-tools.mjs';
import { buildNative, compileNative, productionAddon } from './tool/native-build.mjs';
import { phase } from './tool/phase.mjs';
import {
  isCheckout,
  isMusl,
  packageJson,
  platformTag,
  prebuildsFolder,
  productionFolder,
  root,
  stageFolder,
  symbolsFolder,
} from './tool/project.mjs';
import { runScript, Stop } from './tool/stop.mjs';
import { strip } from './tool/strip.mjs';
import { vendor } from './vendor/vendor.mjs';

await runScript('prebuild', async (args) => {
  const { values } = parseArgs({
    args,
    options: {
      variants: { type: 'string', default: 'all' },
      backend: { type: 'string' },
      plugin: { type: 'string' },
      to: { type: 'string' },
    },
  });
  if (values.backend !== undefined) return packBackend(requireBackend(values.backend), values);
  if (values.plugin ?? values.to) throw new Stop('--plugin and --to belong to --backend');
  const folder = join(prebuildsFolder, platformTag);
  await makePrebuild(values.variants, folder);
  printSizes(folder);
});

async function packBackend(backend, { plugin, to = '.' }) {
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

async function makePrebuild(variants, folder) {
  const hadBuild = existsSync(join(stageFolder, 'lorekeep.node'));
  mkdirSync(prebuildsFolder, { recursive: true });
  const beside = mkdtempSync(join(prebuildsFolder, '.making-'));
  try {
    const made = await prebuildTo(beside, variants);
    const symbols = variants === 'all' ? await symbolWriter() : undefined;
    const finish = async (file) => {
      symbols?.(file);
      await strip(file);
    };
    for (const name of readdirSync(made)) await finish(join(made, name));
    // The default GPU plugin of macOS is a part of the package: `node scripts/build-backend.mjs metal` builds it.
    if (existsSync(stageOf('metal')))
      cpSync(stageOf('metal'), join(made, 'backends', 'metal'), { recursive: true });
    writeChecksums(made);
    await addProductionAddon(variants, made, finish);
    rmSync(folder, { recursive: true, force: true });
    renameSync(made, folder);
  } finally {
    rmSync(beside, { recursive: true, force: true });
    // prebuildify has moved the addon away.
    if (hadBuild) await buildNative('native');
  }
}

/**
 * Runs prebuildify, which calls `node-gyp rebuild` and so binding.gyp. Returns the folder of the prebuild: the addon,
 * which is called lorekeep.glibc.node or lorekeep.musl.node on Linux, and the shared libraries that it needs.
 */
async function prebuildTo(out, variants) {
  const { default: prebuildify } = await import('prebuildify');
  const prefix = resolve(process.execPath, '..', '..');
  // Node.js brings its headers on most systems, and node-gyp downloads them elsewhere.
  if (existsSync(join(prefix, 'include', 'node', 'node_api.h'))) process.env.npm_config_nodedir = prefix;
  process.env.npm_config_loglevel ??= 'warn';
  process.env.LOREKEEP_CPU_VARIANTS = variants;
  const tagLibc = process.platform === 'linux';
  const libc = isMusl ? 'musl' : 'glibc';
  const targets = [process.versions.node];
  await promisify(prebuildify)({
    cwd: root,
    out,
    targets,
    napi: true,
    tagLibc,
    libc,
    name: packageJson().name,
  });
  return join(out, 'prebuilds', `${process.platform}-${process.arch}`);
}

/** Adds the addon of the production edition, with a list of hashes of its own, in a folder below `made`. */
async function addProductionAddon(variants, made, finish) {
  const production = join(made, productionFolder);
  const [name] = readdirSync(made).filter((file) => file.endsWith('.node'));
  const place = join(production, name);
  mkdirSync(production);
  await compileNative(variants, (files) => copyFileSync(productionAddon(files), place), [
    'lorekeep_production',
  ]);
  await finish(place);
  writeChecksums(production);
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
