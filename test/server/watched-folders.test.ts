/** `watch` of a storage in the config: the server keeps the index of a folder current. */
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { indexFolder } from '../../src/knowledge/index.js';
import { CatalogModels } from '../../src/models/catalog-models.js';
import { temporaryFolder } from '../helpers/folder.js';
import { catalogPath, TestServer } from './test-server.js';

const file = temporaryFolder();
const waiting = { timeout: 60_000, interval: 50 };

test('searches and agents find what changes in a watched folder, without a new session', async () => {
  const folder = file('docs');
  mkdirSync(folder);
  writeFileSync(join(folder, 'a.md'), 'Honey bees dance in the hive.');
  // Makes the catalog.
  await TestServer.start();
  await using models = await CatalogModels.open(catalogPath);
  const index = file('index');
  const { config } = await indexFolder({ folder, models, model: 'tiny', output: index });
  writeFileSync(join(folder, 'b.md'), 'Glaciers grind valleys while they flow.');
  const server = await TestServer.start({
    config: { storage_root: file(), http: { storages: { docs: { config, watch: true } } } },
  });
  const session = await server.session();
  await session.createEmbeddedStringStorage({ name: 'docs', configPath: 'index/kb.json' });
  const ids = async () => {
    const { hits } = await session.search({ name: 'docs', text: 'bees valleys yeast', topK: 10 });
    return hits.map(({ id }) => id).sort();
  };
  await vi.waitFor(async () => expect(await ids()).toEqual(['a.md', 'b.md']), waiting);
  writeFileSync(join(folder, 'c.md'), 'Wild yeast lives in a sourdough starter.');
  await vi.waitFor(async () => expect(await ids()).toEqual(['a.md', 'b.md', 'c.md']), waiting);
  renameSync(join(folder, 'a.md'), join(folder, 'd.md'));
  await vi.waitFor(async () => expect(await ids()).toEqual(['b.md', 'c.md', 'd.md']), waiting);
  // A search finds a batch a moment before the list of files has it.
  await vi.waitFor(async () => {
    const found = await indexFolder({ folder, models, model: 'tiny', output: index });
    expect(found).toMatchObject({ read: 0, records: 3 });
  }, waiting);
  await server.server.close();
});

test('a config that is no index of a folder is a warning', async () => {
  writeFileSync(file('kb.json'), '{}');
  const warned: string[] = [];
  const log = {
    info() {},
    debug() {},
    trace() {},
    error() {},
    warn: (...args: unknown[]) => warned.push(JSON.stringify(args)),
  };
  const { WatchedFolders } = await import('../../src/server/watched-folders.js');
  const config = {
    read_only_storages: false,
    http: { storages: { kb: { config: file('kb.json'), watch: true } } },
  };
  const folders = new WatchedFolders({ config, log } as never);
  await vi.waitUntil(() => warned.length > 0, waiting);
  expect(warned[0]).toContain('not watched');
  await folders.close();
});
