import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../helpers/folder.js';
import { expectExample, expectScenarios, turkishLocale } from './world.js';

const file = temporaryFolder();
const dist = join(import.meta.dirname, '../../dist/src/client/index.js');

it('the client in TypeScript passes every scenario', async () => {
  const program = [process.execPath, join(import.meta.dirname, 'scenarios.mjs'), dist] as const;
  await expectScenarios(program, turkishLocale());
});

it('the client in TypeScript runs the program of the documentation', async () => {
  await expectExample(
    'ts',
    file('example.mjs'),
    () => [process.execPath, file('example.mjs')],
    {},
    (text) => text.replace("'lorekeep/client'", JSON.stringify(dist)),
  );
  expect((await promisify(execFile)(process.execPath, ['--check', file('example.mjs')])).stderr).toBe('');
});
