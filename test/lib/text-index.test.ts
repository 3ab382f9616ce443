import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { TextIndex, tokenize } from '../../lib/index.js';
import { rejection } from '../helpers/errors.js';
import { temporaryFolder } from '../helpers/folder.js';

const folder = temporaryFolder();
const texts = [
  'The quick brown fox jumps over the lazy dog.',
  'A lighthouse keeper counts the ships that pass in the night.',
  'The dog sleeps; the ships sail on.',
  '',
  'STRASSE und Straße are one word.',
];

describe('tokenize', () => {
  test.each([
    ['Straße STRASSE', ['strasse', 'strasse']],
    ['ΟΔΟΣ οδός ὁδός', ['οδοσ', 'οδόσ', 'ὁδόσ']],
    ['don’t re-use 3.14', ['don', 't', 're', 'use', '3', '14']],
    ['Привет, МИР!', ['привет', 'мир']],
    ['日本語 テスト', ['日本語', 'テスト']],
    ['🙂🙂', []],
    ['a\u0000b \ud800c', ['a', 'b', 'c']],
  ])('basic: %j', (text, terms) => {
    expect(tokenize(text, 'basic')).toEqual(terms);
  });

  test('multilingual makes pairs where words are not spaced, and folds what is not told apart', () => {
    const words = (text: string) => tokenize(text, 'multilingual').join(' ');
    expect(words('北京大学')).toBe('北京 京大 大学');
    expect(words('iPhone手机2024年')).toBe('iphone 手机 2024 年');
    expect(words('東京タワー、茶')).toBe('東京 京タ タワ ワー 茶');
    expect(words('한국어')).toBe('한국 국어');
    expect(words('한국'.normalize('NFD'))).toBe('한국');
    expect(words('น้องชาย')).toBe('น้อ อง งช ชา าย');
    expect(words('हिन्दी भाषा')).toBe('हिन्दी भाषा');
    expect(words('ﬁn Ｆｕｌｌ ｶﾞ 3² ٣٤ Windows™')).toBe('fin full ガ 32 34 windows');
    expect(words('الأَحْمَد كتـاب')).toBe('الاحمد كتاب');
    expect(words('שָׁלוֹם')).toBe('שלום');
    expect(words('Cafe\u0301 İstanbul')).toBe('café istanbul');
  });

  test('enhanced, the default, drops English stopwords and strips suffixes', () => {
    expect(tokenize('The dogs', 'enhanced')).toEqual(tokenize('dog', 'enhanced'));
    expect(tokenize('The dogs')).toEqual(tokenize('The dogs', 'enhanced'));
  });

  test('refuses another tokenizer', () => {
    expect(() => tokenize('a', 'stem' as 'basic')).toThrow(/basic, enhanced/);
  });
});

describe('a text index', () => {
  test('refuses a controller in place of its signal, however short the search', async () => {
    await using index = await TextIndex.build(texts);
    await index.search('dog'); // the first use of a word is checked on another thread
    const options = { signal: new AbortController() };
    await rejection(index.search('dog', options as never), 'INVALID_ARGUMENT');
  });

  test('finds texts by their words, best first', async () => {
    await using index = await TextIndex.build(texts);
    const hits = await index.search('dog ships');
    expect(hits.ordinals[0]).toBe(2);
    expect([...hits.ordinals].sort()).toEqual([0, 1, 2]);
    expect([...hits.scores]).toEqual([...hits.scores].sort((a, b) => b - a));
    expect(hits.terms).toEqual(['dog', 'ship']);
  });

  test('multilingual finds words whatever their diacritics, those as typed first, and single characters', async () => {
    await using index = await TextIndex.build(
      ['plain creme', 'Crème brûlée', 'Cre\u0300me brulee', '上海大学', '京', 'Ελλάδα'],
      { tokenizer: 'multilingual' },
    );
    const found = async (query: string) => [...(await index.search(query)).ordinals];
    expect(await found('crème')).toEqual([1, 2, 0]);
    expect(await found('creme')).toEqual([0, 1, 2]);
    expect(await found('crémé')).toEqual([0, 1, 2]);
    expect(await found('BRULEE')).toEqual([2, 1]);
    expect(await found('ΕΛΛΑΔΑ')).toEqual([5]);
    expect(await found('学')).toEqual([3]);
    expect(await found('海大')).toEqual([3]);
    expect((await index.search('。！')).terms).toEqual([]);
  });

  test('multilingual finds inflections of a word, the word as typed first', async () => {
    await using index = await TextIndex.build(
      [
        'the lighthouses',
        'a lighthouse',
        'the house',
        'маяк революции',
        'революция',
        'المدرسة',
        'order 123456',
      ],
      { tokenizer: 'multilingual' },
    );
    const found = async (query: string) => [...(await index.search(query)).ordinals];
    expect(await found('lighthouse')).toEqual([1, 0]);
    expect(await found('lighthouses')).toEqual([0, 1]);
    expect(await found('houses')).toEqual([2]);
    expect(await found('революцией')).toEqual([4, 3]);
    expect(await found('مدرسة')).toEqual([5]);
    expect(await found('123457')).toEqual([]);
    expect(await found('moon')).toEqual([]);
    expect((await index.search('lighthouse')).terms).toEqual(['lighthouse']);
  });

  test('scores as Okapi BM25 with k1 1.2 and b 0.75 does', async () => {
    await using index = await TextIndex.build(['one two', 'one', 'three']);
    const idf = Math.log(1 + (3 - 2 + 0.5) / (2 + 0.5));
    const score = (length: number) => (idf * 2.2) / (1 + 1.2 * (1 - 0.75 + (0.75 * length) / (4 / 3)));
    const hits = await index.search('one');
    expect([...hits.ordinals]).toEqual([1, 0]);
    expect(hits.scores[0]).toBeCloseTo(score(1), 5);
    expect(hits.scores[1]).toBeCloseTo(score(2), 5);
  });

  test('looks only at the texts of a filter', async () => {
    await using index = await TextIndex.build(texts);
    expect([...(await index.search('dog', { filter: Uint32Array.of(0) })).ordinals]).toEqual([0]);
    expect([...(await index.search('dog', { filter: new Uint32Array(0) })).ordinals]).toEqual([]);
  });

  test('finds nothing for a query without words, and says so', async () => {
    await using index = await TextIndex.build(texts);
    expect(await index.search(' ?! ')).toMatchObject({ terms: [], ordinals: new Uint32Array(0) });
  });

  test('survives a round trip through a file', async () => {
    await using index = await TextIndex.build(texts, { tokenizer: 'enhanced' });
    await index.save(folder('texts.bm25'));
    for (const complete of [false, true]) {
      await using loaded = await TextIndex.load(folder('texts.bm25'), { complete });
      expect(loaded.tokenizer).toBe('enhanced');
      expect({ size: loaded.size, terms: loaded.terms }).toEqual({ size: index.size, terms: index.terms });
      expect(await loaded.search('lighthouse strasse')).toEqual(await index.search('lighthouse strasse'));
      expect(loaded.tokenizerFit()).toEqual({ emptyTexts: 1, unsuitedWords: 0 });
    }
  });

  test.each([0, 10, 60, 200])('of a file cut to %i bytes is CORRUPT', async (size) => {
    await using index = await TextIndex.build(texts);
    const path = folder(`cut-${size}.bm25`);
    await index.save(path);
    truncateSync(path, size);
    await rejection(TextIndex.load(path), 'CORRUPT');
  });

  test('of a damaged file is CORRUPT', async () => {
    await using index = await TextIndex.build(texts);
    const path = folder('damaged.bm25');
    await index.save(path);
    const bytes = readFileSync(path);
    bytes[bytes.length - 1] = (bytes[bytes.length - 1] as number) ^ 1;
    writeFileSync(path, bytes);
    await rejection(TextIndex.load(path), 'CORRUPT');
  });

  test('refuses what is not text and names it', async () => {
    const error = await rejection(TextIndex.build(['a', 5 as unknown as string]), 'INVALID_ARGUMENT');
    expect(error.message).toContain('texts[1]');
    await rejection(TextIndex.build('a' as unknown as string[]), 'INVALID_ARGUMENT');
    await using index = await TextIndex.build(texts);
    await rejection(index.search(7 as unknown as string), 'INVALID_ARGUMENT');
  });

  test('may be empty', async () => {
    await using index = await TextIndex.build([]);
    expect((await index.search('anything')).ordinals).toHaveLength(0);
  });
});
