import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { ClientSession } from '../../src/client/index.js';
import { CatalogModels, indexFolder } from '../../src/knowledge/index.js';
import { refusal } from '../helpers/errors.js';
import { temporaryFolder } from '../helpers/folder.js';
import { catalogPath, TestServer } from './test-server.js';

const file = temporaryFolder();
const name = 'kb';

function knowledgeBase(own: string): string {
  const records = [{ id: 'bees', text: 'Bees dance in the hive.' }];
  writeFileSync(file(`${own}-records.json`), JSON.stringify(records));
  writeFileSync(
    file(`${own}.json`),
    JSON.stringify({ embedding_model: 'tiny', records_file: `${own}-records.json` }),
  );
  return `${own}.json`;
}

/** Adds batches until one is refused. Returns the refusal, and how many were taken. */
async function fill(session: ClientSession) {
  const text = 'Glaciers grind valleys.';
  for (let batch = 0; ; batch++) {
    const add = Array.from({ length: 100 }, (_, n) => ({ id: `${session.id}-${batch}-${n}`, text }));
    const refused = await session.updateEmbeddedStringStorage({ name, add }).then(
      () => undefined,
      (error: { code: number; details: object }) => error,
    );
    if (refused !== undefined) return { refused, batch };
  }
}

it('changes of a client, and of all, let knowledge bases grow by so many bytes on disk', async () => {
  const server = await TestServer.start({
    config: {
      storage_root: file(),
      storage_writes: 'files',
      session_folders: [file()],
      storage_writes_max_mb: 2,
      storage_writes_client_max_mb: 1,
    },
  });
  const opened = async (own: string) => {
    const session = await (await server.connect()).createSession();
    await session.createEmbeddedStringStorage({ name, configPath: knowledgeBase(own) });
    return session;
  };
  const first = await opened('one');
  const full = await fill(first);
  expect(full.batch).toBeGreaterThan(0);
  expect(full.refused).toMatchObject({
    code: 8022,
    details: { path: 'name', field: 'storage_writes_client_max_mb', limit: 1024 * 1024 },
  });
  // Another base counts, too.
  await first.createEmbeddedStringStorage({ name: 'other', configPath: knowledgeBase('two') });
  const add = [{ id: 'x', text: 'Bees dance in the hive.' }];
  const many = Array.from({ length: 3000 }, (_, n) => ({ ...add[0], id: `x${n}` })) as typeof add;
  expect((await refusal(first.updateEmbeddedStringStorage({ name: 'other', add: many }))).code).toBe(8022);
  // Removing is no growth.
  expect((await first.updateEmbeddedStringStorage({ name, remove: ['bees'] })).removed).toBe(1);
  const second = await fill(await opened('three'));
  expect(second.refused).toMatchObject({ code: 8022 });
  const third = await fill(await opened('four'));
  expect(third.refused).toMatchObject({ details: { field: 'storage_writes_max_mb' } });
});

it('counts the embeddings that the index of a folder keeps of removed records', async () => {
  const docs = file('docs');
  mkdirSync(docs);
  writeFileSync(join(docs, 'bees.md'), 'Bees dance in the hive.');
  const config = {
    storage_root: file(),
    storage_writes: 'files' as const,
    session_folders: [file()],
    storage_writes_client_max_mb: 1,
  };
  const server = await TestServer.start({ config });
  await using models = await CatalogModels.open(catalogPath);
  await indexFolder({ folder: docs, models, model: 'tiny', output: file('index') });
  const session = await server.session();
  await session.createEmbeddedStringStorage({ name, configPath: 'index/kb.json' });
  let batch = 0;
  const addAndRemove = async () => {
    const add = Array.from({ length: 200 }, (_, n) => ({
      id: `${n}`,
      text: `Glacier ${batch} grinds ${n}.`,
    }));
    batch++;
    await session.updateEmbeddedStringStorage({ name, add });
    const ids = add.map(({ id }) => id);
    await session.updateEmbeddedStringStorage({ name, remove: ids.slice(1) });
    // Forgetting merges, which leaves only the kept embeddings to grow.
    await session.forgetRecords({ name, ids: ids.slice(0, 1) });
  };
  const refused = await refusal(
    (async () => {
      while (batch < 40) await addAndRemove();
    })(),
  );
  expect(refused.code).toBe(8022);
  expect(statSync(file('index', 'records.json.changes')).size).toBeLessThan(512 * 1024);
});

it('counts batches that are written at the same time', async () => {
  const config = {
    storage_root: file(),
    storage_writes: 'files' as const,
    session_folders: [file()],
    storage_writes_client_max_mb: 1,
  };
  const server = await TestServer.start({ config });
  const session = await server.session();
  await session.createEmbeddedStringStorage({ name, configPath: knowledgeBase('five') });
  const records = (batch: number) =>
    Array.from({ length: 20 }, (_, n) => ({ id: `${batch}-${n}-${'x'.repeat(10_000)}`, text: 'Ice flows.' }));
  const batches = Array.from({ length: 20 }, (_, batch) =>
    session.updateEmbeddedStringStorage({ name, add: records(batch) }),
  );
  const done = await Promise.allSettled(batches);
  expect(done.some(({ status }) => status === 'fulfilled')).toBe(true);
  expect(done.some(({ status }) => status === 'rejected')).toBe(true);
  expect(statSync(file('five-records.json.changes')).size).toBeLessThan(2 * 1024 * 1024);
});
