// The package's install script. A published package: nothing to do where a prebuild loads, else a build from the sources
// that it carries. A git checkout: nothing, because `npm run build` (or npm start, npm test) does it there.
import { rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { buildNative } from './tool/native-build.mjs';
import { isCheckout, releaseTree, root } from './tool/project.mjs';
import { runScript } from './tool/stop.mjs';

await runScript('lorekeep', async () => {
  if (isCheckout()) {
    process.stdout.write('lorekeep: a git checkout; `npm run build` compiles the addon\n');
    return;
  }
  const reason = whyNotLoadable();
  if (reason === undefined) return;
  process.stdout.write(`lorekeep: ${reason}\nlorekeep: building from source, which takes some minutes\n`);
  await buildNative(process.env.LOREKEEP_CPU_VARIANTS ?? 'native');
  rmSync(dirname(releaseTree), { recursive: true, force: true }); // a hundred megabytes of object files
});

function whyNotLoadable() {
  try {
    createRequire(import.meta.url)('node-gyp-build')(root);
    return undefined;
  } catch (error) {
    return String(error.message).split('\n')[0];
  }
}
