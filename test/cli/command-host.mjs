// Runs command lines of the built package one after the other in one process. Each message of the parent is {args, cwd, env}.
// The reply is {status}, once nothing is left that would keep a process of its own alive. `end` ends what the command wrote on
// stdout, and what it wrote on stderr. argv: end
import { fileURLToPath } from 'node:url';

const [node, , end] = process.argv;
const main = fileURLToPath(new URL('../../dist/src/cli/main.js', import.meta.url));
process.argv = [node, main]; // messages name the program that runs
const { watchOutput } = await import('../../dist/src/cli/output.js');
const { runCommandLine } = await import('../../dist/src/cli/program.js');

const written = (stream) => new Promise((resolve) => stream.write(end, resolve));
const allWritten = () => Promise.all([process.stdout, process.stderr].map(written));
const turn = () => new Promise((resolve) => setTimeout(resolve, 1));

watchOutput();
await allWritten();

process.on('message', async ({ args, cwd, env }) => {
  await turn();
  const idle = process.getActiveResourcesInfo().length;
  process.chdir(cwd);
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
  Object.assign(process.env, env);
  process.argv = [node, main, ...args];
  await runCommandLine(args);
  do await turn();
  while (process.getActiveResourcesInfo().length > idle);
  const status = process.exitCode ?? 0;
  process.exitCode = undefined;
  await allWritten();
  process.send({ status });
});
