import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { EmbeddingModel, type FieldDefinition } from '../../lib/index.js';
import { sampleConfig, sampleRecords } from '../../src/cli/init/sample.js';
import { fileNames } from '../../src/knowledge/folder/place.js';
import { createStorage, indexFolder, openKnowledgeBase } from '../../src/knowledge/index.js';
import { exceededBy, learnLeastRelevance } from '../../src/knowledge/nonsense/least-relevance.js';
import { temporaryFolder } from '../helpers/folder.js';
import { tinyBert } from '../helpers/models.js';

const folder = temporaryFolder();
const output = temporaryFolder();

test('the least relevance of the best hit may differ between modes', async () => {
  await using model = await EmbeddingModel.load(await tinyBert());
  const models = async () => ({ model });
  for (const name of ['lamp', 'ferry', 'bread', 'rope'])
    writeFileSync(folder(`${name}.txt`), `The ${name} is here.\n`);
  const { config } = await indexFolder({ folder: folder(), output: output(), models });
  const hits = async (min_best: unknown) => {
    const written = JSON.parse(readFileSync(config, 'utf8'));
    writeFileSync(config, JSON.stringify({ ...written, search: { mode: 'hybrid', min_best } }));
    await using kb = await openKnowledgeBase(config, { models });
    const found = async (mode: 'dense' | 'lexical' | 'hybrid', minBest?: number) =>
      (await kb.search({ text: 'lamp lighter', mode, ...(minBest !== undefined && { minBest }) })).hits
        .length > 0;
    const asked = await found('dense', 0);
    return {
      dense: await found('dense'),
      lexical: await found('lexical'),
      hybrid: await found('hybrid'),
      asked,
    };
  };
  expect(await hits({ dense: 1, lexical: 0 })).toEqual({
    dense: false,
    lexical: true,
    hybrid: true,
    asked: true,
  });
  expect(await hits({ hybrid: 1 })).toEqual({ dense: true, lexical: true, hybrid: false, asked: true });
  expect(await hits(1)).toEqual({ dense: false, lexical: false, hybrid: false, asked: true });
});

test('a lexical search whose words all stand in a record has found something, in however long a record', async () => {
  await using model = await EmbeddingModel.load(await tinyBert());
  const models = async () => ({ model });
  const notes = folder('long');
  mkdirSync(notes);
  const filler = Array.from({ length: 300 }, (_, i) => `word${i}`).join(' ');
  writeFileSync(
    join(notes, 'long.txt'),
    `The lamp of the lighthouse. ${filler}
`,
  );
  for (const name of ['ferry', 'bread', 'rope'])
    writeFileSync(
      join(notes, `${name}.txt`),
      `The ${name} is here.
`,
    );
  const { config } = await indexFolder({ folder: notes, output: output('long'), models });
  await using kb = await openKnowledgeBase(config, { models });
  const found = async (text: string, minBest?: number) =>
    (await kb.search({ text, mode: 'lexical', ...(minBest !== undefined && { minBest }) })).hits.map(
      ({ id }) => id,
    );
  expect(await found('lamp')).toEqual(['long.txt']);
  expect(await found('lamp lighthouse')).toEqual(['long.txt']);
  // Another word makes it a question that the record answers in part, and that is a matter of degree.
  expect(await found('lamp zeppelin unicorn', 0.9)).toEqual([]);
});

test('limits are learned again when the records are many more or fewer, and not of two records', async () => {
  await using model = await EmbeddingModel.load(await tinyBert());
  const models = async () => ({ model });
  const notes = folder('growing');
  mkdirSync(notes);
  const add = (from: number, to: number) => {
    for (let i = from; i < to; i++) writeFileSync(join(notes, `${i}.txt`), `Note ${i} is about rope.\n`);
  };
  const stated = async () => {
    const { config } = await indexFolder({ folder: notes, output: output('growing'), models });
    const { min_best, min_by_leg } = JSON.parse(readFileSync(config, 'utf8')).search;
    const { learned } = JSON.parse(readFileSync(output('growing', fileNames.facts), 'utf8'));
    expect(learned?.limits).toEqual(min_best && { min_best, min_by_leg });
    return learned?.records;
  };
  add(0, 2);
  expect(await stated()).toBeUndefined();
  add(2, 20);
  expect(await stated()).toBe(20);
  add(20, 22);
  expect(await stated()).toBe(20);
  add(22, 60);
  expect(await stated()).toBe(60);
  for (let i = 2; i < 60; i++) rmSync(join(notes, `${i}.txt`));
  expect(await stated()).toBeUndefined();
});

test('an index without learned limits, of an earlier version, learns them though nothing has changed', async () => {
  await using model = await EmbeddingModel.load(await tinyBert());
  const models = async () => ({ model });
  const notes = folder('earlier');
  mkdirSync(notes);
  for (let i = 0; i < 5; i++) writeFileSync(join(notes, `${i}.txt`), `Note ${i} is about rope.\n`);
  const index = () => indexFolder({ folder: notes, output: output('earlier'), models });
  const { config } = await index();
  const first = readFileSync(config, 'utf8');
  const facts = output('earlier', fileNames.facts);
  const { learned, search, ...rest } = JSON.parse(readFileSync(facts, 'utf8'));
  const { min_by_leg, ...earlier } = { ...search, min_best: { dense: 0.003, lexical: 0.05, hybrid: 0.008 } };
  writeFileSync(facts, JSON.stringify({ ...rest, search: earlier }));
  writeFileSync(config, JSON.stringify({ ...JSON.parse(first), search: earlier }));
  expect(await index()).toMatchObject({ read: 0, embedded: 0 });
  expect(readFileSync(config, 'utf8')).toBe(first);
});

test('limits of the user stay, and then no other ones are written', async () => {
  await using model = await EmbeddingModel.load(await tinyBert());
  const models = async () => ({ model });
  const notes = folder('own');
  mkdirSync(notes);
  for (let i = 0; i < 5; i++) writeFileSync(join(notes, `${i}.txt`), `Note ${i} is about rope.\n`);
  const index = async () => (await indexFolder({ folder: notes, output: output('own'), models })).config;
  const searchIn = (config: string) => JSON.parse(readFileSync(config, 'utf8')).search;
  const config = await index();
  const { min_by_leg } = searchIn(config);
  const write = (change: object) =>
    writeFileSync(
      config,
      JSON.stringify({
        ...JSON.parse(readFileSync(config, 'utf8')),
        search: { ...searchIn(config), ...change },
      }),
    );
  write({ min_by_leg: { dense: 0.5, lexical: 0.5 } });
  expect(searchIn(await index()).min_by_leg).toEqual({ dense: 0.5, lexical: 0.5 });
  write({ min_by_leg, min_best: 0.2 });
  expect(searchIn(await index())).toMatchObject({ min_best: 0.2 });
  expect(searchIn(config).min_by_leg).toBeUndefined();
});

test('a hybrid search finds something if a leg alone finds it relevant enough', async () => {
  await using model = await EmbeddingModel.load(await tinyBert());
  const records = ['the lamp of the lighthouse', 'the ferry', 'bread and salt', 'a rope'].map((text, at) => ({
    id: `${at}`,
    text,
  }));
  await using storage = await createStorage({ records, model });
  const text = 'lamp lighter';
  const best = async (mode: 'dense' | 'lexical') =>
    Math.max(...(await storage.search({ text, mode, topK: 4 })).hits.map(({ relevance }) => relevance));
  const [dense, lexical] = [await best('dense'), await best('lexical')];
  const found = async (minByLeg: { dense?: number; lexical?: number }) =>
    (await storage.search({ text, mode: 'hybrid', topK: 4, minByLeg })).hits.length > 0;
  const [less, more] = [(value: number) => value - 1e-9, (value: number) => Math.min(1, value + 1e-9)];
  expect(await found({ dense: more(dense), lexical: more(lexical) })).toBe(false);
  expect(await found({ dense: less(dense), lexical: 1 })).toBe(true);
  expect(await found({ dense: 1, lexical: less(lexical) })).toBe(true);
  expect(await found({ dense: more(dense) })).toBe(false);
  expect(await found({ lexical: less(lexical) })).toBe(true);
  await expect(storage.search({ text, mode: 'dense', minByLeg: { dense: 0 } })).rejects.toThrow(/minByLeg/);
  await expect(found({ dense: 2 })).rejects.toThrow(/minByLeg\.dense/);
});

test('a limit is what a share of the tail exceeds, and never above what was seen', () => {
  // 1,000 values of an exponential distribution: its quantiles are known.
  const sorted = Array.from({ length: 1000 }, (_, i) => -Math.log(1 - (i + 0.5) / 1000));
  for (const share of [0.05, 0.02, 0.005]) expect(exceededBy(share, sorted)).toBeCloseTo(-Math.log(share), 1);
  expect(exceededBy(1e-9, sorted)).toBe(sorted.at(-1));
  expect(exceededBy(0.005, [-3, -3, -3])).toBe(-3);
  expect(exceededBy(0.005, [-13, -13, -13, -13, -13, -13, -13, -13, -13, -1])).toBe(-1);
});

test('the limits of the sample are those that are learned from it', async ({ skip }) => {
  const file = join('data', 'models', 'all-MiniLM-L6-v2.gguf');
  if (!existsSync(file)) return skip(`no ${file}`);
  await using model = await EmbeddingModel.load(file);
  const records = JSON.parse(readFileSync(sampleRecords, 'utf8'));
  const { fields, search } = sampleConfig;
  const base = { fields: fields as FieldDefinition[], tokenizer: 'multilingual' } as const;
  await using storage = await createStorage({ records, model, ...base });
  const learned = await learnLeastRelevance(storage);
  for (const name of ['min_best', 'min_by_leg'] as const)
    for (const leg of ['dense', 'lexical'] as const)
      expect((search as unknown as typeof learned)[name][leg]).toBeCloseTo(learned[name][leg] as number, 2);
});
