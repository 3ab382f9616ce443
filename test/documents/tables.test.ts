import { writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Section } from '../../src/documents/document.js';
import { DocumentReader } from '../../src/documents/reader.js';
import { CsvReader } from '../../src/documents/tables/csv-rows.js';
import type { TableMapping } from '../../src/documents/tables/mapping.js';
import { temporaryFolder } from '../helpers/folder.js';
import { random, testSeed } from '../helpers/random.js';

const file = temporaryFolder();

async function read(name: string, content: string | Buffer, mapping: TableMapping = {}) {
  writeFileSync(file(name), content);
  await using reader = new DocumentReader(mapping);
  return reader.read(file(name), async (document) => {
    const sections: Section[] = [];
    for await (const section of document.sections) sections.push(section);
    return { sections, problems: document.problems };
  });
}

const texts = (sections: readonly Section[]) => sections.map(({ blocks }) => blocks[0]?.text);

describe('CSV', () => {
  test('rows come back as they were written, in whatever pieces the file arrives', () => {
    console.log(`seed ${testSeed}`);
    const next = random(testSeed);
    const alphabet = ['a', 'ü', '"', ',', '\n', '\r\n', ' ', ''];
    const cell = () => Array.from({ length: next() * 5 }, () => alphabet[Math.floor(next() * 8)]).join('');
    for (let trial = 0; trial < 300; trial++) {
      const columns = 1 + Math.floor(next() * 4);
      const rows = Array.from({ length: 1 + Math.floor(next() * 5) }, () =>
        Array.from({ length: columns }, cell),
      );
      const written = rows.map((cells) => cells.map((text) => `"${text.replaceAll('"', '""')}"`).join(','));
      const text = written.join(next() < 0.5 ? '\n' : '\r\n') + (next() < 0.5 ? '\n' : '');
      const reader = new CsvReader(',');
      const found: string[][] = [];
      for (let at = 0; at < text.length; ) {
        const size = 1 + Math.floor(next() * 7);
        found.push(...reader.push(text.slice(at, at + size)).map(({ cells }) => cells));
        at += size;
      }
      found.push(...reader.end().map(({ cells }) => cells));
      expect(found, JSON.stringify(text)).toEqual(rows);
    }
  });

  test.each([
    ['semicolons', 'id;text;price, EUR\r\n1;"a; b";2,50\r\n'],
    ['tabs', 'id\ttext\tprice, EUR\n1\ta; b\t2,50\n'],
    ['commas', 'id,text,"price, EUR"\n1,a; b,"2,50"\n'],
    ['a line that names the separator', 'sep=|\r\nid|text|price, EUR\r\n1|a; b|2,50\r\n'],
  ])('cells are separated by %s', async (_, content) => {
    const { sections, problems } = await read('separated.csv', content, { text: ['text', 'price, EUR'] });
    expect(texts(sections)).toEqual(['a; b\n\n2,50']);
    expect(sections[0]?.anchor).toBe('1');
    expect(problems).toEqual([]);
  });

  test('a line that names the separator is a line of the file, and one column needs no separator', async () => {
    const { sections } = await read('named.csv', 'sep=;\ntext\nwith, a comma; and more\n');
    expect(sections).toEqual([]);
    const one = await read('one.csv', '\ntext\n"with, a comma; and more"\n');
    expect(one.sections.map(({ anchor }) => anchor)).toEqual(['line=3']);
    expect(texts(one.sections)).toEqual(['with, a comma; and more']);
  });

  test.each(['utf16le', 'utf16be'])('text in %s with a byte order mark is read', async (encoding) => {
    const bytes = Buffer.from('\ufeffid\ttext\r\n1\tMöwe 🐦\r\n', 'utf16le');
    const { sections } = await read('wide.tsv', encoding === 'utf16le' ? bytes : bytes.swap16());
    expect(texts(sections)).toEqual(['Möwe 🐦']);
  });

  test('every column is searched without a mapping; title and id name the row', async () => {
    const { sections } = await read(
      'a.csv',
      'id,name,colour,taste\r\n7,"Acacia, honey",pale,mild\r\n,Heather,dark,\n',
    );
    expect(sections).toEqual([
      {
        headings: [],
        anchor: '7',
        title: 'Acacia, honey',
        metadata: {},
        blocks: [{ kind: 'prose', text: 'colour: pale\ntaste: mild' }],
      },
      {
        headings: [],
        anchor: 'line=3',
        title: 'Heather',
        metadata: {},
        blocks: [{ kind: 'prose', text: 'colour: dark' }],
      },
    ]);
  });

  test('a mapping chooses the columns, and types the columns that filters name', async () => {
    const mapping: TableMapping = {
      text: ['question', 'answer'],
      title: 'question',
      id: 'key',
      fields: { year: 'int', tags: 'set<string>', open: 'bool' },
    };
    const { sections, problems } = await read(
      'b.csv',
      'key,question,answer,year,tags,open\na,Why?,Because.,1990,x;y,yes\nb,When?,Then.,soon,,\na,Who?,Me.,,,\nc,,,,,\nd,1,2,3,4,5,6\n',
      mapping,
    );
    expect(texts(sections)).toEqual(['Why?\n\nBecause.']);
    expect(sections[0]).toMatchObject({
      anchor: 'a',
      metadata: { year: 1990, tags: ['x', 'y'], open: true },
    });
    expect(problems).toEqual([
      'line 3: year: an integer is expected, found "soon"',
      'line 4: the id "a" is taken',
      'line 5: question, answer is empty',
      'line 6: the row has 7 cells, the first row 6',
    ]);
  });

  test('tabs separate the cells of .tsv', async () => {
    expect(texts((await read('c.tsv', 'text\tn\none, two\t3\n')).sections)).toEqual(['one, two']);
  });

  test('a quote that is never closed, and a row without end, are refused', async () => {
    await expect(read('d.csv', 'a\n"never closed\n')).rejects.toThrow('line 2: a quoted cell is not closed');
    await expect(read('e.csv', `a\n"${'x'.repeat(5_000_000)}"\n`)).rejects.toThrow(
      /more than 4194304 characters/,
    );
    await expect(read('f.csv', `a\n${','.repeat(20_000)}\n`)).rejects.toThrow(/more than 10000 cells/);
  });
});

describe('JSON Lines', () => {
  test('each object is a row; a line that is none is named and the others are read', async () => {
    const lines = [
      '{"text": "one", "year": 1}',
      '',
      '[1]',
      '{"text": ',
      `{"text": "${'x'.repeat(5_000_000)}"}`,
    ];
    const { sections, problems } = await read(
      'a.jsonl',
      `${lines.join('\n')}\n{"text": "last", "year": 2.5}`,
      {
        fields: { year: 'float' },
      },
    );
    expect(texts(sections)).toEqual(['one', 'last']);
    expect(sections.map(({ metadata }) => metadata)).toEqual([{ year: 1 }, { year: 2.5 }]);
    expect(problems).toEqual([
      'line 3: is not a JSON object',
      expect.stringMatching(/^line 4: is not valid JSON/),
      'line 5: is too long',
    ]);
  });

  test('keys named like members of every object are plain keys', async () => {
    const { sections } = await read('b.jsonl', '{"__proto__": "a", "constructor": "b", "toString": "c"}\n');
    expect(texts(sections)).toEqual(['__proto__: a\nconstructor: b\ntoString: c']);
  });
});
