import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../helpers/folder.js';
import { root } from './packed.js';

const folder = temporaryFolder();

test('the package can be made without models', () => {
  const program = join(root, 'scripts', 'pack.mjs');
  const run = (command: string, ...args: string[]) => execFileSync(command, args, { encoding: 'utf8' });
  const archive = run(process.execPath, program, '--without-models', '--to', folder()).trim();
  const paths = run('tar', '-tzf', archive).split('\n');
  expect(paths).toContain('package/data/models.json');
  expect(paths.filter((path) => path.endsWith('.gguf'))).toEqual([]);
});
