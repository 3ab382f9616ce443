import { existsSync, readFileSync, unlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { EmbeddingModel, VectorIndex } from '../../lib/index.js';
import { buildKnowledgeBase, type KnowledgeModel, openKnowledgeBase } from '../../src/knowledge/index.js';
import { rejection } from '../helpers/errors.js';
import { temporaryFolder } from '../helpers/folder.js';
import { createTinyModel } from '../helpers/tiny-model/tiny-model.mjs';

const file = temporaryFolder();
const records = [
  { id: 'bees', text: 'Honey bees dance in the hive', metadata: { year: 2001 } },
  { id: 'ice', text: 'Glaciers grind valleys', metadata: { year: 2010 } },
  { id: 'bread', text: 'A sourdough starter is flour and water' },
];
const fields = [{ name: 'year', type: 'int', optional: true }];
let model: EmbeddingModel;
let models: (name: string) => Promise<KnowledgeModel | undefined>;
let written = 0;

beforeAll(async () => {
  await createTinyModel({ texts: records.map(({ text }) => text), path: file('tiny.gguf'), dimension: 64 });
  model = await EmbeddingModel.load(file('tiny.gguf'));
  models = async (name) => (name === 'tiny' ? { model } : undefined);
});

const write = (path: string, content: unknown) =>
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));

/** A config file of its own, over records.json of its own. */
function knowledgeBase(config: object = {}, content: unknown = records) {
  const name = `kb${written++}`;
  const paths = {
    config: file(`${name}.json`),
    records: file(`${name}-records.json`),
    index: file(`${name}.index`),
    words: file(`${name}.bm25`),
  };
  write(paths.records, content);
  write(paths.config, { embedding_model: 'tiny', records_file: `${name}-records.json`, fields, ...config });
  return { name, ...paths };
}

/** Opens and closes, and gives the reasons for which the text index was built. */
async function reasons(config: string): Promise<string[]> {
  const told: string[] = [];
  const log = { info: (facts: object) => told.push((facts as { reason: string }).reason), warn() {} };
  const opened = await openKnowledgeBase(config, { models, log });
  expect((await opened.search({ mode: 'lexical', text: 'bees' })).hits.map(({ id }) => id)).toEqual(['bees']);
  await opened.close();
  return told;
}

describe('a knowledge base', () => {
  test('is searched by meaning, by words and by metadata', async () => {
    await using opened = await openKnowledgeBase(knowledgeBase().config, { models });
    expect([opened.size, opened.dimension, opened.warnings]).toEqual([3, 64, []]);
    const found = await opened.search({ mode: 'hybrid', text: 'do glaciers grind?' });
    expect(found.hits[0]).toMatchObject({ id: 'ice', metadata: { year: 2010 } });
    const filter = { '<': [{ knowledge: 'year' }, 2005] } as const;
    const some = await opened.search({ text: 'glaciers', filter });
    expect(some.hits.map(({ id }) => id)).toEqual(['bees']);
  });

  test('says which keys have no effect, with the nearest name', async () => {
    const warned: string[] = [];
    const log = { info() {}, warn: (_: object, message: string) => warned.push(message) };
    const { config } = knowledgeBase({ bm25_tokeniser: 'enhanced' });
    await using opened = await openKnowledgeBase(config, { models, log });
    expect(opened.warnings).toEqual([
      expect.stringMatching(
        /kb\d+\.json:1:\d+: bm25_tokeniser: is not a known field; did you mean "bm25_tokenizer"\?; it has no effect$/,
      ),
    ]);
    expect(warned).toEqual(opened.warnings);
  });

  test('an empty list of fields is as good as none', async () => {
    await using opened = await openKnowledgeBase(knowledgeBase({ fields: [] }).config, { models });
    expect((await opened.search({ text: 'glaciers', topK: 1 })).hits[0]).toMatchObject({
      id: 'ice',
      metadata: {},
    });
  });

  test.each([
    ['a number', () => 5, /\{ model \} with an EmbeddingModel/],
    ['null', () => null, /\{ model \} with an EmbeddingModel/],
    ['a prefix that is no string', () => ({ model, queryPrefix: 5 }), /a string as queryPrefix/],
  ])('says what is wrong with %s from `models`', async (_, given, message) => {
    const opening = openKnowledgeBase(knowledgeBase().config, { models: async () => given() as never });
    expect((await rejection(opening, 'INVALID_ARGUMENT')).message).toMatch(message);
  });

  test.each([
    [{ version: 2 }, 'version'],
    [{ embedding_model: 'huge' }, 'embedding_model'],
    [{ records_file: 7 }, 'records_file'],
    [{ bm25_tokenizer: 'french' }, 'bm25_tokenizer'],
    [{ fields: [{ name: 'year', type: 'int' }] }, 'fields[0]'],
    [{ fields: [{ name: 'year', type: 'int', default: 1, optional: true }] }, 'fields[0]'],
    [{ fields: [{ name: 'year', type: 'int', default: 2 ** 60 }] }, 'fields[0].default'],
    [{ fields: [{ name: 'year', type: 'int', default: 'x' }] }, 'fields[0].default'],
    [{ fields: [...fields, ...fields] }, 'fields[1].name'],
  ])('is refused for the config %j', async (config, path) => {
    const error = await rejection(
      openKnowledgeBase(knowledgeBase(config).config, { models }),
      'INVALID_ARGUMENT',
    );
    expect(error.message).toContain(path);
  });

  test('is refused when a file is absent or not JSON', async () => {
    await rejection(openKnowledgeBase(file('absent.json'), { models }), 'NOT_FOUND');
    await rejection(
      openKnowledgeBase(knowledgeBase({ records_file: 'absent' }).config, { models }),
      'NOT_FOUND',
    );
    await rejection(
      openKnowledgeBase(knowledgeBase({ index_file: 'absent' }).config, { models }),
      'NOT_FOUND',
    );
    await rejection(openKnowledgeBase(knowledgeBase({}, '{').config, { models }), 'CORRUPT');
    write(file('broken.json'), '{"version": 1,');
    await rejection(openKnowledgeBase(file('broken.json'), { models }), 'CORRUPT');
  });

  test('is refused for a record that the model cannot embed, with its id and token count', async () => {
    const long = { id: 'long', text: 'honey '.repeat(600) };
    const { config } = knowledgeBase({}, [...records, long]);
    const error = await rejection(openKnowledgeBase(config, { models }), 'TEXT_TOO_LONG');
    expect(error.detail).toMatchObject({ record: 3, id: 'long', limit: 512 });
    expect(error.message).toContain('record 3 ("long")');
  });

  test('opens after a byte order mark in its config', async () => {
    const { config } = knowledgeBase();
    write(config, `\uFEFF${readFileSync(config, 'utf8')}`);
    await (await openKnowledgeBase(config, { models })).close();
  });
});

describe('the text index file', () => {
  test('is written by the first opening and used by the next', async () => {
    const { config, words } = knowledgeBase({ bm25_file: 'own.bm25' });
    expect(existsSync(words)).toBe(false);
    expect(await reasons(config)).toEqual(['there is none']);
    expect(existsSync(file('own.bm25'))).toBe(true);
    expect(await reasons(config)).toEqual([]);
  });

  test('is built again for newer records, another tokenizer, other texts, and damage', async () => {
    const { config, records: source } = knowledgeBase({ bm25_file: 'again.bm25' });
    await reasons(config);
    const sidecar = file('again.bm25');
    const mtime = new Date(0);
    utimesSync(sidecar, mtime, mtime);
    expect(await reasons(config)).toEqual(['the records file is newer']);
    expect(await reasons(config)).toEqual([]);

    const settings = JSON.parse(readFileSync(config, 'utf8'));
    write(config, { ...settings, bm25_tokenizer: 'enhanced' });
    expect(await reasons(config)).toEqual([expect.stringContaining('tokenizer')]);
    expect(await reasons(config)).toEqual([]);

    write(
      source,
      records.map((record) => ({ ...record, text: `${record.text}!` })),
    );
    utimesSync(source, mtime, mtime);
    expect(await reasons(config)).toHaveLength(1);
    write(source, records.slice(0, 2));
    utimesSync(source, mtime, mtime);
    expect(await reasons(config)).toHaveLength(1);

    const bytes = readFileSync(sidecar);
    bytes[bytes.length - 3] = (bytes[bytes.length - 3] ?? 0) ^ 1;
    writeFileSync(sidecar, bytes);
    expect(await reasons(config)).toHaveLength(1);
    writeFileSync(sidecar, bytes.subarray(0, 40));
    expect(await reasons(config)).toHaveLength(1);
    expect(await reasons(config)).toEqual([]);
  });

  test('that cannot be written is a warning, and the words are found all the same', async () => {
    writeFileSync(file('no-folder'), '');
    const warned: string[] = [];
    const log = { info() {}, warn: (_: object, message: string) => warned.push(message) };
    const { config } = knowledgeBase({ bm25_file: 'no-folder/x.bm25' });
    await using opened = await openKnowledgeBase(config, { models, log });
    expect(warned).toEqual([expect.stringContaining('text index not written')]);
    expect((await opened.search({ mode: 'lexical', text: 'bees' })).hits).toHaveLength(1);
  });
});

describe('an index file', () => {
  test('that was built is opened without embedding, and its words beside it by default', async () => {
    const kb = knowledgeBase();
    write(kb.config, { ...JSON.parse(readFileSync(kb.config, 'utf8')), index_file: `${kb.name}.index` });
    expect(await buildKnowledgeBase(kb.config, { models })).toMatchObject({
      records: 3,
      embedded: 3,
      indexFile: kb.index,
      written: [kb.index, kb.words],
    });
    expect(existsSync(kb.words)).toBe(true);
    expect(await reasons(kb.config)).toEqual([]);
    await using opened = await openKnowledgeBase(kb.config, { models });
    expect((await opened.search({ text: 'glaciers grind' })).hits[0]?.id).toBe('ice');
  });

  test('is built again by the next opening when records have changed, and the one after finds it right', async () => {
    const kb = knowledgeBase();
    const embeddings_file = `${kb.name}.embeddings`;
    write(kb.config, {
      ...JSON.parse(readFileSync(kb.config, 'utf8')),
      index_file: `${kb.name}.index`,
      embeddings_file,
    });
    await buildKnowledgeBase(kb.config, { models });
    const before = readFileSync(kb.index);
    write(kb.records, [...records.slice(1), { id: 'new', text: 'owls hunt at night' }]);
    const edited = await openKnowledgeBase(kb.config, { models });
    await using same = edited;
    expect(same.embeddings).toEqual({ embedded: 1, reused: records.length - 1, truncated: 0 });
    expect(same.indexWritten).toBe(true);
    expect((await same.search({ text: 'owls hunt at night', mode: 'dense' })).hits[0]?.id).toBe('new');
    expect(readFileSync(kb.index).equals(before)).toBe(false);
    await using again = await openKnowledgeBase(kb.config, { models });
    expect([again.embeddings, again.indexWritten, again.size]).toEqual([undefined, false, records.length]);
    expect((await again.search({ text: 'owls hunt at night', mode: 'dense' })).hits[0]?.id).toBe('new');
  });

  test('that is outdated is left alone by an opening that may write nothing', async () => {
    const kb = knowledgeBase();
    write(kb.config, { ...JSON.parse(readFileSync(kb.config, 'utf8')), index_file: `${kb.name}.index` });
    await buildKnowledgeBase(kb.config, { models });
    const before = readFileSync(kb.index);
    write(kb.records, [...records, { id: 'new', text: 'owls hunt at night' }]);
    await using opened = await openKnowledgeBase(kb.config, { models, readOnly: true });
    expect((await opened.search({ text: 'owls hunt at night', mode: 'dense' })).hits[0]?.id).toBe('new');
    expect(opened.indexWritten).toBe(false);
    expect(readFileSync(kb.index).equals(before)).toBe(true);
  });

  test('that belongs to another knowledge base is not replaced by an opening', async () => {
    const kb = knowledgeBase();
    const config = { ...JSON.parse(readFileSync(kb.config, 'utf8')), index_file: `${kb.name}.index` };
    write(kb.config, config);
    await buildKnowledgeBase(kb.config, { models });
    const other = knowledgeBase();
    write(other.records, [{ id: 'other', text: 'owls hunt at night' }]);
    write(other.config, { ...config, records_file: `${other.name}-records.json` });
    const before = readFileSync(kb.index);
    const error = await rejection(openKnowledgeBase(other.config, { models }), 'INVALID_ARGUMENT');
    expect(error.message).toContain(`it belongs to another knowledge base`);
    expect(error.message).toContain(`that is ${kb.name}.json, seen from its folder`);
    expect(readFileSync(kb.index).equals(before)).toBe(true);
  });

  test('of other records, another dimension or no index at all is refused', async () => {
    const { config } = knowledgeBase({ index_file: 'some.index' });
    const rows = (count: number, dimension: number) =>
      Float32Array.from({ length: count * dimension }, (_, i) => Math.cos(i));
    const save = async (count: number, dimension: number) => {
      const index = await VectorIndex.build(rows(count, dimension), dimension);
      await index.save(file('some.index'));
      await index.close();
    };
    await save(3, 64);
    await (await openKnowledgeBase(config, { models })).close();
    const advice = { file: file('some.index'), remedy: `build it again: lorekeep build ${config}` };
    await save(4, 64);
    const others = await rejection(openKnowledgeBase(config, { models }), 'INVALID_ARGUMENT');
    expect(others.detail).toMatchObject({ ...advice, mismatch: 'records' });
    await save(3, 32);
    const narrow = await rejection(openKnowledgeBase(config, { models }), 'DIMENSION_MISMATCH');
    expect(narrow.detail).toMatchObject({ ...advice, reason: 'the index has dimension 32, not 64' });
    expect(narrow.message).toBe(`${advice.file}: ${narrow.detail.reason}; ${advice.remedy}`);
    for (const content of ['', 'no index', 'x'.repeat(200)]) {
      writeFileSync(file('some.index'), content);
      const error = await rejection(openKnowledgeBase(config, { models }), 'CORRUPT');
      expect(error.message).toContain(file('some.index'));
      expect(error.message).toMatch(`; build it again: lorekeep build ${config}`);
    }
    unlinkSync(file('some.index'));
    const absent = await rejection(openKnowledgeBase(config, { models }), 'NOT_FOUND');
    expect(absent.message).toMatch(`; build it: lorekeep build ${config}`);
  });

  test('that cannot be put in its place is refused before anything is embedded', async () => {
    const embedding: string[] = [];
    for (const index_file of ['absent/kb.index', '.']) {
      const building = buildKnowledgeBase(knowledgeBase({ index_file, bm25_file: 'x.bm25' }).config, {
        models,
        onProgress: ({ phase }) => embedding.push(phase),
      });
      expect((await rejection(building, 'IO')).message).toContain('cannot be written');
    }
    expect(embedding).toEqual([]);
  });

  test('is needed to build', async () => {
    await rejection(buildKnowledgeBase(knowledgeBase().config, { models }), 'INVALID_ARGUMENT');
  });
});
