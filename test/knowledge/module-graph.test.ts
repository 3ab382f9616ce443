/** What scripts load together with `lorekeep/knowledge-base`: nothing of the server. */
import { expect, test } from 'vitest';
import { reachable } from '../helpers/module-graph.js';

const ofServer = ['agents', 'cli', 'client', 'config', 'log', 'operations', 'protocol', 'server', 'storages'];

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
  const users = [...ofServer, 'knowledge', 'models'].filter((folder) => folder !== 'config');
  expect(files.filter((file) => users.includes(file.split('/')[1] as string))).toEqual([]);
});
