// Builds the addon with llama.cpp and its CPU plugins in .cmake/release and stages what loads into build/Release.
// node scripts/build-native.mjs [--variants native|all]
// Also what the install script and binding.gyp call, so it needs nothing that only a checkout has.
import { parseArgs } from 'node:util';
import { buildNative } from './tool/native-build.mjs';
import { runScript } from './tool/stop.mjs';

await runScript('build-native', async (args) => {
  const { values } = parseArgs({ args, options: { variants: { type: 'string', default: 'native' } } });
  await buildNative(values.variants);
});
