// `npm run generate`: after a change of a zod schema, the tables of docs/, schemas/ and the types of the client.
import { join } from 'node:path';
import { run } from './tool/command.mjs';
import { phase } from './tool/phase.mjs';
import { root } from './tool/project.mjs';
import { runScript } from './tool/stop.mjs';
import { compileTypeScript, tscProgram } from './tool/typescript.mjs';

await runScript('generate', async () => {
  // The client's types are out of date, which is an error here; tsc writes dist/ nevertheless. Others are reported at the end.
  const tsc = [tscProgram(), '-p', join(root, 'tsconfig.json')];
  await run(process.execPath, tsc, { cwd: root, quiet: true, allowFailure: true });
  for (const generator of ['generate-formats.mjs', 'generate-docs.mjs', 'generate-schemas.mjs'])
    await run(process.execPath, [join(root, 'scripts', generator), '--write'], { cwd: root });
  await phase('typescript', compileTypeScript);
});
