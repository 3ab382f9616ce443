import { readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import { EmbeddingModel, inspectFile, Records, VectorIndex } from '../../lib/index.js';
import { buildKnowledgeBase, type KnowledgeModel, openKnowledgeBase } from '../../src/knowledge/index.js';
import { rejection } from '../helpers/errors.js';
import { temporaryFolder } from '../helpers/folder.js';
import { createTinyModel } from '../helpers/tiny-model/tiny-model.mjs';

const file = temporaryFolder();
const records = [
  {
    id: 'bees',
    text: 'Honey bees dance in the hive',
    metadata: { year: 2001, tags: ['b', 'a'], big: 2 ** 53 },
  },
  { id: 'ice', text: 'Glaciers grind valleys', metadata: { year: 2010, wet: true, kind: 'x' } },
  { id: 'bread', text: 'A sourdough starter is flour and water', metadata: { tags: [] } },
];
const fields = [
  { name: 'year', type: 'int', optional: true },
  { name: 'big', type: 'int', default: 7 },
  { name: 'wet', type: 'bool', default: false },
  { name: 'kind', type: 'string', optional: true },
  { name: 'tags', type: 'set<string>', optional: true },
];
let model: EmbeddingModel;
let models: (name: string) => Promise<KnowledgeModel | undefined>;
let made = 0;

beforeAll(async () => {
  await createTinyModel({ texts: records.map(({ text }) => text), path: file('tiny.gguf'), dimension: 64 });
  model = await EmbeddingModel.load(file('tiny.gguf'));
  models = async () => ({ model });
});

async function built(config: object = {}) {
  const name = `kb${made++}`;
  const paths = {
    config: file(`${name}.json`),
    records: file(`${name}-records.json`),
    index: file(`${name}.index`),
  };
  const content = {
    embedding_model: 'tiny',
    records_file: `${name}-records.json`,
    index_file: `${name}.index`,
    fields,
    ...config,
  };
  const configure = (more: object = {}) =>
    writeFileSync(paths.config, JSON.stringify({ ...content, ...more }));
  configure();
  write(paths.records, records);
  utimesSync(paths.records, 1_000_000, 1_000_000);
  await buildKnowledgeBase(paths.config, { models });
  return { ...paths, configure };
}

const write = (path: string, content: unknown) => writeFileSync(path, JSON.stringify(content));

/** Opens, and gives all hits of a search and why the records file was read, if it was. */
async function opened(config: string) {
  const reasons: string[] = [];
  const log = {
    info: (facts: object, message: string) => {
      if (message === 'records file read') reasons.push((facts as { reason: string }).reason);
    },
    warn() {},
  };
  await using kb = await openKnowledgeBase(config, { models, log });
  const { hits } = await kb.search({ text: 'glaciers', topK: 3 });
  return { reasons, hits };
}

test('a built knowledge base opens without reading its records, with the same hits and metadata', async () => {
  const kb = await built();
  const fromIndex = await opened(kb.config);
  expect(fromIndex.reasons).toEqual([]);
  expect(fromIndex.hits.map(({ id }) => id).sort()).toEqual(['bees', 'bread', 'ice']);
  expect(fromIndex.hits.find(({ id }) => id === 'bees')?.metadata).toEqual({
    year: 2001,
    big: 2n ** 53n,
    wet: false,
    tags: ['a', 'b'],
  });
  await using read = await Records.read(kb.records, { fields: fields as never });
  await using carried = await Records.fromIndexFile(kb.index, kb.records, { fields: fields as never }).then(
    (found) => (found instanceof Records ? found : expect.fail(found.reason)),
  );
  expect([carried.size, carried.fingerprint]).toEqual([read.size, read.fingerprint]);
  expect(await inspectFile(kb.index)).toMatchObject({
    rows: 3,
    recordsFileBytes: readFileSync(kb.records).length,
    textsFingerprint: read.fingerprint,
  });
});

test('a copy of the records with another time is the same; other content is read, and says so', async () => {
  const kb = await built();
  utimesSync(kb.records, 2_000_000, 2_000_000);
  expect((await opened(kb.config)).reasons).toEqual([]);
  write(
    kb.records,
    records.map((record) => (record.id === 'ice' ? { ...record, metadata: { year: 2011 } } : record)),
  );
  const changed = await opened(kb.config);
  expect(changed.reasons).toEqual(['the records file has changed since the index file was built']);
  expect(changed.hits.find(({ id }) => id === 'ice')?.metadata).toMatchObject({ year: 2011 });
  write(kb.records, [{ id: 'bees', text: 'Other words' }, ...records.slice(1)]);
  const edited = await opened(kb.config);
  expect(edited.hits.map(({ text }) => text)).toContain('Other words');
});

test('changed fields are read from the records again, and searched rightly', async () => {
  const kb = await built();
  kb.configure({ fields: [{ name: 'year', type: 'float', default: 1.5 }] });
  const { reasons, hits } = await opened(kb.config);
  expect(reasons).toEqual(["the index file's metadata were read under other fields"]);
  expect(hits.find(({ id }) => id === 'bread')?.metadata).toEqual({ year: 1.5 });
});

test('a storage that is open keeps its texts when the records file is rewritten in place', async () => {
  const kb = await built();
  await using open = await openKnowledgeBase(kb.config, { models });
  writeFileSync(kb.records, Buffer.alloc(readFileSync(kb.records).length, 'x'));
  const { hits } = await open.search({ text: 'glaciers', topK: 3 });
  expect(hits.map(({ text }) => text).sort()).toEqual(records.map(({ text }) => text).sort());
  rmSync(kb.records);
  await rejection(openKnowledgeBase(kb.config, { models }), 'NOT_FOUND');
});

test('a flipped bit in any section of the index file is CORRUPT and names the file', async () => {
  const kb = await built();
  const { sections } = await inspectFile(kb.index);
  const whole = readFileSync(kb.index);
  for (const section of sections.filter(({ bytes }) => bytes > 0)) {
    const damaged = Buffer.from(whole);
    const at = section.offset + (section.bytes >> 1);
    damaged[at] = (damaged[at] as number) ^ 4;
    writeFileSync(kb.index, damaged);
    const error = await rejection(openKnowledgeBase(kb.config, { models }), 'CORRUPT');
    expect(error.message, section.name).toContain(kb.index);
  }
  for (const size of [0, 1, 47, 48, 400, whole.length - 1]) {
    writeFileSync(kb.index, whole.subarray(0, size));
    await expect(openKnowledgeBase(kb.config, { models }), String(size)).rejects.toMatchObject({
      code: expect.stringMatching(/CORRUPT|DIMENSION_MISMATCH/),
    });
  }
});

test('an index saved without records opens by reading them', async () => {
  const kb = await built();
  const fingerprint = (await inspectFile(kb.index)).fingerprint ?? '';
  const index = await VectorIndex.load(kb.index, { dimension: 64, fingerprint });
  await index.save(kb.index, { fingerprint });
  await index.close();
  expect((await opened(kb.config)).reasons).toEqual(['the index file does not carry the records']);
});
