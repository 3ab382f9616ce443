// `npm run test:windows`, `test:arm64`, `test:musl`: builds for a platform of scripts/cross/targets.mjs and runs its tests in an
// emulator. `-- --only cpp`: our C++ alone; `-- --only ts`: vitest on the real Node.js of the platform alone. Names after that
// select C++ tests, or folders and files under test/. Not a part of `npm test`: an emulated test takes up to ten times as long.
import { parseArgs } from 'node:util';
import { prebuildTarget } from './cross/prebuild.mjs';
import { runNativeTests, runTypeScriptTests } from './cross/tests.mjs';
import { requireTarget } from './cross/tree.mjs';
import { runScript, Stop } from './tool/stop.mjs';

await runScript('test-cross', async (args) => {
  const options = { only: { type: 'string' } };
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
  const [name, ...names] = positionals;
  const target = requireTarget(name, { isTested: true });
  const { only = 'all' } = values;
  if (!['all', 'cpp', 'ts'].includes(only)) throw new Stop(`--only is ${only}: cpp or ts is expected`);
  if (only === 'all' && names.length > 0) throw new Stop(`${names[0]}: a name needs --only cpp or --only ts`);
  if (only !== 'ts') await runNativeTests(target, names);
  if (only === 'cpp') return;
  await prebuildTarget(target, 'native');
  await runTypeScriptTests(target, names);
});
