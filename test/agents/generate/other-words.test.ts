/** Questions in other words than the record that answers them count as answered: test/helpers/pairs.jsonl, MiniLM. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EmbeddingModel } from '../../../lib/index.js';
import { bestRelevance } from '../../../src/agents/nodes/generate/relevance.js';
import { createStorage, type SearchableStorage } from '../../../src/knowledge/index.js';
import type { Knowledge } from '../../../src/protocol/components.js';

const root = join(import.meta.dirname, '../../..');
const pairs = readFileSync(join(root, 'test/helpers/pairs.jsonl'), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as { kind: string; query: string; text: string });
const inOtherWords = pairs.filter(({ kind }) => kind === 'synonym').map(({ query }) => query);

/** The sentences are about none of these. */
const absent = [
  'capital requirements of reinsurance treaties',
  'which enzyme unwinds the double helix before replication',
  'orbital resonance of the moons of jupiter',
  'quantum chromodynamics lattice spacing',
  'ancient sumerian cuneiform tax tablets',
  'chess endgame opposite coloured bishops',
  'semiconductor lithography with extreme ultraviolet',
  'zxqv blorf gribbleton',
  'qwx lmno vvuu xkcd',
];
/** The default of `min_relevance`. */
const least = 0.5;

describe('the relevance of the best record, with MiniLM', () => {
  let model: EmbeddingModel;
  let storage: SearchableStorage;
  beforeAll(async () => {
    model = await EmbeddingModel.load(join(root, 'data/models/all-MiniLM-L6-v2.gguf'), { pooling: 'mean' });
    const strings = [...new Set(pairs.map(({ text }) => text))];
    storage = await createStorage({ strings, model, tokenizer: 'enhanced' });
  });
  afterAll(async () => {
    await storage.close();
    await model.close();
  });

  async function shareAbove(texts: readonly string[], mode: 'dense' | 'hybrid'): Promise<number> {
    let above = 0;
    for (const text of texts) {
      const { hits, cosineFloor } = await storage.search({ text, mode, topK: 5 });
      const knowledge = hits.map(
        ({ id, text: found, rank, score, relevance, distance }): Knowledge => ({
          _type: 'knowledge',
          node: 'kb',
          storage: 'docs',
          ...{ id, text: found, rank, score, relevance, distance },
        }),
      );
      const source = { query: text, storage: storage.storage, cosineFloor };
      if ((await bestRelevance(knowledge, new Map([['kb', source]]))) >= least) above++;
    }
    return above / texts.length;
  }

  it.each(['dense', 'hybrid'] as const)(
    'is high for questions in other words, and low for absent subjects, %s',
    async (mode) => {
      expect(inOtherWords.length).toBeGreaterThan(50);
      expect(await shareAbove(inOtherWords, mode)).toBeGreaterThan(0.8);
      expect(await shareAbove(absent, mode)).toBeLessThan(0.2);
    },
  );
});
