// `npm start`: on a fresh clone installs and builds; then runs the server with a client that shows it at work.
// The program runs in this process, so signals and arguments reach it as they are.
import { existsSync } from 'node:fs';
import { buildNative } from './tool/native-build.mjs';
import { phase } from './tool/phase.mjs';
import { stageFolder } from './tool/project.mjs';
import { installPackages, requireNode } from './tool/setup.mjs';
import { runScript } from './tool/stop.mjs';
import { compileTypeScript } from './tool/typescript.mjs';

await runScript('start', async () => {
  requireNode();
  if (!existsSync(stageFolder))
    console.log(
      'The first start installs packages and compiles the addon: 3 to 6 minutes on two cores, fewer on more.\n',
    );
  await installPackages();
  await buildNative('native');
  await phase('typescript', compileTypeScript);
  // It reads the arguments of this process.
  await import('./demo.mjs');
});
