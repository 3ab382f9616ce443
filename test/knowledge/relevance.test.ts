/**
 * Relevance tells questions that a storage answers from those about absent subjects, over the sentences and queries of
 * test/helpers/pairs.jsonl and the models in the package.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EmbeddingModel, type SearchMode } from '../../lib/index.js';
import { createStorage, type SearchableStorage } from '../../src/knowledge/index.js';

const root = join(import.meta.dirname, '../..');
const pairs = readFileSync(join(root, 'test/helpers/pairs.jsonl'), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as { kind: string; query: string; text: string });
const modes = ['lexical', 'dense', 'hybrid'] as const;
const answered = pairs.filter(({ kind }) => kind === 'morphology');

/** None of the sentences is about any of these. */
const absent = [
  'capital requirements of reinsurance treaties',
  'which enzyme unwinds the double helix before replication',
  'orbital resonance of the moons of jupiter',
  'supreme court ruling on antitrust exemptions',
  'quantum chromodynamics lattice spacing',
  'how do kubernetes admission webhooks time out',
  'blockchain validator slashing penalties',
  'ancient sumerian cuneiform tax tablets',
  'chess endgame opposite coloured bishops',
  'semiconductor lithography with extreme ultraviolet',
  'zxqv blorf gribbleton',
  'qwx lmno vvuu xkcd',
];

/** They use words of the sentences, none of which answers them. */
const unanswerable = [
  'who invented the bluetooth speaker',
  'which opera was composed about a certificate',
  'how many calories does a battery have',
  'which king signed the invoice in 1066',
  'what is the boiling point of a calendar',
  'does the printer enjoy jazz music',
  'who won the subscription in the olympic games of 1912',
  'what language do customers speak in Norway',
  'how tall was the colleague of Napoleon',
  'which planet has the largest password',
  'what do sensors eat in the rain forest',
  'who painted the photo above the altar in Florence',
];

async function firstRelevance(searched: SearchableStorage, text: string, mode: SearchMode): Promise<number> {
  const { hits } = await searched.search({ text, mode, topK: 1 });
  return hits[0]?.relevance ?? 0;
}

async function relevances(searched: SearchableStorage, texts: readonly string[], mode: SearchMode) {
  const found: number[] = [];
  for (const text of texts) found.push(await firstRelevance(searched, text, mode));
  return found;
}

/** Probability that a value of the first list is above one of the second. */
function auroc(positive: readonly number[], negative: readonly number[]): number {
  const above = positive.flatMap((a) => negative.map((b) => (a > b ? 1 : a === b ? 0.5 : 0)));
  return above.reduce((sum: number, one) => sum + one, 0) / above.length;
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Least AUROC of answers in other words and absent subjects; lorekeep-mini knows half of the synonyms. */
const otherWords: Record<string, { dense: number; hybrid: number }> = {
  'lorekeep-mini': { dense: 0.75, hybrid: 0.5 },
  'all-MiniLM-L6-v2': { dense: 0.9, hybrid: 0.8 },
};

describe.each(Object.keys(otherWords))('the relevance of the first hit, %s', (name) => {
  let model: EmbeddingModel;
  let storage: SearchableStorage;
  beforeAll(async () => {
    model = await EmbeddingModel.load(join(root, 'data/models', `${name}.gguf`), { pooling: 'mean' });
    storage = await createStorage({ strings: pairs.map(({ text }) => text), model, tokenizer: 'enhanced' });
  });
  afterAll(async () => {
    await storage.close();
    await model.close();
  });

  test.each(modes)('tells absent subjects from present ones, %s', async (mode) => {
    const present = await relevances(
      storage,
      answered.map(({ query }) => query),
      mode,
    );
    const missing = await relevances(storage, absent, mode);
    expect(auroc(present, missing)).toBeGreaterThanOrEqual(0.85);
    expect(mean(missing)).toBeLessThan(0.25);
  });

  test.each(modes)(
    'tells unanswerable questions about present subjects from answered ones, %s',
    async (mode) => {
      const present = await relevances(
        storage,
        answered.map(({ query }) => query),
        mode,
      );
      const missing = await relevances(storage, unanswerable, mode);
      expect(auroc(present, missing)).toBeGreaterThanOrEqual(mode === 'lexical' ? 0.75 : 0.9);
      expect(mean(missing)).toBeLessThan(0.5 * mean(present));
    },
  );

  test.each(['dense', 'hybrid'] as const)(
    'tells answers in other words from absent subjects, %s',
    async (mode) => {
      const synonyms = pairs.filter(({ kind }) => kind === 'synonym');
      const answers: number[] = [];
      for (const { query, text } of synonyms) {
        const { hits } = await storage.search({ text: query, mode, topK: 10 });
        answers.push(hits.find((hit) => hit.text === text)?.relevance ?? 0);
      }
      const missing = await relevances(storage, absent, mode);
      expect(auroc(answers, missing)).toBeGreaterThanOrEqual(otherWords[name]?.[mode] ?? 1);
    },
  );

  test('is low for nonsense in a storage of few records about one subject', async () => {
    await using few = await createStorage({ strings: answered.slice(0, 8).map(({ text }) => text), model });
    for (const text of ['zxqv blorf gribbleton', 'flarn the wibbled snork', 'asdf jkl qwerty uiop']) {
      for (const mode of modes) expect(await firstRelevance(few, text, mode)).toBeLessThan(0.2);
    }
    const asked = answered.slice(0, 8).map(({ query }) => query);
    expect(mean(await relevances(few, asked, 'hybrid'))).toBeGreaterThan(0.2);
  });

  test('is about the same in a storage that has every record twice', async () => {
    const texts = pairs.flatMap(({ text }) => [text, text]);
    await using twice = await createStorage({ strings: texts, model, tokenizer: 'enhanced' });
    const queries = answered.map(({ query }) => query);
    const once = mean(await relevances(storage, queries, 'hybrid'));
    expect(Math.abs(mean(await relevances(twice, queries, 'hybrid')) - once)).toBeLessThan(0.1 * once);
  });

  test('does not depend on the number of hits asked for', async () => {
    for (const { query: text } of answered.slice(0, 10)) {
      const { hits } = await storage.search({ text, topK: 20 });
      expect(await firstRelevance(storage, text, 'hybrid')).toBeCloseTo(hits[0]?.relevance ?? 0, 6);
    }
  });

  test('sinks if the record that answers is not there', async () => {
    const texts = pairs.filter((pair) => !answered.includes(pair)).map(({ text }) => text);
    await using without = await createStorage({ strings: texts, model, tokenizer: 'enhanced' });
    const queries = answered.map(({ query }) => query);
    const present = await relevances(storage, queries, 'hybrid');
    const removed = await relevances(without, queries, 'hybrid');
    expect(auroc(present, removed)).toBeGreaterThanOrEqual(0.85);
  });

  test('is the same for both fusions, and minScore keeps what is above it', async () => {
    for (const { query: text } of answered.slice(0, 10)) {
      const { hits } = await storage.search({ text, topK: 10, fusion: 'scores' });
      const byRanks = await storage.search({ text, topK: 50, fusion: 'rrf' });
      const ranked = new Map(byRanks.hits.map(({ id, relevance }) => [id, relevance]));
      const first = hits[0];
      expect(ranked.get(first?.id ?? '')).toBeCloseTo(first?.relevance ?? 0, 6);
      const kept = await storage.search({ text, topK: 10, fusion: 'scores', minScore: 0.1 });
      expect(kept.hits.map(({ id }) => id)).toEqual(
        hits.filter(({ relevance }) => relevance >= 0.1).map(({ id }) => id),
      );
    }
  });
});
