#!/usr/bin/env node
// The program and the install script of @lorekeep/source: compiles the addon into build/Release of that package, where
// lorekeep finds it. node build.mjs [--if-needed]: with the flag, only if the prebuild of lorekeep does not load here.
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { buildProductionAddon } from '../tool/native-build.mjs';
import { packageJson, releaseTree, root } from '../tool/project.mjs';
import { runScript } from '../tool/stop.mjs';

await runScript('@lorekeep/source', async (args) => {
  const { values } = parseArgs({ args, options: { 'if-needed': { type: 'boolean', default: false } } });
  if (values['if-needed'] && !process.env.LOREKEEP_BUILD_FROM_SOURCE && prebuildLoads()) {
    process.stdout.write(
      'lorekeep: its prebuild loads here, so nothing is compiled (`npx @lorekeep/source` does)\n',
    );
    return;
  }
  process.stdout.write('lorekeep: compiling the addon, which takes some minutes\n');
  await buildProductionAddon(process.env.LOREKEEP_CPU_VARIANTS ?? 'native');
  rmSync(dirname(releaseTree), { recursive: true, force: true }); // a hundred megabytes of object files
});

/** Whether lorekeep, as installed beside this package, loads from its prebuild. In a child: a damaged library ends a process. */
function prebuildLoads() {
  const library = libraryFile();
  if (library === undefined) return false;
  const script = `await import(${JSON.stringify(pathToFileURL(library).href)})`;
  const env = { ...process.env, PREBUILDS_ONLY: '1', NODE_OPTIONS: '' };
  const { status } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    env,
    stdio: 'ignore',
  });
  return status === 0;
}

/** The library's main file in the lorekeep of this version; undefined if there is none. */
function libraryFile() {
  try {
    const manifest = createRequire(join(root, 'package.json')).resolve('lorekeep/package.json');
    const { version, main } = createRequire(manifest)(manifest);
    return version === packageJson().version ? join(dirname(manifest), main) : undefined;
  } catch {
    return undefined;
  }
}
