// `npm run prebuild`: prebuilds/<platform>-<arch>/ with the addon, its libraries and the CPU plugins of every CPU
// generation, stripped; their symbols go to symbols/. Prints what each file weighs.
import { copyFileSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { findProgram, run } from './tool/command.mjs';
import { crashTools, writeSymbols } from './tool/crash-tools.mjs';
import { compileNative } from './tool/native-build.mjs';
import { phase } from './tool/phase.mjs';
import { isCheckout, platformTag, prebuildsFolder, symbolsFolder } from './tool/project.mjs';
import { runScript } from './tool/stop.mjs';

await runScript('prebuild', async () => {
  const folder = join(prebuildsFolder, platformTag);
  await compileNative('all', (files) =>
    phase('prebuild', async () => {
      await makePrebuild(files, folder);
      return `prebuilds/${platformTag}`;
    }),
  );
  printSizes(folder);
});

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
    for (const file of files) {
      const name = basename(file) === 'lorekeep.node' ? addonName() : basename(file);
      copyFileSync(file, join(beside, name));
      symbols?.(file, name);
      await strip(join(beside, name));
    }
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
  return (file, name) => writeSymbols(dumpSyms, file, symbolsFolder, name);
}

/** Takes out debug information and the symbols that nobody links to. Exports stay. */
async function strip(file) {
  if (process.platform === 'win32' || !findProgram('strip')) return;
  await run('strip', [process.platform === 'darwin' ? '-x' : '--strip-unneeded', file], { quiet: true });
}

function printSizes(folder) {
  let total = 0;
  for (const name of readdirSync(folder).sort()) {
    const size = statSync(join(folder, name)).size;
    total += size;
    process.stdout.write(`  ${name.padEnd(34)} ${(size / 1024).toFixed(0).padStart(7)} KiB\n`);
  }
  process.stdout.write(`  ${'total'.padEnd(34)} ${(total / 1024).toFixed(0).padStart(7)} KiB\n`);
}
