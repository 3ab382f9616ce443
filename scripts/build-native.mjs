// Builds the addon with llama.cpp and its CPU plugins in .cmake/release and stages what loads into build/Release.
// node scripts/build-native.mjs [--variants native|all]; LOREKEEP_CPU_VARIANTS is the default of --variants.
// binding.gyp calls it.
import { parseArgs } from 'node:util';
import { buildNative } from './tool/native-build.mjs';
import { runScript } from './tool/stop.mjs';

await runScript('build-native', async (args) => {
  const standard = process.env.LOREKEEP_CPU_VARIANTS ?? 'native';
  const { values } = parseArgs({ args, options: { variants: { type: 'string', default: standard } } });
  await buildNative(values.variants);
});
