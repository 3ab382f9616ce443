import { describe, expect, it } from 'vitest';
import type { KnowledgeSource } from '../../../src/agents/interaction.js';
import { bestRelevance } from '../../../src/agents/nodes/generate/relevance.js';
import type { Knowledge } from '../../../src/protocol/components.js';

const hit = (relevance: number | undefined, text: string, node = 'kb'): Knowledge => ({
  _type: 'knowledge',
  node,
  storage: 'docs',
  id: text,
  text,
  rank: 1,
  score: 1,
  relevance,
});

/** What "red lamp" found in a storage of this many records, where each word is in one of them. */
const source = (size: number): KnowledgeSource => ({
  query: 'red lamp',
  storage: { tokenizer: 'basic', size, documentFrequency: () => 1 },
});
const of = (size: number, ...hits: Knowledge[]) => bestRelevance(hits, new Map([['kb', source(size)]]));

describe('the relevance of the best record', () => {
  it('is the highest that the search estimated, whatever words the record shares', async () => {
    expect(await of(50, hit(0.1, 'red lamp'), hit(0.3, 'else'))).toBe(0.3);
    expect(await of(1000, hit(0.05, 'red lamp'))).toBe(0.05);
    expect(await of(1000, hit(undefined, 'red lamp'))).toBe(0);
    expect(await of(1000)).toBe(0);
  });

  it('is the share of words in a storage of fewer than 50 records, if that is more', async () => {
    expect(await of(49, hit(0.1, 'a red door'))).toBeCloseTo(0.5);
    expect(await of(49, hit(0.7, 'a red door'))).toBe(0.7);
    expect(await of(49, hit(0.1, 'nothing'))).toBe(0.1);
  });

  it('takes each record by the storage that it is from', async () => {
    const sources = new Map([
      ['small', source(10)],
      ['large', source(1000)],
    ]);
    expect(
      await bestRelevance([hit(0.2, 'red lamp', 'large'), hit(0.1, 'red', 'small')], sources),
    ).toBeCloseTo(0.5);
    expect(await bestRelevance([hit(0.2, 'red lamp', 'large'), hit(0.1, 'x', 'small')], sources)).toBe(0.2);
  });
});
