import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../helpers/folder.js';

const root = join(import.meta.dirname, '..', '..');
const folder = temporaryFolder();

it('package, home, model and knowledge base may be in folders with spaces and any letters', () => {
  const place = folder('Ünder ein Dach 目录 с пробелами');
  const home = join(dirname(place), 'häuser 家');
  mkdirSync(home, { recursive: true });
  for (const part of [
    'package.json',
    'dist',
    'build/Release',
    'data/models.json',
    'data/models/lorekeep-mini.gguf',
  ])
    cpSync(join(root, part), join(place, part), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(place, 'node_modules'), 'junction');
  const records = [
    { id: 'a', text: 'Bread rises in a warm oven.' },
    { id: 'b', text: 'The lighthouse keeper lit the lamp.' },
  ];
  writeFileSync(join(home, 'sätze 句子.json'), JSON.stringify(records));
  const config = {
    version: 1,
    records_file: 'sätze 句子.json',
    index_file: 'vektören.index',
    embedding_model: 'lorekeep-mini',
  };
  const base = join(home, 'wissen ü.json');
  writeFileSync(base, JSON.stringify(config));
  const env = { ...process.env, HOME: home, LOREKEEP_CACHE: join(home, 'zwischen speicher') };
  const lorekeep = (...args: string[]) =>
    execFileSync(process.execPath, [join(place, 'dist/src/cli/lorekeep.cjs'), ...args], {
      cwd: home,
      env,
      encoding: 'utf8',
    });
  lorekeep('build', base);
  const { hits } = JSON.parse(lorekeep('search', base, 'lighthouse', '--json'));
  expect(hits[0]).toMatchObject({ id: 'b' });
});
