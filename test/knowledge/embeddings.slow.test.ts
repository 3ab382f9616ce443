import { existsSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { EmbeddingModel } from '../../lib/index.js';
import { buildKnowledgeBase, type KnowledgeModel, openKnowledgeBase } from '../../src/knowledge/index.js';
import { rejection } from '../helpers/errors.js';
import { temporaryFolder } from '../helpers/folder.js';
import { createTinyModel } from '../helpers/tiny-model/tiny-model.mjs';
import { words } from './words.js';

const file = temporaryFolder();
const textOf = (n: number) => [...String(n)].map((digit) => words[Number(digit)]).join(' ');
const recordsOf = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ id: `r${n}`, text: textOf(n) }));
/** The tiny model does not see the order of words. */
const sorted = (text = '') => text.split(' ').sort().join(' ');
const cache = file('kb.embeddings');
let small: EmbeddingModel;
let wide: EmbeddingModel;

beforeAll(async () => {
  await createTinyModel({ texts: words, path: file('small.gguf'), dimension: 32 });
  await createTinyModel({ texts: [...words, 'other'], path: file('wide.gguf'), dimension: 32 });
  small = await EmbeddingModel.load(file('small.gguf'));
  wide = await EmbeddingModel.load(file('wide.gguf'));
});

const write = (name: string, content: unknown) => writeFileSync(file(name), JSON.stringify(content));

function knowledgeBase(records: object[], config: object = {}): string {
  write('records.json', records);
  const settings = { embedding_model: 'm', records_file: 'records.json', embeddings_file: 'kb.embeddings' };
  write('kb.json', { ...settings, ...config });
  return file('kb.json');
}

/** Opens and tells where the embeddings came from, why the file was not used, and what is nearest to a text. */
async function open(records: object[], model: KnowledgeModel = { model: small }, config: object = {}) {
  const told: string[] = [];
  const warned: string[] = [];
  const log = {
    info: (facts: object) => told.push((facts as { reason: string }).reason),
    warn: (_: object, message: string) => warned.push(message),
  };
  const path = knowledgeBase(records, config);
  await using opened = await openKnowledgeBase(path, { models: async () => model, log });
  const { hits } = await opened.search({ mode: 'dense', text: textOf(41), topK: 1 });
  const { embedded, reused, truncated } = opened.embeddings ?? {};
  return { embedded, reused, truncated, told, warned, nearest: sorted(hits[0]?.text) };
}

describe('the embeddings file', () => {
  test('has three edits of 2,000 records embed three texts', async () => {
    const records = recordsOf(2_000);
    const first = await open(records);
    expect(first).toMatchObject({
      embedded: 2_000,
      reused: 0,
      told: ['there is none'],
      nearest: 'bees grind',
    });
    expect(await open(records)).toMatchObject({ embedded: 0, reused: 2_000, told: [] });
    const edited = records.map((record, n) =>
      [7, 500, 1_999].includes(n) ? { ...record, text: `${record.text} edited` } : record,
    );
    const built = buildKnowledgeBase(knowledgeBase(edited), { models: async () => ({ model: small }) });
    expect(await built).toMatchObject({ records: 2_000, embedded: 3, reused: 1_997, written: [cache] });
    expect(await open(edited)).toMatchObject({ embedded: 0, reused: 2_000 });
  });

  test('knows records by their text: reordered, deleted, renamed and repeated ones', async () => {
    const records = recordsOf(100);
    unlinkSync(cache);
    await open(records);
    const moved = records.toReversed().slice(10);
    expect(await open(moved)).toMatchObject({ embedded: 0, reused: 90, nearest: 'bees grind' });
    const renamed = records.map(({ text }, n) => ({ id: `other${n}`, text }));
    expect(await open(renamed)).toMatchObject({ embedded: 0, reused: 100, nearest: 'bees grind' });
    const repeated = [
      ...records,
      { id: 'again', text: textOf(5) },
      { id: 'n1', text: 'bees new' },
      { id: 'n2', text: 'bees new' },
    ];
    expect(await open(repeated)).toMatchObject({ embedded: 1, reused: 101, nearest: 'bees grind' });
    expect(await open(repeated)).toMatchObject({ embedded: 0, reused: 103 });
  });

  test('is of one model, one document prefix and one context size', async () => {
    const records = recordsOf(20);
    await open(records);
    const reason = expect.stringContaining('another embedding model, prefix or context size');
    const all = { embedded: 20, reused: 0, told: [reason] };
    expect(await open(records, { model: wide })).toMatchObject(all);
    expect(await open(records, { model: small })).toMatchObject(all);
    expect(await open(records, { model: small, documentPrefix: 'passage: ' })).toMatchObject(all);
    expect(await open(records, { model: small, documentPrefix: 'passage: ' })).toMatchObject({ embedded: 0 });
    expect(await open(records, { model: small, queryPrefix: 'query: ' })).toMatchObject(all);
    await using short = await EmbeddingModel.load(file('small.gguf'), { contextSize: 64 });
    expect(await open(records, { model: short })).toMatchObject(all);
  });

  test('that is damaged or cut short is made anew, with the reason', async () => {
    const records = recordsOf(20);
    await open(records);
    const bytes = readFileSync(cache);
    const damaged: Buffer[] = [bytes.subarray(0, bytes.length - 1), Buffer.from('')];
    for (let at = 8; at < bytes.length; at += 97) {
      const flipped = Buffer.from(bytes);
      flipped[at] = (flipped[at] ?? 0) ^ (1 << (at % 8));
      damaged.push(flipped);
    }
    for (const content of damaged) {
      writeFileSync(cache, content);
      const opened = await open(records);
      expect(opened).toMatchObject({ embedded: 20, reused: 0, nearest: 'bees grind' });
      expect(opened.told, opened.told[0]).toEqual([expect.stringContaining(cache)]);
    }
    expect(await open(records)).toMatchObject({ embedded: 0, reused: 20, told: [] });
  });

  test('that cannot be written is a warning', async () => {
    writeFileSync(file('no-folder'), '');
    const opened = await open(recordsOf(20), undefined, { embeddings_file: 'no-folder/x' });
    expect(opened).toMatchObject({ embedded: 20, nearest: 'bees grind' });
    expect(opened.warned).toEqual([expect.stringContaining('embeddings file not written')]);
  });

  test('keeps what was embedded when building is given up', async () => {
    if (existsSync(cache)) unlinkSync(cache);
    const records = recordsOf(10_000);
    const abort = new AbortController();
    const onProgress = ({ phase, done }: { phase: string; done: number }) => {
      if (phase === 'embed' && done > 0) abort.abort();
    };
    const options = { models: async () => ({ model: small }), signal: abort.signal, onProgress };
    await expect(buildKnowledgeBase(knowledgeBase(records), options)).rejects.toMatchObject({
      name: 'AbortError',
    });
    const { embedded, reused } = await open(records);
    expect(reused).toBeGreaterThan(0);
    expect((embedded ?? 0) + (reused ?? 0)).toBe(10_000);
  });
});

describe('long_text', () => {
  const long = { id: 'long', text: `${'honey '.repeat(600)}glaciers` };

  test('truncate embeds the beginning, keeps text and words whole, and says how many were cut', async () => {
    const records = [...recordsOf(20), long];
    const opened = await open(records, undefined, { long_text: 'truncate' });
    expect(opened).toMatchObject({ truncated: 1 });
    expect(opened.warned).toEqual([expect.stringContaining('only the beginning of 1 records is embedded')]);
    await using kb = await openKnowledgeBase(file('kb.json'), { models: async () => ({ model: small }) });
    expect(kb.embeddings).toEqual({ embedded: 0, reused: 21, truncated: 1 });
    const lexical = await kb.search({ mode: 'lexical', text: 'glaciers', topK: 20 });
    expect(lexical.hits.find(({ id }) => id === 'long')?.text).toBe(long.text);
    const dense = await kb.search({ mode: 'dense', text: 'honey '.repeat(510).trim(), topK: 1 });
    expect(dense.hits[0]?.distance).toBeLessThan(0.001);
  });

  test('error refuses it, also when a truncated embedding is in the file', async () => {
    const records = [...recordsOf(20), long];
    await open(records, undefined, { long_text: 'truncate' });
    const opening = openKnowledgeBase(knowledgeBase(records), { models: async () => ({ model: small }) });
    const error = await rejection(opening, 'TEXT_TOO_LONG');
    expect(error.detail).toMatchObject({ record: 20, id: 'long', limit: 512 });
    expect(await open(records, undefined, { long_text: 'truncate' })).toMatchObject({
      embedded: 1,
      truncated: 1,
    });
  });

  test('takes a text of megabytes', async () => {
    const huge = { id: 'huge', text: `${'é'.repeat(700_000)} honey` };
    const opened = await open([...recordsOf(20), huge], undefined, { long_text: 'truncate' });
    expect(opened).toMatchObject({ truncated: 1 });
  });
});

test.each(['f32', 'f16', 'i8'] as const)(
  'vector_type %s is what the index holds, opened and built',
  async (vector_type) => {
    const records = recordsOf(300);
    const models = async () => ({ model: small });
    const found = async (config: object) => {
      const path = knowledgeBase(records, { vector_type, ...config });
      if ('index_file' in config) await buildKnowledgeBase(path, { models });
      await using kb = await openKnowledgeBase(path, { models });
      const { hits } = await kb.search({ mode: 'dense', text: textOf(41), topK: 3 });
      return { bytes: kb.bytes, first: sorted(hits[0]?.text), warnings: kb.warnings };
    };
    expect(await found({})).toMatchObject({ first: 'bees grind', warnings: [] });
    expect(await found({ index_file: 'kb.index' })).toMatchObject({ first: 'bees grind', warnings: [] });
    const other = vector_type === 'i8' ? 'f32' : 'i8';
    const path = knowledgeBase(records, { index_file: 'kb.index', vector_type: other });
    await using stale = await openKnowledgeBase(path, { models });
    expect(stale.warnings).toEqual([expect.stringContaining(`holds ${vector_type} vectors`)]);
  },
);

test('hnsw.ef_search is how deep a search looks that does not say', async () => {
  const records = recordsOf(3_000);
  const models = async () => ({ model: small });
  const visited = async (hnsw: object, ef?: number) => {
    await using kb = await openKnowledgeBase(knowledgeBase(records, { hnsw }), { models });
    const { plan } = await kb.search({ mode: 'dense', text: textOf(1234), topK: 1, ef });
    return plan.dense?.visited ?? 0;
  };
  const narrow = await visited({ ef_search: 1 });
  expect(await visited({ ef_search: 400 })).toBeGreaterThan(narrow);
  expect(await visited({ ef_search: 1 }, 400)).toBeGreaterThan(narrow);
});
