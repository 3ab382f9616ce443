/** Changes of a knowledge base that fight, come in great numbers or sizes, or meet a clock that jumps. */
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { beforeAll, expect, test, vi } from 'vitest';
import { EmbeddingModel } from '../../../lib/index.js';
import {
  buildKnowledgeBase,
  type KnowledgeBase,
  type OpenKnowledgeBaseOptions,
  openKnowledgeBase,
} from '../../../src/knowledge/index.js';
import { atVersion } from '../../../src/storages/changes.js';
import { runChild } from '../../helpers/children.js';
import { temporaryFolder } from '../../helpers/folder.js';
import { repetitions } from '../../helpers/repetitions.js';
import { createTinyModel } from '../../helpers/tiny-model/tiny-model.mjs';

const file = temporaryFolder();
const embedder = {
  dimension: 2,
  fingerprint: 'length, 1',
  embed: async (texts: readonly string[]) => texts.map((text) => [1, text.length]),
};
const models = embedder as unknown as OpenKnowledgeBaseOptions['models'];
let made = 0;

beforeAll(() => createTinyModel({ texts: ['honey'], path: file('tiny.gguf'), dimension: 64 }));

function write(name: string): { config: string; records: string } {
  const records = file(`${name}-records.json`);
  writeFileSync(records, JSON.stringify([{ id: 'first', text: 'Bees dance.' }]));
  const config = file(`${name}.json`);
  const named = { records_file: `${name}-records.json`, index_file: `${name}.index` };
  writeFileSync(config, JSON.stringify({ embedding_model: 'tiny', ...named }));
  return { config, records };
}

async function built(): Promise<{ config: string; records: string }> {
  const paths = write(`kb${made++}`);
  await buildKnowledgeBase(paths.config, { models });
  return paths;
}

const open = (config: string, options: object = {}) => openKnowledgeBase(config, { models, ...options });
const ids = async (kb: KnowledgeBase) => (await kb.list({ limit: 10_000 })).map(({ id }) => id);

const fights = repetitions('FIGHTS', 6, 40);

test(`two processes that change a base in turns, ${fights} batches each: every one is there once, with a version of its own`, async () => {
  const { config } = write(`kb${made++}`);
  await using model = await EmbeddingModel.load(file('tiny.gguf'));
  const own = { models: async () => ({ model }) };
  await buildKnowledgeBase(config, own);
  const fight = (name: string) =>
    runChild('../../knowledge/children/fight.mjs', [config, file('tiny.gguf'), name, String(fights)]);
  const children = await Promise.all([fight('a'), fight('b')]);
  for (const { code, output } of children) expect({ code, output }).toEqual({ code: 0, output: '' });
  const told = children.flatMap(({ messages }) => messages) as {
    acknowledged: [string, number][];
    refused: number;
  }[];
  const acknowledged = told.flatMap(({ acknowledged }) => acknowledged);
  const versions = acknowledged.map(([, version]) => version).sort((a, b) => a - b);
  expect(versions).toEqual(Array.from({ length: 2 * fights }, (_, n) => n + 1));
  const inOrder = [...acknowledged].sort(([, a], [, b]) => a - b).map(([id]) => id);
  await using kb = await openKnowledgeBase(config, own);
  expect(await ids(kb)).toEqual(['first', ...inOrder]);
  expect(kb.version).toBe(2 * fights);
  console.log(JSON.stringify({ batches: inOrder.length, refused: told.map(({ refused }) => refused) }));
}, 600_000);

test('a clock that jumps by years keeps batches, their order and their versions', async () => {
  const { config } = await built();
  const year = 365 * 24 * 3600 * 1000;
  const now = Date.now();
  const clock = vi.spyOn(Date, 'now');
  try {
    await using kb = await open(config, { versions: { count: 20 }, flush: 20 });
    for (const [n, years] of [0, 10, -30, 5, -1, 0].entries()) {
      clock.mockReturnValue(now + years * year);
      await kb.add([{ id: `n${n}`, text: `text ${n}` }]);
    }
    expect(kb.version).toBe(6);
  } finally {
    clock.mockRestore();
  }
  await using kb = await open(config, { versions: { count: 20 } });
  expect(await ids(kb)).toEqual(['first', 'n0', 'n1', 'n2', 'n3', 'n4', 'n5']);
  for (let version = 1; version <= 6; version++) {
    await using past = kb.at(version);
    expect([past.size, await past.has('n5')]).toEqual([version + 1, version === 6]);
  }
  // Of a time, the newest version that was not made later by the clock of then.
  for (const [years, version] of [
    [0, 6],
    [6, 6],
    [-0.5, 5],
    [-2, 3],
    [-29, 3],
  ] as const) {
    const { storage, release } = atVersion(kb, new Date(now + years * year).toISOString());
    expect([years, storage.version]).toEqual([years, version]);
    await release();
  }
  // By age, versions of a time that has not come yet are new, and none before it is older than it is.
  await using aged = await open(config, { versions: { count: 20, age: 2 * year } });
  expect(aged.at(6).size).toBe(7);
});

const megabytes = repetitions('MEGABYTES_OF_A_BATCH', 20, 64);

test(`a batch of ${megabytes} MiB is durable as a whole`, async () => {
  const { config, records } = await built();
  const filler = 'lorem ipsum dolor sit amet '.repeat(2 ** 20 / 27);
  const large = Array.from({ length: megabytes }, (_, n) => ({ id: `l${n}`, text: `unique${n} ${filler}` }));
  {
    await using kb = await open(config);
    expect(await kb.add(large)).toMatchObject({ version: 1, added: megabytes, size: megabytes + 1 });
    expect(statSync(`${records}.changes`).size).toBeGreaterThan(megabytes * (2 ** 20 - 27));
  }
  await using kb = await open(config);
  expect(kb.size).toBe(megabytes + 1);
  const last = large[megabytes - 1];
  expect((await kb.get(last?.id ?? ''))?.text).toBe(last?.text);
  await kb.merge();
  expect(readFileSync(records).includes(`unique${megabytes - 1} `)).toBe(true);
}, 120_000);

const tiny = repetitions('TINY_BATCHES_OF_A_BASE', 500, 20_000);

test(`${tiny} batches of one record are all there, in their order`, async () => {
  const { config } = await built();
  const inFlight = 100;
  {
    await using kb = await open(config, { flush: 1000 });
    for (let begin = 0; begin < tiny; begin += inFlight) {
      const batch = (n: number) => kb.add([{ id: `t${begin + n}`, text: `tiny w${(begin + n) % 1000}` }]);
      await Promise.all(Array.from({ length: inFlight }, (_, n) => batch(n)));
    }
    expect([kb.version, kb.size]).toEqual([tiny, tiny + 1]);
  }
  await using kb = await open(config);
  expect([kb.version, kb.size]).toEqual([tiny, tiny + 1]);
  const last = await kb.list({ offset: tiny - 1, limit: 10 });
  expect(last.map(({ id }) => id)).toEqual([`t${tiny - 2}`, `t${tiny - 1}`]);
  const { hits } = await kb.search({ mode: 'lexical', text: 'w77', topK: 1 });
  expect(hits[0]?.id).toBe('t77');
}, 3_600_000);
