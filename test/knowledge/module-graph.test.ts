/** What scripts load together with `lorekeep/knowledge-base`: nothing of the server. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
// @ts-expect-error: a script without types
import { importedFiles } from '../../scripts/layers/typescript.mjs';

const project = join(import.meta.dirname, '../..');

/** Every file that a file imports, directly or not, for a type alone too. */
function reachable(entry: string): string[] {
  const found = new Set([entry]);
  for (const file of found) {
    const lines = readFileSync(join(project, file), 'utf8').split('\n');
    for (const imported of importedFiles(file, lines) as string[]) found.add(imported);
  }
  return [...found];
}

const ofServer = [
  'agents',
  'cli',
  'client',
  'config',
  'failure',
  'log',
  'protocol',
  'server',
  'session',
  'storages',
];

test('a script that opens knowledge bases loads neither the server nor its config nor its protocol', () => {
  const files = reachable('src/knowledge/index.ts');
  expect(files).toEqual(
    expect.arrayContaining(['src/knowledge/open.ts', 'src/models/catalog.ts', 'lib/search/storage.ts']),
  );
  expect(files.filter((file) => ofServer.includes(file.split('/')[1] as string))).toEqual([]);
});

test('the schema of the server config loads nothing that is configured by it', () => {
  const files = reachable('src/config/schema.ts');
  expect(files).toContain('src/config/engine-schema.ts');
  const users = [...ofServer, 'knowledge', 'catalog'].filter((folder) => folder !== 'config');
  expect(files.filter((file) => users.includes(file.split('/')[1] as string))).toEqual([]);
});
