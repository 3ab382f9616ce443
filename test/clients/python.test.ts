import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { it } from 'vitest';
import { temporaryFolder } from '../helpers/folder.js';
import { expectExample, expectScenarios, turkishLocale } from './world.js';

const file = temporaryFolder();

const folder = join(import.meta.dirname, '../../clients/python');

function succeeds(command: string, ...args: string[]): boolean {
  try {
    execFileSync(command, args, { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

const skipped = !succeeds('python3', '-c', 'import sys; assert sys.version_info >= (3, 9)');
if (skipped) console.log('skipped: the Python client: there is no python3 of version 3.9 or later');

const env = { PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: '1', PYTHONUTF8: '1' };
const script = (name: string) => ['python3', '-X', 'dev', '-W', 'error', join(folder, 'test', name)] as const;

it.skipIf(skipped)('the Python client for threads passes every scenario', async () => {
  await expectScenarios(script('scenarios.py'), { ...env, ...turkishLocale() });
});

it.skipIf(skipped)('the Python client for asyncio passes every scenario', async () => {
  await expectScenarios(script('scenarios_aio.py'), { ...env, ...turkishLocale() });
});

it.skipIf(skipped)('the Python client runs the program of the documentation', async () => {
  const path = file('example.py');
  await expectExample('python', path, () => ['python3', path], env);
});

const hasMypy = succeeds('mypy', '--version');
if (!hasMypy) console.log('skipped: the types of the Python client: there is no mypy');

it.skipIf(!hasMypy)('the Python client and its tests satisfy mypy --strict', () => {
  const programs = ['scenarios.py', 'scenarios_aio.py'].map((name) => join(folder, 'test', name));
  for (const paths of [
    [join(folder, 'lorekeep'), join(folder, 'ask.py')],
    ...programs.map((path) => [path]),
  ]) {
    const args = ['--strict', '--python-version', '3.10', '--cache-dir', file('mypy'), ...paths];
    execFileSync('mypy', args, { env: { ...process.env, MYPYPATH: folder }, stdio: 'inherit' });
  }
});
