import { writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { EmbeddingModel } from '../../lib/index.js';
import { buildKnowledgeBase, type KnowledgeModel, openKnowledgeBase } from '../../src/knowledge/index.js';
import { temporaryFolder } from '../helpers/folder.js';
import { createTinyModel } from '../helpers/tiny-model/tiny-model.mjs';

const file = temporaryFolder();
const chinese = ['北京大学的图书馆', '上海的天气很好', '我喜欢喝茶'];
const hindi = ['हिन्दी भाषा', 'नमस्ते दुनिया'];
let models: (name: string) => Promise<KnowledgeModel | undefined>;
let written = 0;

beforeAll(async () => {
  await createTinyModel({ texts: ['one two three'], path: file('tiny.gguf'), dimension: 64 });
  const model = await EmbeddingModel.load(file('tiny.gguf'));
  models = async (name) => (name === 'tiny' ? { model } : undefined);
});

function knowledgeBase(texts: readonly string[], bm25_tokenizer: string) {
  const name = `kb${written++}`;
  const records = texts.map((text, i) => ({ id: `r${i}`, text }));
  writeFileSync(file(`${name}-records.json`), JSON.stringify(records));
  const config = { embedding_model: 'tiny', records_file: `${name}-records.json`, bm25_tokenizer };
  writeFileSync(file(`${name}.json`), JSON.stringify({ ...config, bm25_file: `${name}.bm25` }));
  return file(`${name}.json`);
}

async function warningsOf(texts: readonly string[], tokenizer: string): Promise<string[]> {
  const config = knowledgeBase(texts, tokenizer);
  const warned: string[] = [];
  const log = { info() {}, warn: (_: object, message: string) => warned.push(message) };
  await (await openKnowledgeBase(config, { models, log })).close();
  const first = warned.splice(0);
  await (await openKnowledgeBase(config, { models, log })).close(); // from the sidecar
  expect(warned).toEqual(first);
  return warned;
}

describe('a knowledge base whose tokenizer does not suit its texts', () => {
  test.each([chinese, hindi])('says so and names the remedy: %s', async (...texts) => {
    for (const tokenizer of ['basic', 'enhanced']) {
      const [warning, ...others] = await warningsOf(texts, tokenizer);
      expect(warning).toContain('"bm25_tokenizer": "multilingual"');
      expect(others).toEqual([]);
    }
    expect(await warningsOf(texts, 'multilingual')).toEqual([]);
  });

  test('says that most records hold no words', async () => {
    const [warning] = await warningsOf(['!!!', '🎉', 'word'], 'basic');
    expect(warning).toMatch(/2 of 3 records hold no words/);
  });

  test('is told when it is built, too', async () => {
    const warned: string[] = [];
    const log = { info() {}, warn: (_: object, message: string) => warned.push(message) };
    await buildKnowledgeBase(knowledgeBase(chinese, 'basic'), { models, log });
    expect(warned.join()).toContain('multilingual');
  });

  test('one stray record is no reason', async () => {
    expect(await warningsOf(['the first text', 'another text', '北京'], 'basic')).toEqual([]);
  });
});

test('a query without words says so in every mode that asks for words', async () => {
  await using opened = await openKnowledgeBase(knowledgeBase(chinese, 'multilingual'), { models });
  for (const mode of ['lexical', 'hybrid'] as const) {
    expect((await opened.search({ mode, text: '？！' })).plan.lexical).toMatchObject({ tokens: 0, terms: 0 });
  }
  expect((await opened.search({ mode: 'lexical', text: '图书' })).hits.map(({ id }) => id)).toEqual(['r0']);
});
