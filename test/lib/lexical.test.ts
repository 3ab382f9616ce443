import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type FieldDefinition,
  type LexicalOptions,
  Storage,
  type StorageRecord,
  tokenize,
} from '../../lib/index.js';
import { textToEmbed } from '../../lib/internal.js';
import { rejection } from '../helpers/errors.js';

const fields: FieldDefinition[] = [
  { name: 'title', type: 'string', optional: true },
  { name: 'year', type: 'int', default: 2000 },
];
const records: StorageRecord[] = [
  { id: 'keeper', text: 'The keeper lights the old lamp at night', metadata: { title: 'The lighthouse' } },
  { id: 'ship', text: 'A ship sees the lamp, and the old keeper sees the ship' },
  { id: 'shop', text: 'The lampmaker sells oil in an old shop', metadata: { title: 'Lamp oil', year: 2010 } },
  { id: 'gull', text: 'A gull sleeps', metadata: { year: 2020 } },
];
let storage: Storage;

beforeAll(async () => {
  const vectors = new Float32Array([1, 0, 0, /**/ 0.9, 0.1, 0, /**/ 0.2, 0.9, 0, /**/ 0, 0, 1]);
  storage = await Storage.build(records, vectors, 3, { fields, tokenizer: 'basic' });
});
afterAll(() => storage.close());

const extended: LexicalOptions = { querySyntax: 'extended' };

async function found(text: string, lexical: LexicalOptions, filter?: object): Promise<string[]> {
  const { hits } = await storage.search({ mode: 'lexical', text, lexical, filter: filter as never });
  return hits.map(({ id }) => id).sort();
}

describe('extended syntax', () => {
  test.each<[string, string[]]>([
    ['lamp', ['keeper', 'ship']],
    ['lamp*', ['keeper', 'ship', 'shop']],
    ['"old lamp"', ['keeper']],
    ['"OLD, lamp"', ['keeper']],
    ['"old keeper" lamp', ['ship']],
    ['old +lamp', ['keeper', 'ship']],
    ['old -lamp', ['shop']],
    ['old -lamp*', []],
    ['old -"old keeper"', ['keeper', 'shop']],
    ['+old +keeper -ship', ['keeper']],
    ['-old', []],
    ['+nothing old', []],
    ['"old" "keeper"', ['keeper', 'ship']],
    ['gull +"', ['gull']],
    ['* + - ""', []],
  ])('%s', async (text, ids) => {
    expect(await found(text, extended)).toEqual(ids);
  });

  test('with a filter', async () => {
    expect(await found('lamp*', extended, { year: { '>': 2000 } })).toEqual(['shop']);
    expect(await found('"old lamp"', extended, { year: { '>': 2000 } })).toEqual([]);
  });

  test('restricts both legs of a hybrid search', async () => {
    const vector = new Float32Array([1, 0, 0]);
    const search = async (text: string, filter?: object) => {
      const { hits, plan } = await storage.search({
        mode: 'hybrid',
        vector,
        text,
        lexical: extended,
        filter: filter as never,
      });
      return { ids: hits.map(({ id }) => id).sort(), plan };
    };
    expect((await search('old')).ids).toEqual(['gull', 'keeper', 'ship', 'shop']);
    expect((await search('old -"old keeper"')).ids).toEqual(['gull', 'keeper', 'shop']);
    expect((await search('+lamp')).ids).toEqual(['keeper', 'ship']);
    expect((await search('-lamp', { year: { '<': 2015 } })).ids).toEqual(['shop']);
    expect((await search('+lamp', { year: { '<': 2015 } })).plan.dense).toMatchObject({ path: 'exact' });
  });

  test('is off by default: operators are no words', async () => {
    const plain = await storage.search({ mode: 'lexical', text: '"old lamp" -ship' });
    const words = await storage.search({ mode: 'lexical', text: 'old lamp ship', lexical: {} });
    expect(plain.hits).toEqual(words.hits);
    const same = await storage.search({ mode: 'lexical', text: 'old lamp ship', lexical: extended });
    expect(same.hits).toEqual(words.hits);
    expect(same.plan.lexical).toEqual({ tokens: 3, terms: 3, scored: 3 });
  });

  test('is not seen by an embedding model', () => {
    const text = '+sea -lamp "the keeper" bo*';
    expect(textToEmbed(text, extended)).toBe('sea the keeper bo');
    expect(textToEmbed(text, {})).toBe(text);
  });
});

describe('options of the lexical leg', () => {
  test('fuzziness finds words one edit away', async () => {
    expect(await found('lammp kepeer', {})).toEqual([]);
    expect(await found('lammp', { fuzziness: 1 })).toEqual(['keeper', 'ship']);
    expect(await found('kepeer', { fuzziness: 1 })).toEqual(['keeper', 'ship']);
    expect(await found('gul', { fuzziness: 1 })).toEqual([]); // too short
    expect(await found('+gullss', { fuzziness: 1, ...extended })).toEqual([]); // two edits
  });

  test('boosts add the words of string fields', async () => {
    expect(await found('lighthouse', {})).toEqual([]);
    expect(await found('lighthouse', { boosts: { title: 2 } })).toEqual(['keeper']);
    expect(await found('+oil', { ...extended, boosts: { title: 2 } })).toEqual(['shop']);
    expect(await found('"lamp oil"', { ...extended, boosts: { title: 2 } })).toEqual(['shop']);
    expect(await found('lightho*', { ...extended, boosts: { title: 2 } })).toEqual(['keeper']);
    const score = async (boost: number) =>
      (await storage.search({ mode: 'lexical', text: 'oil', lexical: { boosts: { title: boost } } })).hits[0]
        ?.score ?? 0;
    const text = (await storage.search({ mode: 'lexical', text: 'oil' })).hits[0]?.score ?? 0;
    expect((await score(4)) - text).toBeCloseTo(2 * ((await score(2)) - text), 4);
  });

  test('stopwords of the query are ignored', async () => {
    expect(await found('the gull', {})).toEqual(['gull', 'keeper', 'ship', 'shop']);
    expect(await found('the gull', { stopwords: ['The'] })).toEqual(['gull']);
    expect(await found('"the ship"', { ...extended, stopwords: ['the'] })).toEqual(['ship']);
  });

  test('synonyms count as one word', async () => {
    expect(await found('bird', { synonyms: [['gull', 'bird']] })).toEqual(['gull']);
    const one = await storage.search({ mode: 'lexical', text: 'gull' });
    const both = await storage.search({
      mode: 'lexical',
      text: 'bird',
      lexical: { synonyms: [['bird', 'gull']] },
    });
    expect(both.hits.map(({ id, score }) => [id, score])).toEqual(
      one.hits.map(({ id, score }) => [id, score]),
    );
  });

  test.each<[unknown, RegExp]>([
    [{ querySyntax: 'regex' }, /lexical\.querySyntax: one of words, extended/],
    [{ fuzziness: 2 }, /lexical\.fuzziness/],
    [{ boosts: { title: 0 } }, /lexical\.boosts\.title: a number above 0/],
    [{ boosts: { titel: 1 } }, /lexical\.boosts: "titel" is not a field.*"title"/],
    [{ boosts: { year: 1 } }, /lexical\.boosts: "year" is a field of type int/],
    [{ stopwords: 'the' }, /lexical\.stopwords: an array of strings/],
    [{ stopwords: [1] }, /lexical\.stopwords/],
    [{ synonyms: ['a', 'b'] }, /lexical\.synonyms/],
    [{ synonyms: [['new york', 'ny']] }, /lexical\.synonyms: "new york" is 2 words/],
    [{ synonyms: [Array(10_001).fill('a')] }, /at most 10000 words/],
    [7, /lexical: an object/],
  ])('%j is refused', async (lexical, message) => {
    const search = storage.search({ mode: 'lexical', text: 'lamp', lexical: lexical as LexicalOptions });
    const error = await rejection(search, 'INVALID_ARGUMENT');
    expect(error.message).toMatch(message);
    expect(error.detail.field).toMatch(/^lexical/);
  });

  test('have no effect in dense mode, and are refused', async () => {
    const dense = storage.search({ vector: new Float32Array(3), lexical: extended });
    expect((await rejection(dense, 'INVALID_ARGUMENT')).detail.field).toBe('lexical');
  });

  test('a query has at most 1,024 clauses', async () => {
    const error = await rejection(
      storage.search({ mode: 'lexical', text: 'a '.repeat(1025), lexical: extended }),
      'INVALID_ARGUMENT',
    );
    expect(error.detail.field).toBe('text');
  });
});

describe('highlights', () => {
  test.each(['basic', 'enhanced', 'multilingual'] as const)(
    'mark every character that is a word to the tokenizer: %s',
    async (tokenizer) => {
      const width = 256;
      const texts = Array.from({ length: 0x10000 / width }, (_, block) =>
        Array.from({ length: width }, (_, i) => String.fromCodePoint(block * width + i)).join(' ; '),
      ).filter((text) => tokenize(text, tokenizer).length > 0);
      await using characters = await Storage.build(
        texts.map((text, i) => ({ id: String(i), text })),
        new Float32Array(texts.length).fill(1),
        1,
        { tokenizer },
      );
      for (const [i, text] of texts.entries()) {
        const { hits } = await characters.search({ mode: 'lexical', text, highlight: true, topK: 1000 });
        const hit = hits.find(({ id }) => id === String(i));
        const words = new Set(tokenize(text, tokenizer));
        const unmarked = (hit?.highlights ?? []).reduceRight(
          (rest, [begin, end]) => `${rest.slice(0, begin)} ${rest.slice(end)}`,
          hit?.text ?? text,
        );
        expect(tokenize(unmarked, tokenizer).filter((word) => words.has(word))).toEqual([]);
      }
    },
  );

  test('are the words of the text that the query matches', async () => {
    const { hits } = await storage.search({ mode: 'lexical', text: 'old lamp', highlight: true, topK: 1 });
    const [hit] = hits;
    expect(hit?.highlights?.map(([begin, end]) => hit.text.slice(begin, end))).toEqual(['old', 'lamp']);
    expect(hit?.snippet).toEqual([
      { text: 'The keeper lights the ', match: false },
      { text: 'old', match: true },
      { text: ' ', match: false },
      { text: 'lamp', match: true },
      { text: ' at night', match: false },
    ]);
  });

  test('come in hybrid and dense mode too, where a text is given', async () => {
    const vector = new Float32Array([0, 0, 1]);
    for (const mode of ['hybrid', 'dense'] as const) {
      const { hits } = await storage.search({ mode, vector, text: 'gull', highlight: true, topK: 1 });
      expect(hits[0]?.highlights).toEqual([[2, 6]]);
    }
    const error = await rejection(storage.search({ vector, highlight: true }), 'INVALID_ARGUMENT');
    expect(error.detail.field).toBe('highlight');
  });

  test('of a long text are a part of it, between words, with most of the query', async () => {
    const filler = 'wind and water '.repeat(40);
    const text = `${filler}lamp ${filler}the keeper of the lamp 😀 ${filler}`;
    await using long = await Storage.build([{ id: 'a', text }], new Float32Array([1]), 1);
    const { hits } = await long.search({ mode: 'lexical', text: 'lamp keeper', highlight: true });
    const snippet = hits[0]?.snippet ?? [];
    const shown = snippet.map((part) => part.text).join('');
    expect(shown.length).toBeLessThanOrEqual(242);
    expect(shown).toMatch(/^…\S.*\S…$/s);
    expect(text).toContain(shown.slice(1, -1));
    expect(snippet.filter(({ match }) => match).map((part) => part.text)).toEqual(['keeper', 'lamp']);
  });
});
