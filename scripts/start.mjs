// `npm start`: on a fresh clone installs and builds; then runs the server with a client that shows it at work.
// The program runs in this process, so signals and arguments reach it as they are.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { buildNative } from './tool/native-build.mjs';
import { phase } from './tool/phase.mjs';
import { root, stageFolder } from './tool/project.mjs';
import { installPackages, requireNode } from './tool/setup.mjs';
import { runScript } from './tool/stop.mjs';
import { compileTypeScript } from './tool/typescript.mjs';

await runScript('start', async (args) => {
  requireNode();
  if (!existsSync(stageFolder))
    console.log(
      'The first start installs packages and compiles the addon: 5 to 10 minutes on two cores, fewer on more.\n',
    );
  await installPackages();
  await buildNative('native');
  await phase('typescript', compileTypeScript);
  const program = join(root, 'dist', 'src', 'demo', 'main.js');
  process.argv = [process.argv[0], program, ...args];
  await import(pathToFileURL(program).href);
});
