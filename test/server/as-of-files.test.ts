/** Knowledge bases in files as of an earlier version: while they are served, and after a restart. */
import { writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type KnowledgeBase, openKnowledgeBase } from '../../src/knowledge/index.js';
import { CatalogModels } from '../../src/models/catalog-models.js';
import { storageVersions } from '../../src/server/storage-versions.js';
import { temporaryFolder } from '../helpers/folder.js';
import { catalogPath, TestServer } from './test-server.js';

const file = temporaryFolder();
let made = 0;

/** A knowledge base with one record. */
async function knowledgeBase() {
  await TestServer.start();
  const name = `kb${made++}`;
  writeFileSync(file(`${name}-records.json`), JSON.stringify([{ id: 'r0', text: 'Honey bees dance.' }]));
  const config = { embedding_model: 'tiny', records_file: `${name}-records.json` };
  writeFileSync(file(`${name}.json`), JSON.stringify(config));
  return `${name}.json`;
}

async function writer(path: string): Promise<{ kb: KnowledgeBase; close(): Promise<void> }> {
  const models = await CatalogModels.open(catalogPath);
  const kb = await openKnowledgeBase(file(path), { models });
  return { kb, close: () => kb.close().then(() => models.close()) };
}

async function served(path: string, config: object = {}) {
  const server = await TestServer.start({ config: { storage_root: file(), ...config } });
  const session = await server.session();
  await session.createEmbeddedStringStorage({ name: 'kb', configPath: path });
  const ids = async (asOf?: number | string) => {
    const { hits, version } = await session.search({
      name: 'kb',
      text: 'bees',
      topK: 10,
      ...(asOf !== undefined && { asOf }),
    });
    return { version, ids: hits.map(({ id }) => id).sort() };
  };
  return { server, ids };
}

/** Adds r1 to r4, one batch each; returns a time after each. */
async function change(kb: KnowledgeBase): Promise<string[]> {
  const times: string[] = [];
  for (let n = 1; n <= 4; n++) {
    await delay(20);
    await kb.add([{ id: `r${n}`, text: `Bees dance ${n}.` }]);
    times.push(new Date().toISOString());
    await delay(20);
  }
  return times;
}

test('a restarted server answers as of the versions and times that the change log holds', async () => {
  const path = await knowledgeBase();
  const { kb, close } = await writer(path);
  const times = await change(kb);
  await close();
  const { ids } = await served(path);
  expect(await ids()).toEqual({ version: 4, ids: ['r0', 'r1', 'r2', 'r3', 'r4'] });
  expect(await ids(0)).toEqual({ version: 0, ids: ['r0'] });
  expect(await ids(2)).toEqual({ version: 2, ids: ['r0', 'r1', 'r2'] });
  for (const [index, time] of times.entries()) expect(await ids(time)).toMatchObject({ version: index + 1 });
  await expect(ids(7)).rejects.toMatchObject({ code: 8011 });
  await expect(ids('2001-01-01T00:00:00Z')).rejects.toMatchObject({ code: 8011 });
});

test('versions are kept as many as the config says, and until the log is merged and read again', async () => {
  const path = await knowledgeBase();
  const first = await writer(path);
  await change(first.kb);
  const few = await served(path, { storage_versions: 2 });
  expect(await few.ids(2)).toMatchObject({ version: 2 });
  await expect(few.ids(1)).rejects.toMatchObject({ code: 8011 });
  // Batches of another process are versions, too.
  await first.kb.add([{ id: 'r5', text: 'Bees hum.' }]);
  await expect.poll(async () => (await few.ids()).version, { timeout: 20_000 }).toBe(5);
  expect(await few.ids(4)).toMatchObject({ version: 4 });
  await first.kb.merge();
  await first.close();
  const { ids } = await served(path);
  expect(await ids()).toMatchObject({ version: 5 });
  await expect(ids(4)).rejects.toMatchObject({ code: 8011 });
});

test('a forgotten record is in no earlier version', async () => {
  const path = await knowledgeBase();
  const { kb, close } = await writer(path);
  await change(kb);
  const models = await CatalogModels.open(catalogPath);
  await close();
  const own = await openKnowledgeBase(file(path), { models, versions: { count: 8 } });
  expect(await own.at(2).list()).toHaveLength(3);
  await own.forget(['r2']);
  for (const { version } of own.storage.versions()) {
    const view = own.at(version);
    expect((await view.list()).map(({ id }) => id)).not.toContain('r2');
    await view.close();
  }
  await own.close();
  await models.close();
});

test('the age of versions is a config field', () => {
  const limits = { storage_versions: 3, storage_versions_max_mb: 1, storage_versions_max_hours: 2 };
  expect(storageVersions(limits)).toEqual({ count: 3, bytes: 2 ** 20, age: 7_200_000 });
  expect(storageVersions({ ...limits, storage_versions_max_hours: 0 })).not.toHaveProperty('age');
});
