import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Storage, TextIndex, tokenize } from '../../lib/index.js';
import { testSeed } from '../helpers/random.js';

const texts = {
  cpp: 'C++ adds classes to the older language, and templates, exceptions and much more.',
  c: 'C is an old language.',
  dotnet: 'C# runs on .NET, and so does F#.',
  net: 'The net is a net of nets.',
  node: 'node.js runs servers; AT&T runs lines',
  code: 'parseRecord calls parse_header, HTTPServer and std::vector',
  release: 'v1.4.2 follows 1.4.1',
  mail: 'write to ann.lee@harbour.example',
  path: 'see src/cli/main.ts for e-mail, but not C:\\Users\\mira',
  hyphens: 'A long\u2013term plan of the keeper\u2019s, Notepad++ open',
  soft: 'hydro\u00adelectric light\u200bhouse key\u200dboard \u2060stone\ufeffwork',
  wide: '\uff26\uff35\uff2c\uff2c width, Stra\u00dfe',
  ukrainian: '\u043f\u02bc\u044f\u0442\u044c',
  accents: 'Bogot\u00e1, \u1ec7, \u212b, \u1e9b\u0323, \u0130stanbul',
  chinese: '\u5317\u4eac\u5927\u5b66',
  thai: '\u0e19\u0e49\u0e2d\u0e07\u0e0a\u0e32\u0e22',
};
const names = Object.keys(texts) as (keyof typeof texts)[];

const found: [query: string, first: keyof typeof texts][] = [
  ['C++', 'cpp'],
  ['c++', 'cpp'],
  ['\uff23\uff0b\uff0b', 'cpp'],
  ['c', 'c'],
  ['C#', 'dotnet'],
  ['f#', 'dotnet'],
  ['.NET', 'dotnet'],
  ['net', 'net'],
  ['node.js', 'node'],
  ['nodejs', 'node'],
  ['AT&T', 'node'],
  ['parseRecord', 'code'],
  ['parserecord', 'code'],
  ['parse_record', 'code'],
  ['record', 'code'],
  ['parseHeader', 'code'],
  ['http server', 'code'],
  ['std::vector', 'code'],
  ['1.4.2', 'release'],
  ['v1.4.1', 'release'],
  ['ann.lee@harbour.example', 'mail'],
  ['harbour', 'mail'],
  ['src/cli/main.ts', 'path'],
  ['main.ts', 'path'],
  ['mira', 'path'],
  ['email', 'path'],
  ['E\u2011Mail', 'path'],
  ['long-term', 'hyphens'],
  ['longterm', 'hyphens'],
  ["keeper's", 'hyphens'],
  ['notepad++', 'hyphens'],
  ['notepad', 'hyphens'],
  ['hydroelectric', 'soft'],
  ['lighthouse', 'soft'],
  ['house', 'soft'],
  ['keyboard', 'soft'],
  ['stonework', 'soft'],
  ['full', 'wide'],
  ['STRASSE', 'wide'],
  ["\u043f'\u044f\u0442\u044c", 'ukrainian'],
  ['\u043f\u2019\u044f\u0442\u044c', 'ukrainian'],
  ['Bogota\u0301', 'accents'],
  ['bogota', 'accents'],
  ['e\u0302\u0323', 'accents'],
  ['\u00e5', 'accents'],
  ['istanbul', 'accents'],
  ['\u5927\u5b66', 'chinese'],
  ['\u0e0a\u0e32\u0e22', 'thai'],
];

test.each(found)('multilingual: %s is found first', async (query, first) => {
  const index = await TextIndex.build(Object.values(texts), { tokenizer: 'multilingual' });
  const { ordinals } = await index.search(query, { k: 3 });
  expect(names[ordinals[0] as number]).toBe(first);
});

test('C, C++ and C# are three words', async () => {
  const index = await TextIndex.build(Object.values(texts), { tokenizer: 'multilingual' });
  for (const query of ['C', 'C++', 'C#']) expect((await index.search(query)).ordinals).not.toHaveLength(0);
  expect([...(await index.search('C')).ordinals].map((i) => names[i])).not.toContain('cpp');
  expect([...(await index.search('C++')).ordinals].map((i) => names[i])).not.toContain('c');
});

test.each([
  ['C++ and C', 'C++', ['C++']],
  ['C++ and C', 'c', ['C']],
  ['the ASP.NET and .NET', '.net', ['NET', '.NET']],
  ['use node.js here', 'nodejs', ['node.js']],
  ['\u{1f980} the e\u2010mail', 'email', ['e\u2010mail']],
  ['a parseRecordsNow call', 'records', ['Records']],
  ['Bogota\u0301 is', 'bogot\u00e1', ['Bogota\u0301']],
  ['light\u200bhouse', 'lighthouse', ['light\u200bhouse']],
  ['in src/cli/main.ts!', 'main.ts', ['main.ts']],
  ['of \uff0eNET', '.NET', ['\uff0eNET']],
])('%s: %s marks %j', async (text, query, marked) => {
  await using storage = await Storage.build(
    [{ id: '1', text, metadata: {} }],
    new Float32Array(1).fill(1),
    1,
    {
      tokenizer: 'multilingual',
    },
  );
  const { hits } = await storage.search({ mode: 'lexical', text: query, highlight: true });
  expect(hits[0]?.highlights?.map(([begin, end]) => text.slice(begin, end))).toEqual(marked);
});

const marks = [
  '\u0301',
  '\u0302',
  '\u0323',
  '\u0308',
  '\u0316',
  '\u0345',
  '\u3099',
  '\u0e48',
  '\u0e38',
  '\u093c',
  '\u05b0',
];
const letters = [
  'a',
  'e',
  'o',
  '\u01a1',
  '\u1ea5',
  '\u1ed9',
  '\u03b1',
  '\u0e19',
  '\u304b',
  '\u0915',
  '\u05d0',
  'I',
  '\u1100\u1161',
  '\ud55c',
  '\u212b',
  ' ',
  '-',
];

test('canonically equivalent texts give the same words', () => {
  const text = fc
    .array(fc.oneof(fc.constantFrom(...letters), fc.constantFrom(...marks)), { maxLength: 16 })
    .map((parts) => parts.join(''));
  const property = fc.property(text, (one) => {
    const words = tokenize(one, 'multilingual');
    expect(tokenize(one.normalize('NFC'), 'multilingual')).toEqual(words);
    expect(tokenize(one.normalize('NFD'), 'multilingual')).toEqual(words);
  });
  fc.assert(property, { seed: testSeed, numRuns: 5000 });
});

test('marks without end are cut and cost no more than letters', () => {
  for (const piece of [
    '\u0301',
    '\u0323\u0301',
    'a\u0301\u0323',
    '-\u0301',
    'a.',
    'aB',
    '+',
    '++',
    '#',
    'C++',
    '\u200b',
  ]) {
    const words = tokenize(piece.repeat(200_000), 'multilingual');
    expect(words.every((word) => Buffer.byteLength(word) <= 1024)).toBe(true);
  }
});
