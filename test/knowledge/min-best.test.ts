import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { EmbeddingModel } from '../../lib/index.js';
import { indexFolder, openKnowledgeBase } from '../../src/knowledge/index.js';
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

test('an index of more records states more, and one of two records nothing', async () => {
  await using model = await EmbeddingModel.load(await tinyBert());
  const models = async () => ({ model });
  const stated = async (records: number) => {
    const notes = folder(`${records}`);
    mkdirSync(notes);
    for (let i = 0; i < records; i++) writeFileSync(join(notes, `${i}.txt`), `Note ${i} is about rope.\n`);
    const { config } = await indexFolder({ folder: notes, output: output(`${records}`), models });
    return JSON.parse(readFileSync(config, 'utf8')).search.min_best;
  };
  expect(await stated(2)).toBeUndefined();
  const [few, some] = [await stated(3), await stated(10)];
  for (const mode of ['dense', 'lexical', 'hybrid']) expect(some[mode]).toBeGreaterThan(few[mode]);
});
