import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ClientSession, FilterExpression } from '../../src/client/index.js';
import { refusal } from '../helpers/errors.js';
import { TestServer } from './test-server.js';

const fields = [{ name: 'year', type: 'int', default: 0 }] as const;
const records = [
  { id: 'dance', text: 'Bees dance in the hive.', metadata: { year: 1999 } },
  { id: 'ice', text: 'Glaciers grind valleys.', metadata: { year: 2020 } },
  { id: 'dough', text: 'A starter is flour and water.' },
];
const name = 'docs';

async function made(config: object = {}): Promise<ClientSession> {
  const session = await (await TestServer.start({ config })).session();
  await session.createEmbeddedStringStorage({ name, records, fields, embeddingModel: 'tiny' });
  return session;
}

const idsOf = async (session: ClientSession, text: string, more: object = {}) =>
  (await session.search({ name, text, topK: 10, mode: 'hybrid', ...more })).hits.map(({ id }) => id);

describe('a storage that changes', () => {
  it('takes no id with half of a surrogate pair for another one', async () => {
    const session = await made();
    await session.updateEmbeddedStringStorage({ name, add: [{ id: '\ufffd', text: 'Tea steeps.' }] });
    const ids = ['ice', '\ud83d'];
    const refused = [
      session.updateEmbeddedStringStorage({ name, remove: ids }),
      session.forgetRecords({ name, ids }),
      session.getRecords({ name, ids }),
    ];
    for (const [index, call] of refused.entries())
      expect(await refusal(call)).toMatchObject({
        code: 1004,
        details: { path: index === 0 ? 'remove[1]' : 'ids[1]' },
      });
    expect((await session.listRecords({ name })).total).toBe(4);
  });

  it('adds, replaces and removes in one version, which searches and lists tell', async () => {
    const session = await made();
    const reply = await session.updateEmbeddedStringStorage({
      name,
      add: [{ id: 'ferry', text: 'The ferry leaves on Tuesdays.', metadata: { year: 2026 } }],
      replace: [{ id: 'ice', text: 'Ice flows downhill.', metadata: { year: 2021 } }],
      remove: ['dough'],
      ifVersion: 0,
    });
    expect(reply).toMatchObject({ version: 1, added: 1, replaced: 1, removed: 1, recordCount: 3 });
    const found = await session.search({ name, text: 'when does the ferry leave', topK: 3, mode: 'lexical' });
    expect(found.version).toBe(1);
    expect(found.hits[0]).toMatchObject({ id: 'ferry', metadata: { year: 2026 } });
    expect(await idsOf(session, 'flour and water')).not.toContain('dough');
    const got = await session.getRecords({ name, ids: ['ice', 'dough', 'dance'] });
    expect(got).toMatchObject({
      version: 1,
      missing: ['dough'],
      records: [
        { id: 'ice', text: 'Ice flows downhill.', metadata: { year: 2021 } },
        { id: 'dance', metadata: { year: 1999 } },
      ],
    });
    const filter: FilterExpression = { '>=': [{ knowledge: 'year' }, 2021] };
    const listed = await session.listRecords({ name, filter });
    expect(listed).toMatchObject({ version: 1, total: 2 });
    expect(listed.records.map(({ id }) => id).sort()).toEqual(['ferry', 'ice']);
    const page = await session.listRecords({ name, offset: 2, limit: 5 });
    expect([page.total, page.records.length]).toEqual([3, 1]);
  });

  it('changes nothing for an empty batch, and stays usable when it is emptied', async () => {
    const session = await made();
    expect(await session.updateEmbeddedStringStorage({ name })).toMatchObject({ version: 0, recordCount: 3 });
    const emptied = await session.updateEmbeddedStringStorage({ name, remove: records.map(({ id }) => id) });
    expect(emptied).toMatchObject({ version: 1, removed: 3, recordCount: 0 });
    for (const mode of ['dense', 'lexical', 'hybrid'])
      expect(await idsOf(session, 'bees', { mode }), mode).toEqual([]);
    await session.updateEmbeddedStringStorage({ name, add: records.slice(0, 1) });
    expect(await idsOf(session, 'bees')).toEqual(['dance']);
  });

  it('refuses a batch by id, with a code each, and applies nothing of it', async () => {
    const session = await made();
    const [first] = records as [(typeof records)[0]];
    const fresh = { id: 'new', text: 'Something new.' };
    const cases: [object, number, string[] | undefined][] = [
      [{ add: [fresh, first] }, 8007, ['dance']],
      [{ add: [fresh], replace: [{ ...first, id: 'gone' }] }, 8008, ['gone']],
      [{ add: [fresh], remove: ['nobody', 'ice'] }, 8008, ['nobody']],
      [{ add: [fresh, fresh] }, 8009, ['new']],
      [{ add: [fresh], remove: ['new'] }, 8009, ['new']],
      [{ replace: [first], remove: ['dance'] }, 8009, ['dance']],
      [{ add: [fresh], ifVersion: 7 }, 8010, undefined],
      [{ add: [fresh, { ...fresh, id: 'typed', metadata: { year: 'soon' } }] }, 8003, undefined],
      [{ add: [fresh, { id: 'long', text: 'word '.repeat(5000) }] }, 8003, undefined],
      [{ add: [{ id: 'blank', text: ' ' }] }, 8003, undefined],
      [{ add: [{ id: '', text: 'x' }] }, 1004, undefined],
      [{ remove: [7] }, 1004, undefined],
    ];
    for (const [batch, code, ids] of cases) {
      const error = await refusal(session.updateEmbeddedStringStorage({ name, ...batch }));
      expect([error.code, error.details.ids], JSON.stringify(batch).slice(0, 200)).toEqual([code, ids]);
    }
    expect(await session.listRecords({ name })).toMatchObject({ version: 0, total: 3 });
    const both = { add: [{ ...first, text: 'Bees waltz.' }], replace: [fresh], upsert: true };
    expect(await session.updateEmbeddedStringStorage({ name, ...both })).toMatchObject({
      version: 1,
      added: 1,
      replaced: 1,
    });
  });

  it('names the record whose metadata are too many for memory', async () => {
    const session = await (await TestServer.start()).session();
    const fields = [{ name: 'tags', type: 'set<string>', optional: true }] as const;
    await session.createEmbeddedStringStorage({ name, records, fields, embeddingModel: 'tiny' });
    const tags = Array.from({ length: 30_000 }, (_, n) => `${n}`);
    const record = { id: 'ice', text: 'Ice flows.', metadata: { tags } };
    const batches: [object, string][] = [
      [{ add: [{ ...record, id: 'new' }] }, 'add[0].metadata.tags'],
      [{ add: [{ id: 'new', text: 'Tea.' }], replace: [record] }, 'replace[0].metadata.tags'],
    ];
    for (const [batch, path] of batches)
      expect(await refusal(session.updateEmbeddedStringStorage({ name, ...batch }))).toMatchObject({
        code: 8003,
        details: { path },
      });
    expect((await session.listRecords({ name })).version).toBe(0);
  });

  it('is followed by agents at each turn', async () => {
    const session = await made();
    const node = { id: 'kb', type: 'retrieve', params: { embeddedStringStorage: name, topK: 1 } } as const;
    const agent = await session.createAgent({ graph: { nodes: [node] }, enableDiagnostics: true });
    const ask = async () => await agent.turn('Why do bees waltz?', { hits: true });
    expect((await ask()).hits?.[0]?.text).toBe('Bees dance in the hive.');
    await session.updateEmbeddedStringStorage({ name, replace: [{ id: 'dance', text: 'Why bees waltz.' }] });
    const turn = await ask();
    expect(turn.hits?.[0]?.text).toBe('Why bees waltz.');
    expect(turn.diagnostics?.nodes[0]).toMatchObject({ version: 1 });
  });

  it('lets agents answer as of a version, so that a turn can be replayed', async () => {
    const session = await made({ storage_versions: 8 });
    const other = { name: 'other', records: [{ id: 'tea', text: 'Tea is hot.' }], embeddingModel: 'tiny' };
    await session.createEmbeddedStringStorage(other);
    const kb = (id: string, embeddedStringStorage: string, more: object = {}) =>
      ({
        id,
        type: 'retrieve',
        params: { embeddedStringStorage, topK: 1, mode: 'lexical', ...more },
      }) as const;
    const graph = { nodes: [kb('kb', name), kb('more', 'other')] };
    const agent = await session.createAgent({ graph, enableDiagnostics: true });
    const told: { hits: unknown; versions: Record<string, number> }[] = [];
    const times: string[] = [];
    const ask = async (asOf?: string | Record<string, number | string>) => {
      const { hits, diagnostics, status } = await agent.turn('ice or tea', {
        hits: true,
        asOf,
      });
      expect(status).toBe('completed');
      return { hits, versions: diagnostics?.versions as Record<string, number> };
    };
    for (const text of ['one', 'two', 'three']) {
      await session.updateEmbeddedStringStorage({ name, replace: [{ id: 'ice', text: `Ice ${text}.` }] });
      if (text === 'two')
        await session.updateEmbeddedStringStorage({
          name: 'other',
          replace: [{ id: 'tea', text: 'Tea: cold.' }],
        });
      told.push(await ask());
      times.push(new Date(Date.now() + 1).toISOString());
      while (Date.now() <= Date.parse(times.at(-1) as string)) await new Promise(setImmediate);
    }
    expect(told.map(({ versions }) => versions)).toEqual([
      { docs: 1, other: 0 },
      { docs: 2, other: 1 },
      { docs: 3, other: 1 },
    ]);
    expect(new Set(told.map(({ hits }) => JSON.stringify(hits))).size).toBe(3);
    for (const [index, turn] of told.entries()) {
      expect(await ask(turn.versions)).toEqual(turn);
      expect(await ask(times[index])).toEqual(turn);
    }
    const mixed = await ask({ docs: 1 });
    expect(mixed.versions).toEqual({ docs: 1, other: 1 });
    const unknown = await refusal(agent.turn('ice', { asOf: { docs: 1, Other: 0 } }));
    expect(unknown).toMatchObject({ code: 1004, message: 'as_of: the graph has no storage "Other"' });
    const pinned = { nodes: [kb('kb', name, { asOf: 2 })] };
    const fixed = await session.createAgent({ graph: pinned, enableDiagnostics: true });
    const fixedText = async (asOf?: Record<string, number>) =>
      (await fixed.turn('ice', { hits: true, asOf })).hits?.[0]?.text;
    expect([await fixedText(), await fixedText({ docs: 3 })]).toEqual(['Ice two.', 'Ice three.']);
    for (const asOf of [{ docs: 99 }, '2001-01-01T00:00:00Z'])
      expect((await agent.turn('ice', { asOf })).error?.code, JSON.stringify(asOf)).toBe(8011);
  });

  it('answers as of a version or a time that is kept', async () => {
    const session = await made({ storage_versions: 2 });
    const before = new Date().toISOString();
    for (const text of ['one', 'two', 'three'])
      await session.updateEmbeddedStringStorage({ name, replace: [{ id: 'ice', text: `Ice ${text}.` }] });
    const textAt = async (asOf?: number | string) =>
      (await session.getRecords({ name, ids: ['ice'], asOf })).records[0]?.text;
    expect([await textAt(), await textAt(3), await textAt(2), await textAt(1)]).toEqual([
      'Ice three.',
      'Ice three.',
      'Ice two.',
      'Ice one.',
    ]);
    expect(await textAt(new Date().toISOString())).toBe('Ice three.');
    const found = await session.search({ name, text: 'ice', topK: 1, mode: 'lexical', asOf: 1 });
    expect(found).toMatchObject({ version: 1, hits: [{ text: 'Ice one.' }] });
    for (const asOf of [0, 9, before])
      expect((await refusal(session.getRecords({ name, ids: ['ice'], asOf }))).code).toBe(8011);
    expect((await refusal(session.getRecords({ name, ids: ['ice'], asOf: 'soon' }))).code).toBe(1004);
  });

  it('keeps no older version without memory for it', async () => {
    const session = await made({ storage_versions_max_mb: 0 });
    await session.updateEmbeddedStringStorage({ name, replace: [{ id: 'ice', text: 'Ice.' }] });
    expect((await refusal(session.getRecords({ name, ids: ['ice'], asOf: 0 }))).code).toBe(8011);
  });

  it('forgets records in every version', async () => {
    const session = await made();
    await session.updateEmbeddedStringStorage({ name, replace: [{ id: 'ice', text: 'Ice.' }] });
    expect(await session.forgetRecords({ name, ids: ['dance'] })).toMatchObject({
      forgotten: 1,
      recordCount: 2,
    });
    for (const asOf of [undefined, 0, 1]) {
      const got = await session
        .getRecords({ name, ids: ['dance'], asOf })
        .catch(({ code }: { code: number }) => code);
      expect(got === 8011 || (got as { missing: string[] }).missing[0] === 'dance').toBe(true);
    }
    expect((await refusal(session.forgetRecords({ name, ids: ['dance'] }))).code).toBe(8008);
  });

  it('is closed to clients where the operator says so', async () => {
    const session = await made({ storage_writes: 'none' });
    const error = await refusal(session.updateEmbeddedStringStorage({ name, remove: ['ice'] }));
    expect([error.code, error.details.storage_writes]).toEqual([8012, 'none']);
    expect((await refusal(session.forgetRecords({ name, ids: ['ice'] }))).code).toBe(8012);
    expect((await session.getRecords({ name, ids: ['ice'] })).records).toHaveLength(1);
  });

  it('of files changes durably, only where the operator says so and names the folders', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'lorekeep-changing-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    writeFileSync(join(folder, 'records.json'), JSON.stringify(records));
    const base = { embedding_model: 'tiny', records_file: 'records.json', fields };
    writeFileSync(join(folder, 'kb.json'), JSON.stringify(base));
    const add = [{ id: 'ferry', text: 'The ferry leaves on Tuesdays.' }];
    const opened = async (config: object) => {
      const server = await TestServer.start({ config });
      const session = await (await server.connect()).createSession({ storageDataFolder: folder });
      await session.createEmbeddedStringStorage({ name, configPath: 'kb.json' });
      return { server, session };
    };
    for (const config of [
      {},
      { session_folders: [folder] },
      { storage_writes: 'files', session_folders: 'any' },
      { storage_writes: 'files', session_folders: [folder], read_only_storages: true },
    ]) {
      const { session, server } = await opened(config);
      expect((await refusal(session.updateEmbeddedStringStorage({ name, add }))).code).toBe(8012);
      await server.server.close();
    }
    const config = { storage_writes: 'files', session_folders: [folder] };
    const { session, server } = await opened(config);
    const changed = await session.updateEmbeddedStringStorage({ name, add, remove: ['dough'] });
    expect(changed).toMatchObject({ version: 1, added: 1, removed: 1, recordCount: 3 });
    expect(await idsOf(session, 'ferry', { mode: 'lexical' })).toEqual(['ferry']);
    await server.server.close();
    const again = await opened(config);
    expect(await idsOf(again.session, 'ferry', { mode: 'lexical' })).toEqual(['ferry']);
    expect((await again.session.listRecords({ name })).records.map(({ id }) => id)).toEqual([
      'dance',
      'ice',
      'ferry',
    ]);
  });

  it('counts its growth on the budget of its client, and gives it back', async () => {
    const server = await TestServer.start();
    const client = await server.connect();
    const session = await client.createSession();
    await session.createEmbeddedStringStorage({ name, records, fields, embeddingModel: 'tiny' });
    const held = async () => (await client.status()).client.byKind.storages ?? 0;
    const before = await held();
    const more = Array.from({ length: 500 }, (_, i) => ({
      id: `m${i}`,
      text: `Note ${i}. ${'bees '.repeat(40)}`,
    }));
    await session.updateEmbeddedStringStorage({ name, add: more });
    expect(await held()).toBeGreaterThan(before + 500 * 200);
    await session.destroyEmbeddedStringStorage(name);
    expect(await held()).toBeLessThan(before);
  });
});
