import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../helpers/folder.js';

const file = temporaryFolder();
const root = join(import.meta.dirname, '../..');
const example = join(root, 'examples/search-knowledge-base.mjs');

it('five lines search a knowledge base without a server, as the guide shows them', async () => {
  const records = [
    { id: 'bees', text: 'Honey bees dance to tell where flowers bloom.' },
    { id: 'ice', text: 'Glaciers grind valleys into the shape of a U.' },
  ];
  writeFileSync(file('records.json'), JSON.stringify(records));
  const config = { embedding_model: 'lorekeep-mini', records_file: 'records.json' };
  writeFileSync(file('kb.json'), JSON.stringify(config));
  const { stdout } = await promisify(execFile)(process.execPath, [
    example,
    file('kb.json'),
    'why do bees dance?',
  ]);
  expect(stdout.split('\n')[0]).toBe('bees: Honey bees dance to tell where flowers bloom.');
  const lines = readFileSync(example, 'utf8').trimEnd();
  expect(lines.split('\n').filter((line) => line !== '')).toHaveLength(5);
  expect(readFileSync(join(root, 'docs/guides/knowledge-bases.md'), 'utf8')).toContain(lines);
});

it.skipIf(process.platform === 'win32')('an example runs in a project that it was copied to', async () => {
  mkdirSync(file('project', 'node_modules'), { recursive: true });
  symlinkSync(root, file('project', 'node_modules', 'lorekeep'));
  copyFileSync(join(root, 'examples/search.mjs'), file('project', 'search.mjs'));
  const options = { cwd: file('project') };
  const { stdout } = await promisify(execFile)(process.execPath, ['search.mjs'], options);
  expect(stdout).toContain('Old Marten');
});
