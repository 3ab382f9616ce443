// `npm run build:cross -- windows [--variants native|all]`: prebuilds/<platform>/ of a platform of scripts/cross/targets.mjs.
import { parseArgs } from 'node:util';
import { prebuildTarget } from './cross/prebuild.mjs';
import { requireTarget } from './cross/tree.mjs';
import { runScript } from './tool/stop.mjs';

await runScript('build-cross', async (args) => {
  const options = { variants: { type: 'string', default: 'all' } };
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
  await prebuildTarget(requireTarget(positionals[0]), values.variants);
});
