import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { EmbeddingModel } from '../../../lib/index.js';
import { loadKnowledgeBaseConfig } from '../../../src/knowledge/config.js';
import { type KnowledgeBase, openKnowledgeBase, PostgresConnections } from '../../../src/knowledge/index.js';
import { driverVersion } from '../../../src/knowledge/postgres/client.js';
import {
  compareKnowledgeBase,
  pullKnowledgeBase,
  pushKnowledgeBase,
} from '../../../src/knowledge/postgres/transfer.js';
import { rejection } from '../../helpers/errors.js';
import { temporaryFolder } from '../../helpers/folder.js';
import { testDatabase } from '../../helpers/postgres.js';
import { createTinyModel } from '../../helpers/tiny-model/tiny-model.mjs';
import { words } from '../words.js';

const database = testDatabase();
const file = temporaryFolder();
const fields = [
  { name: 'year', type: 'int', default: 2000 },
  { name: 'tags', type: 'set<string>', optional: true },
];
const records = Array.from({ length: 30 }, (_, n) => ({
  id: `r${n}`,
  text: [0, 1, 2].map((step) => words[(n * (step + 1) + step) % words.length]).join(' '),
  metadata: n % 3 === 0 ? { year: 1990 + n, tags: ['b', 'a'] } : {},
}));
let model: EmbeddingModel;
let connections: PostgresConnections;

beforeAll(async () => {
  await createTinyModel({ texts: words, path: file('tiny.gguf'), dimension: 32 });
  model = await EmbeddingModel.load(file('tiny.gguf'));
  connections = new PostgresConnections({
    main: database.connection(),
    reader: database.connection({ writes: false }),
    other: database.connection({ serves: ['other', 'public.only'] }),
  });
  write('records.json', records);
  write('kb.json', {
    embedding_model: 'tiny',
    records_file: 'records.json',
    fields,
    bm25_tokenizer: 'multilingual',
  });
  return async () => connections.close();
});

const write = (name: string, value: unknown) => writeFileSync(file(name), JSON.stringify(value));
const options = () => ({ models: async () => model, connections });

/** Writes the config of a knowledge base in a table, and returns its path. */
function engineConfig(table: string, more: object = {}, engine: object = {}): string {
  const own = { type: 'postgres', connection: 'main', table, ...engine };
  const config = { embedding_model: 'tiny', engine: own, fields, bm25_tokenizer: 'multilingual', ...more };
  write(`${table}.json`, config);
  return file(`${table}.json`);
}

async function pushed(table: string): Promise<KnowledgeBase> {
  const config = engineConfig(table);
  await pushKnowledgeBase(file('kb.json'), config, { ...options(), replace: true });
  return openKnowledgeBase(config, options());
}

describe('a knowledge base in Postgres', () => {
  it('answers as the one in files that was pushed, at every option of a search', async () => {
    await using kb = await pushed('answers');
    await using own = await openKnowledgeBase(file('kb.json'), options());
    expect(kb.size).toBe(records.length);
    for (const more of [
      {},
      { mode: 'dense' },
      { mode: 'lexical' },
      { filter: { year: { '>=': 2000 } } },
      { groupBy: 'year', groupSize: 1 },
      { dropDuplicates: 0.3 },
      { offset: 2, context: 2 },
      { highlight: true },
      { mode: 'hybrid', feedback: 0.3 },
    ] as const) {
      const query = { text: 'honey bees dance', topK: 4, ...more };
      const [found, expected] = [await kb.search(query), await own.search(query)];
      const shown = ({ hits }: typeof found) =>
        hits.map(({ id, rank, context, snippet, metadata }) => ({ id, rank, context, snippet, metadata }));
      expect(shown(found), JSON.stringify(more)).toEqual(shown(expected));
      expect(found.plan).toMatchObject({ engine: 'postgres', mode: expected.plan.mode });
    }
    const similar = await kb.similar('r3', { topK: 3 });
    expect(similar.hits.map(({ id }) => id)).toEqual(
      (await own.similar('r3', { topK: 3 })).hits.map(({ id }) => id),
    );
  });

  it('lists, counts and gets its records', async () => {
    await using kb = await pushed('listing');
    await using own = await openKnowledgeBase(file('kb.json'), options());
    const page = { offset: 5, limit: 7, filter: { year: { '<': 2010 } } } as const;
    expect(await kb.list(page)).toEqual(await own.list(page));
    expect(await kb.count(page)).toBe(await own.count(page));
    expect(await kb.get('r6')).toEqual(await own.get('r6'));
    expect(await kb.get('no\0ne')).toBeUndefined();
  });

  it('changes in batches, and its statistics stay those of its records', async () => {
    await using kb = await pushed('changing');
    write('changed-records.json', records);
    const files = { records_file: 'changed-records.json', fields, bm25_tokenizer: 'multilingual' };
    write('changed.json', { embedding_model: 'tiny', ...files });
    await using own = await openKnowledgeBase(file('changed.json'), options());
    const batches = [
      { add: [{ id: 'new', text: 'hive water glaciers', metadata: { year: 7 } }] },
      { replace: [{ id: 'r4', text: 'sourdough honey' }], remove: ['r0', 'r9'] },
      {
        add: [
          { id: 'r5', text: 'bees' },
          { id: 'r9', text: 'flour flour' },
        ],
        upsert: true,
      },
    ];
    for (const batch of batches) expect(await kb.update(batch)).toEqual(await own.update(batch));
    expect(await kb.list({ limit: 100 })).toEqual(await own.list({ limit: 100 }));
    const query = { text: 'honey water', mode: 'hybrid', topK: 30, context: 1 } as const;
    const [found, expected] = [await kb.search(query), await own.search(query)];
    expect(found.version).toBe(3);
    const byId = new Map(expected.hits.map((hit) => [hit.id, hit]));
    for (const { id, ordinal, score, relevance, context } of found.hits) {
      expect(ordinal, id).toBe(byId.get(id)?.ordinal);
      expect(score, id).toBeCloseTo(byId.get(id)?.score as number, 4);
      expect(relevance, id).toBeCloseTo(byId.get(id)?.relevance as number, 3);
      expect(context, id).toEqual(byId.get(id)?.context);
    }
    expect((await compareKnowledgeBase(file('changing.json'), options())).differences).toEqual([]);
  });

  it('keeps its ordinals and searches when most rows are gone', async () => {
    await using kb = await pushed('gone');
    const all = () => kb.list({ limit: 100 });
    for (let round = 0; round < 6; round++)
      await kb.replace((await all()).map(({ id, text, metadata }) => ({ id, text, metadata })));
    await kb.remove(['r3', 'r7', 'r29']);
    const listed = await all();
    const { hits } = await kb.search({ text: 'honey bees dance', topK: 10 });
    expect(hits.length).toBeGreaterThan(5);
    for (const { id, context } of (await kb.search({ text: 'honey', topK: 5, context: 1 })).hits) {
      const at = listed.findIndex((one) => one.id === id);
      const around = [listed[at - 1], listed[at + 1]].filter((one) => one !== undefined);
      const found = [...(context?.before ?? []), ...(context?.after ?? [])];
      expect(found.map((one) => one.id)).toEqual(around.map((one) => one.id));
    }
  });

  it('is pushed without touching tables with names like its own', async () => {
    await database.run('create table "mine__new" (x int)');
    await database.run('create table "mine_words__new" (x int)');
    await using kb = await pushed('mine');
    expect(kb.size).toBe(records.length);
    expect(await database.run('select count(*)::int as n from "mine__new"')).toEqual([{ n: 0 }]);
    expect(await database.run('select count(*)::int as n from "mine_words__new"')).toEqual([{ n: 0 }]);
  });

  it('a push makes another version, also of the same records', async () => {
    await using kb = await pushed('again');
    const { version } = await kb.search({ text: 'honey' });
    await using other = await pushed('again');
    const later = await other.search({ text: 'honey' });
    expect(later.version).toBeGreaterThan(version);
  });

  it('notices that its table was pushed from another model', async () => {
    await using kb = await pushed('exchanged');
    await database.run("update exchanged_base set fingerprint = 'another', build = 'another'");
    for (const fail of [() => kb.search({ text: 'honey' }), () => kb.add([{ id: 'x', text: 'honey' }])])
      expect((await rejection(fail(), 'UNSUPPORTED')).message).toContain('pushed again');
  });

  it('refuses batches as the embedded engine does', async () => {
    await using kb = await pushed('refusing');
    expect((await rejection(kb.add([{ id: 'r1', text: 'x' }]), 'RECORD_EXISTS')).detail.ids).toEqual(['r1']);
    await rejection(kb.remove(['none']), 'RECORD_MISSING');
    await rejection(kb.update({ remove: ['r1', 'r1'] }), 'DUPLICATE_ID');
    await rejection(kb.remove(['r1'], { ifVersion: 9 }), 'VERSION_MISMATCH');
    await rejection(kb.add([{ id: 'nul', text: 'a\0b' }]), 'INVALID_ARGUMENT');
    await rejection(kb.merge(), 'UNSUPPORTED');
    expect(() => kb.at(7)).toThrow('the newest version alone');
    expect(kb.version).toBe(0);
    expect(await kb.count()).toBe(records.length);
  });

  it('forgets records', async () => {
    await using kb = await pushed('forgetting');
    const { texts, removed } = await kb.forget(['r2', 'r3']);
    expect([texts, removed]).toEqual([[records[2]?.text, records[3]?.text], 2]);
    expect(await kb.get('r2')).toBeUndefined();
    expect((await compareKnowledgeBase(file('forgetting.json'), options())).differences).toEqual([]);
  });

  it('is pulled into files that open without embedding', async () => {
    await using kb = await pushed('pulling');
    await kb.remove(['r7']);
    mkdirSync(file('pulled'));
    const target = file('pulled', 'kb.json');
    const { records: count } = await pullKnowledgeBase(file('pulling.json'), target, options());
    expect(count).toBe(records.length - 1);
    await using copy = await openKnowledgeBase(target, options());
    expect(copy.embeddings).toBeUndefined();
    expect(await copy.list()).toEqual(await kb.list());
    const against = { ...options(), against: target };
    expect((await compareKnowledgeBase(file('pulling.json'), against)).differences).toEqual([]);
    await kb.update({
      replace: [{ id: 'r8', text: 'other' }],
      remove: ['r10'],
      add: [{ id: 'more', text: 'one' }],
    });
    expect((await compareKnowledgeBase(file('pulling.json'), against)).differences).toEqual([
      '1 records are in the tables alone: "more"',
      '1 records are in the files alone: "r10"',
      '1 records differ: "r8"',
    ]);
  });

  it('shows damaged statistics in a comparison', async () => {
    await using _ = await pushed('damaged');
    await database.run(`update damaged_terms set documents = documents + 1 where term = 'honey'`);
    await database.run(`update damaged_base set tokens = tokens + 1`);
    expect((await compareKnowledgeBase(file('damaged.json'), options())).differences).toEqual([
      'the number of words is not that of the records',
      'the numbers of records with a word are not those of the words',
    ]);
  });
});

describe('what a config and a connection allow', () => {
  it('refuses the fields of files beside an engine, by name', async () => {
    const config = engineConfig('both', { records_file: 'records.json', index_file: 'x', bm25_file: 'y' });
    const { message } = await rejection(openKnowledgeBase(config, options()), 'INVALID_ARGUMENT');
    for (const name of ['records_file', 'index_file', 'bm25_file'])
      expect(message).toContain(`${name}: it has no effect on records in a database`);
  });

  it('refuses unknown connections, tables that are not served, and hostile names', async () => {
    const opening = (table: string, engine: object) =>
      rejection(openKnowledgeBase(engineConfig(table, {}, engine), options()), 'INVALID_ARGUMENT');
    expect((await opening('a', { connection: 'mian' })).message).toContain('declares no connection');
    expect((await opening('b', { connection: 'other' })).message).toContain(
      'does not serve the table "public.b"',
    );
    for (const table of ['x"; drop table y; --', 'A', 'a.b.c', '', 'a b', "a'b", 'é', 'x'.repeat(60)]) {
      write('hostile.json', {
        embedding_model: 'tiny',
        engine: { type: 'postgres', connection: 'main', table },
      });
      const error = await rejection(openKnowledgeBase(file('hostile.json'), options()), 'INVALID_ARGUMENT');
      expect(error.message).toContain('engine.table');
    }
  });

  it('refuses every table without the marker, and keeps it as it is', async () => {
    await database.run('create table foreign_one (id int)');
    await database.run('insert into foreign_one values (7)');
    await database.run('create table fake_base (marker text, format int)');
    await database.run(`insert into fake_base values ('sessions', 1)`);
    for (const table of ['foreign_one', 'fake']) {
      const config = engineConfig(table);
      await expect(openKnowledgeBase(config, options())).rejects.toThrow(/not one of lorekeep/);
      await rejection(
        pushKnowledgeBase(file('kb.json'), config, { ...options(), replace: true }),
        'INVALID_ARGUMENT',
      );
    }
    expect(await database.run('select * from foreign_one')).toEqual([{ id: 7 }]);
    expect(await database.run('select marker from fake_base')).toEqual([{ marker: 'sessions' }]);
  });

  it('replaces records only when that is asked for', async () => {
    await using _ = await pushed('once');
    const { message } = await rejection(
      pushKnowledgeBase(file('kb.json'), file('once.json'), options()),
      'INVALID_ARGUMENT',
    );
    expect(message).toContain('"public.once" has 30 records; `lorekeep push --replace` replaces them');
  });

  it('refuses changes and pushes over a connection that only reads', async () => {
    await using _ = await pushed('reading');
    const config = engineConfig('reading', {}, { connection: 'reader' });
    await using kb = await openKnowledgeBase(config, options());
    expect((await kb.search({ text: 'bees', mode: 'lexical' })).hits.length).toBeGreaterThan(0);
    const { message } = await rejection(kb.remove(['r1']), 'UNSUPPORTED');
    expect(message).toContain('the connection "reader" only reads; set "writes": true');
    await rejection(
      pushKnowledgeBase(file('kb.json'), config, { ...options(), replace: true }),
      'UNSUPPORTED',
    );
  });

  it('refuses a config whose words, fields or index are not those of the table', async () => {
    await using _ = await pushed('fitting');
    const opening = async (more: object, engine: object = {}) =>
      (
        await rejection(
          openKnowledgeBase(engineConfig('fitting', more, engine), options()),
          'INVALID_ARGUMENT',
        )
      ).message;
    expect(await opening({ bm25_tokenizer: 'basic' })).toContain('bm25_tokenizer: the words');
    expect(await opening({ fields: undefined })).toContain('fields: the records');
    expect(await opening({}, { index: 'hnsw' })).toContain('engine.index: the table');
    expect(await opening({ search: { lexical: { fuzziness: 1 } } })).toContain(
      'search.lexical: the engine postgres',
    );
  });

  it('refuses connections of a config that nobody named', async () => {
    const refused = new PostgresConnections(
      { main: database.connection() },
      { refusal: 'nobody named the config' },
    );
    const opening = openKnowledgeBase(engineConfig('found'), { ...options(), connections: refused });
    expect((await rejection(opening, 'INVALID_ARGUMENT')).message).toContain(
      'engine.connection: nobody named the config',
    );
  });

  it('refuses plain connections to other machines', () => {
    const far = { hosts: ['db.example'], database: 'd', user: 'u', serves: ['public'], tls: 'off' } as const;
    expect(() => new PostgresConnections({ far })).toThrow('connections.far.tls: "verify" is expected');
    expect(() => new PostgresConnections({ far: { ...far, insecure: true } })).not.toThrow();
  });

  it('keeps the words of the database from errors', async () => {
    const away = new PostgresConnections({ main: database.connection({ hosts: ['127.0.0.1:1'] }) });
    const error = await openKnowledgeBase(engineConfig('away'), { ...options(), connections: away }).catch(
      (reason: Error) => reason,
    );
    expect(String(error)).toContain('engine: the connection "main": no server answers');
    await away.close();
  });

  it('is tested with the driver whose version errors and the guide name', () => {
    const project = join(import.meta.dirname, '../../..');
    const { devDependencies } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'));
    expect(devDependencies.pg).toBe(driverVersion);
    expect(readFileSync(join(project, 'docs/guides/postgres.md'), 'utf8')).toContain(
      `npm install pg@${driverVersion}`,
    );
  });

  it('works on files for commands that need them, and says so', async () => {
    const { message } = await rejection(loadKnowledgeBaseConfig(engineConfig('files')), 'UNSUPPORTED');
    expect(message).toContain('`lorekeep pull` writes files');
    expect(readFileSync(file('kb.json'), 'utf8')).toContain('records_file');
  });
});
