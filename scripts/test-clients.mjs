// `npm run test:clients [-- NAME ...]`: the adapters under packages/, and clients that other people wrote, against a server. Installs
// them into packages/node_modules. Needs the npm registry and a build; packages/README.md lists them.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { World } from './clients/world.mjs';
import { root } from './tool/project.mjs';
import { runScript, Stop } from './tool/stop.mjs';
import { tscProgram } from './tool/typescript.mjs';

const packages = join(root, 'packages');
const adapters = ['langchain', 'ai'];

await runScript('test-clients', async (names) => {
  const files = ['langchain', 'ai', 'clients'].flatMap((folder) => {
    const tests = join(packages, folder, 'test');
    return readdirSync(tests)
      .filter((name) => name.endsWith('.test.mjs'))
      .map((name) => join(tests, name));
  });
  const chosen = files.filter((file) => names.length === 0 || names.some((name) => file.includes(name)));
  const wantsPython = names.length === 0 || names.includes('python');
  if (chosen.length === 0 && !wantsPython) throw new Stop(`no test has ${names.join(' or ')} in its path`);
  const options = { cwd: packages, stdio: 'inherit' };
  if (!existsSync(join(packages, 'node_modules')))
    run('npm', ['ci', '--no-audit', '--no-fund', '--ignore-scripts'], options);
  for (const name of adapters) run(process.execPath, [tscProgram(), '-p', join(packages, name)], options);
  const world = await World.open();
  try {
    if (chosen.length > 0)
      run(process.execPath, ['--test', '--test-concurrency=1', ...chosen], { ...options, env: world.env });
    if (wantsPython) runPython({ ...options, cwd: join(packages, 'python'), env: world.env });
  } finally {
    await world.close();
  }
});

/** Tests of clients for Python need a Python that has them. */
function runPython(options) {
  const python = process.env.LOREKEEP_PYTHON;
  if (python === undefined) {
    console.log(
      'left out: Python; LOREKEEP_PYTHON may name one with langchain-tests, langchain-openai, openai, LlamaIndex and openapi-python-client',
    );
    return;
  }
  run(python, ['-m', 'pytest', '-q', '-p', 'no:cacheprovider', '-o', 'asyncio_mode=auto', '.'], options);
}

function run(command, args, options) {
  const { status, error } = spawnSync(command, args, options);
  if (error) throw error;
  if (status !== 0) throw new Stop(`${command} ${args[0]} failed`);
}
