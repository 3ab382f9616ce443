import { writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { chunksOf } from '../../src/documents/chunks.js';
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
    expect(texts(sections)).toEqual(['Why?\n\nBecause.', 'Who?\n\nMe.']);
    expect(sections[1]?.anchor).toBe('a~line=4');
    expect(sections[0]).toMatchObject({
      anchor: 'a',
      metadata: { year: 1990, tags: ['x', 'y'], open: true },
    });
    expect(problems).toEqual([
      'line 3: year: an integer of 64 bits is expected, found "soon"',
      'line 5: question, answer is empty',
      'line 6: the row has 7 cells, the first row 6',
    ]);
  });

  test('extra cells that are empty do not count, and columns of one name stay apart', async () => {
    const { sections, problems } = await read('x.csv', 'id,note,note,\n1,a,b,,\n2,c,,,\n');
    expect(problems).toEqual([]);
    expect(texts(sections)).toEqual(['note: a\nnote (column 3): b', 'note: c']);
  });

  test('ids stay apart: long ones, repeated ones, and those that parts of other rows have', async () => {
    const url = (end: string) => `https://example.org/${'x'.repeat(220)}/${end}`;
    const words = 'word '.repeat(300);
    const { sections } = await read(
      'ids.csv',
      `id,text\n${url('a')},1\n${url('b')},2\nA~2,3\nA,${words}\nA,5\n`,
    );
    const anchors = sections.map(({ anchor }) => anchor);
    expect(new Set(anchors).size).toBe(5);
    expect(Math.max(...anchors.map(({ length }) => length))).toBe(200);
    const chunks: string[] = [];
    for await (const { anchor } of chunksOf({ sections }, { size: 400, overlap: 0 }, async () => 'fits'))
      chunks.push(anchor);
    expect(chunks.length).toBeGreaterThan(6);
    expect(new Set(chunks).size).toBe(chunks.length);
  });

  test('integers are exact to 64 bits, and larger ones are refused for a field', async () => {
    const mapping: TableMapping = { fields: { n: 'int' } };
    const { sections, problems } = await read(
      'n.csv',
      'id,n,text\n9007199254740993,9223372036854775807,a\n2,-42,b\n3,9223372036854775808,c\n',
      mapping,
    );
    expect(sections.map(({ anchor, metadata }) => [anchor, metadata?.n])).toEqual([
      ['9007199254740993', 9223372036854775807n],
      ['2', -42],
    ]);
    expect(problems).toEqual([expect.stringContaining('line 4: n: an integer of 64 bits is expected')]);
  });

  test('tabs separate the cells of .tsv', async () => {
    expect(texts((await read('c.tsv', 'text\tn\none, two\t3\n')).sections)).toEqual(['one, two']);
  });

  test('a quote that is never closed is a character, and the rows after it are read', async () => {
    const { sections, problems } = await read(
      'd.csv',
      'name,size\nPlank,2"\nBolt,"3\nNut,"4, long"\nPin,5"\n',
    );
    expect(sections.map(({ title, blocks, anchor }) => [title, blocks[0]?.text, anchor])).toEqual([
      ['Plank', 'size: 2"', 'line=2'],
      ['Bolt', 'size: "3', 'line=3'],
      ['Nut', 'size: 4, long', 'line=4'],
      ['Pin', 'size: 5"', 'line=5'],
    ]);
    expect(problems).toEqual([expect.stringMatching(/^line 3: a quote is not closed/)]);
    const long = `name,size\nBolt,"3\n${`Nut,${'4'.repeat(1000)}\n`.repeat(5000)}`;
    expect((await read('l.csv', long)).sections).toHaveLength(5001);
  });

  test.each([
    ['a title', 'Sales of 2025\n\nname;price\nBread;3,50\nMilk;2\n', ['Sales of 2025']],
    ['remarks', '# made by hand\n# twice\nname|price\nBread|3,50\nMilk|2\n', ['# made by hand', '# twice']],
    ['blank rows', ',,\nname,price\n,\nBread,"3,50"\n,\nMilk,2\n,\n', []],
  ])('%s above a table are no names of columns', async (_, text, above) => {
    const { sections, problems } = await read('t.csv', text);
    expect(texts(sections)).toEqual([...above, 'price: 3,50', 'price: 2']);
    expect(problems).toEqual([]);
  });

  test('one column of texts with separators in them has one name', async () => {
    const { sections, problems } = await read('one.csv', 'quote\nHello there\nWell, hello\nBye\n');
    expect(texts(sections)).toEqual(['quote: Hello there', 'quote: Bye']);
    expect(problems).toEqual(['line 3: the row has 2 cells, the first row 1']);
  });

  test('a first row of the same dates, numbers and texts as the second one is a row', async () => {
    const { sections } = await read('log.csv', '2024-01-01,12.5,hello\n2024-01-02,13.5,bye\n');
    expect(texts(sections)).toEqual([
      'column 1: 2024-01-01\ncolumn 2: 12.5\ncolumn 3: hello',
      'column 1: 2024-01-02\ncolumn 2: 13.5\ncolumn 3: bye',
    ]);
    expect(texts((await read('years.csv', '2019,2020\n1,2\n')).sections)).toEqual(['2019: 1\n2020: 2']);
  });

  test('a row without end is refused', async () => {
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
      'null',
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

  test.each([
    ['one list', '[{"id": 1, "text": "a]"},\n {"id": 2, "text": "b"}\n]\n'],
    ['one list on a line', '[{"id": 1, "text": "a]"}, {"id": 2, "text": "b"}]'],
    ['several lines', '{\n "id": 1,\n "text": "a]"\n}\n{\n "id": 2, "text": "b"\n}\n'],
  ])('objects may be in %s', async (_, text) => {
    const { sections, problems } = await read('v.jsonl', text);
    expect(sections.map(({ anchor, blocks }) => [anchor, blocks[0]?.text])).toEqual([
      ['1', 'a]'],
      ['2', 'b'],
    ]);
    expect(problems).toEqual([]);
  });

  test('files that were joined keep the lines behind their byte order marks', async () => {
    const { sections, problems } = await read(
      'j.jsonl',
      '\uFEFF{"text": "a"}\n\uFEFF{"text": "b"}\n\uFEFF\n',
    );
    expect([texts(sections), problems]).toEqual([['a', 'b'], []]);
  });

  test('a damaged first line, an object without end, and other values lose nothing else', async () => {
    const damaged = await read('w.jsonl', '{"text": "a\n{"text": "b"}\n"c"\n["d", 4]\n');
    expect(texts(damaged.sections)).toEqual(['b', 'c', 'd, 4']);
    expect(damaged.problems).toEqual([expect.stringMatching(/^line 1: is not valid JSON/)]);
    const open = await read('x.jsonl', '{\n"text": "a"\n}\n{\n"text": "b"\n');
    expect(texts(open.sections)).toEqual(['a']);
    expect(open.problems).toEqual(['line 4: is not valid JSON: it has no end']);
  });

  test('numbers are shown as they are written', async () => {
    const { sections } = await read(
      'f.jsonl',
      '{"price": 1.10, "far": 1e400, "pi": 3.14159265358979323846, "n": 2.5}\n',
    );
    expect(texts(sections)).toEqual(['price: 1.10\nfar: 1e400\npi: 3.14159265358979323846\nn: 2.5']);
  });

  test('a number with millions of digits is a number', async () => {
    const digits = '1'.repeat(10_000_000);
    const { sections } = await read('d.json', `{"n": ${digits}, "m": "x"}\n`);
    expect(texts(sections).join('')).toContain('1111');
  });

  test('integers of any size are exact in ids, fields and text', async () => {
    const { sections } = await read(
      'n.jsonl',
      '{"id": 1152921504606846977, "n": -1152921504606846979, "sum": 123456789012345678901234567890, "name": "\\"1152921504606846977\\""}\n{"id": 1152921504606846978, "n": 3, "sum": 0.5}\n',
      { fields: { n: 'int' } },
    );
    expect(sections.map(({ anchor, metadata }) => [anchor, metadata?.n])).toEqual([
      ['1152921504606846977', -1152921504606846979n],
      ['1152921504606846978', 3],
    ]);
    expect(texts(sections)).toEqual(['sum: 123456789012345678901234567890', 'sum: 0.5']);
    expect(sections[0]?.title).toBe('"1152921504606846977"');
  });

  test('nested values have their names, and conversations their speakers', async () => {
    const rows = [
      { boat: { name: 'Ida', crew: ['Ann', 'Bo'], log: [{ day: 1, wind: 'north' }] } },
      {
        messages: [
          { role: 'user', content: 'When do we sail?', at: '9:00' },
          { role: 'assistant', content: [{ type: 'text', text: 'At noon.' }] },
        ],
      },
      { text: [{ from: 'human', value: 'Where?' }] },
    ];
    const { sections, problems } = await read('c.jsonl', rows.map((row) => JSON.stringify(row)).join('\n'));
    expect(problems).toEqual([]);
    expect(texts(sections)).toEqual([
      'boat.name: Ida\nboat.crew: Ann, Bo\nboat.log.day: 1\nboat.log.wind: north',
      'user: When do we sail?\nmessages.at: 9:00\nassistant: At noon.',
      'human: Where?',
    ]);
  });

  test('a row that is nested without end is named, or shown as JSON', async () => {
    const deep = (depth: number, inner: string) => `{"a": ${'['.repeat(depth)}${inner}${']'.repeat(depth)}}`;
    const { sections, problems } = await read(
      'd.jsonl',
      `${deep(100_000, '12345678901234567890')}\n${deep(50, '"x"')}\n`,
    );
    expect(problems).toEqual(['line 1: is nested too deeply']);
    expect(texts(sections)[0]).toMatch(/^a: \[+"x"\]+$/);
  });

  test('a row that is one message begins with its speaker, and a text that it has twice is shown once', async () => {
    const lines = [
      { role: 'user', content: 'When do we sail?' },
      { sender: 'human', text: 'Hi', content: [{ type: 'text', text: 'Hi' }], uuid: 'u1' },
    ];
    const { sections } = await read('chat.jsonl', lines.map((line) => JSON.stringify(line)).join('\n'));
    expect(texts(sections)).toEqual(['user: When do we sail?', 'Hi']);
    const nested = JSON.stringify({ chat: [lines[1]] });
    expect(texts((await read('claude.jsonl', nested)).sections)).toEqual(['human: Hi\nchat.uuid: u1']);
  });

  test('all values of a key that an object has several times are kept', async () => {
    const row =
      '{"tag": "red", "n": 9007199254740993, "tag": "blue", "tag": ["a:b", "}"], "in": {"x": 1, "x": 2}}';
    const text = 'tag: red, blue, a:b, }\nn: 9007199254740993\nin.x: 1, 2';
    expect(texts((await read('twice.jsonl', `${row}\n{"tag": 1}\n`)).sections)).toEqual([text, 'tag: 1']);
    expect(texts((await read('twice.json', `[${row}]`)).sections)).toEqual(['tag: red, blue, a:b, }']);
    expect(texts((await read('notes.json', '{ // notes: two\n "a": 1, "a": 2, }')).sections)).toEqual([
      'a: 1, 2',
    ]);
  });

  test('keys named like members of every object are plain keys', async () => {
    const { sections } = await read('b.jsonl', '{"__proto__": "a", "constructor": "b", "toString": "c"}\n');
    expect(texts(sections)).toEqual(['__proto__: a\nconstructor: b\ntoString: c']);
  });
});
