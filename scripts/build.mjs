// `npm run build`: vendored sources, the addon and its libraries, TypeScript and the monitor's page to dist/. Quick when nothing changed.
// node scripts/build.mjs [--variants native|all]
import { parseArgs } from 'node:util';
import { buildNative } from './tool/native-build.mjs';
import { phase } from './tool/phase.mjs';
import { runScript } from './tool/stop.mjs';
import { compileTypeScript } from './tool/typescript.mjs';

await runScript('build', async (args) => {
  const { values } = parseArgs({ args, options: { variants: { type: 'string', default: 'native' } } });
  await buildNative(values.variants);
  await phase('typescript', compileTypeScript);
});
