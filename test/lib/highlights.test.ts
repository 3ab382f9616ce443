import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Storage, tokenize } from '../../lib/index.js';
import { testSeed } from '../helpers/random.js';

/** Letters, marks, invisible characters and separators on which words and their highlights could disagree. */
const pieces = [
  ...[
    'a',
    'b',
    'é',
    'e\u0301',
    'ß',
    'ẞ',
    'İ',
    'ı',
    'K',
    'ﬁ',
    '1',
    '½',
    '²',
    'Σ',
    'ς',
    '𐐀',
    '𝐛',
    'ש',
    'م',
    'ह',
    'ि',
  ],
  ...['\u00ad', '\u034f', '\u061c', '\u200c', '\u200d', '\u200e', '\u2060', '\ufe0f', '\ufeff'],
  ...['\u0323', '\u05b8', '\u064e', '\u20dd'],
  ...[' ', '-', '.', '_', '’', '·', '。', '\u00a0', '\u200b', '\ufffd', '👍🏽', '👩‍👧'],
];
const text = fc
  .array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 14 })
  .map((chosen) => chosen.join(''));

test.each(['basic', 'enhanced', 'multilingual'] as const)(
  'highlights are the words that the tokenizer makes, %s',
  async (tokenizer) => {
    let compared = 0;
    const property = fc.asyncProperty(fc.array(text, { minLength: 8, maxLength: 8 }), async (texts) => {
      const records = texts.map((one, i) => ({ id: String(i), text: one, metadata: {} }));
      await using storage = await Storage.build(records, new Float32Array(texts.length).fill(1), 1, {
        tokenizer,
      });
      const words = new Set(texts.flatMap((one) => tokenize(one, tokenizer)));
      for (const word of [...words].filter((one) => isOneToken(one, tokenizer)).slice(0, 8)) {
        const { hits } = await storage.search({ mode: 'lexical', text: word, topK: 8, highlight: true });
        for (const hit of hits.filter((one) => tokenize(one.text, tokenizer).includes(word))) {
          const marked = (hit.highlights ?? []).map(([begin, end]) => hit.text.slice(begin, end));
          const found = marked.flatMap((part) => tokenize(part, tokenizer));
          expect(found, JSON.stringify([word, hit.text, marked])).toContain(word);
          compared++;
        }
      }
    });
    await fc.assert(property, { seed: testSeed, numRuns: 60 });
    expect(compared).toBeGreaterThan(100);
  },
);

function isOneToken(word: string, tokenizer: 'basic' | 'enhanced' | 'multilingual'): boolean {
  const tokens = tokenize(word, tokenizer);
  return tokens.length === 1 && tokens[0] === word;
}
