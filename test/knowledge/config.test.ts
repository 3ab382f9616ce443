import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { loadKnowledgeBaseConfig } from '../../src/knowledge/config.js';
import { rejection } from '../helpers/errors.js';
import { temporaryFolder } from '../helpers/folder.js';

const file = temporaryFolder();
const path = file('kb.json');
const least = { embedding_model: 'm', records_file: 'records.json' };
const optional = { type: 'int', optional: true };

function load(content: string | Buffer | object) {
  writeFileSync(
    path,
    typeof content === 'object' && !Buffer.isBuffer(content) ? JSON.stringify(content) : content,
  );
  return loadKnowledgeBaseConfig(path);
}

async function refusal(
  content: string | Buffer | object,
  code: 'INVALID_ARGUMENT' | 'CORRUPT' | 'IO' = 'INVALID_ARGUMENT',
) {
  return (await rejection(load(content), code)).message.replaceAll(path, 'kb.json').split('\n');
}

describe('the config file', () => {
  test.skipIf(process.platform === 'win32')(
    'is no pipe: that nobody writes to one would never end',
    async () => {
      execFileSync('mkfifo', [file('pipe')]);
      const error = await rejection(loadKnowledgeBaseConfig(file('pipe')), 'IO');
      expect(error.message).toBe(`${file('pipe')}: cannot be read: not a regular file`);
    },
  );

  test('has at most 64 KiB: a client may name any file, and parsing one holds the others up', async () => {
    const padded = (bytes: number) => JSON.stringify(least).padEnd(bytes);
    expect((await load(padded(65_536))).config.embedding_model).toBe('m');
    const message = 'kb.json: is longer than 65536 bytes, so it is no config file';
    expect(await refusal(padded(65_537), 'CORRUPT')).toEqual([message]);
  });

  test('has a default for everything but model and records', async () => {
    const { config, warnings } = await load(least);
    expect(warnings).toEqual([]);
    expect(config).toEqual({
      ...least,
      version: 1,
      search: {},
      bm25_tokenizer: 'basic',
      vector_type: 'f32',
      long_text: 'error',
    });
  });

  test('may have a byte order mark and CRLF', async () => {
    const text = `\uFEFF${JSON.stringify(least, null, 2).replaceAll('\n', '\r\n')}`;
    expect((await load(text)).config.records_file).toBe('records.json');
  });

  test('is refused with every issue at once, each with line, column and field', async () => {
    const text = `{
  "embedding_model": "",
  "records_file": 7,
  "hnsw": {"m": 1},
  "vector_type": "f8",
  "long_text": "cut"
}`;
    expect(await refusal(text)).toEqual([
      expect.stringMatching(/^kb\.json:2:22: embedding_model: /),
      expect.stringMatching(/^kb\.json:3:19: records_file: /),
      expect.stringMatching(/^kb\.json:4:17: hnsw\.m: /),
      expect.stringMatching(/^kb\.json:5:18: vector_type: one of "f32", "f16", "i8" is expected/),
      expect.stringMatching(/^kb\.json:6:16: long_text: one of "error", "truncate" is expected/),
    ]);
  });

  test('lists twenty issues and counts the others', async () => {
    const fields = Array.from({ length: 30 }, (_, n) => ({ name: `f${n}`, type: 'int' }));
    const lines = await refusal({ ...least, fields });
    expect(lines).toHaveLength(21);
    expect(lines[0]).toContain('fields[0]: exactly one of "default" and "optional": true is expected');
    expect(lines[20]).toBe('and 10 more');
  });

  test.each([
    ['', 'kb.json:1:1: not valid JSON: the text is empty'],
    ['{"version": 1,\n}', 'kb.json:2:1: not valid JSON: a comma is not allowed before a closing bracket'],
    ['{"a": 1} {', 'not valid JSON'],
    [Buffer.from([0x7b, 0xff, 0x7d]), 'is not UTF-8'],
    [Buffer.from('{"a\0": 1}'), 'not valid JSON'],
  ])('%j is no JSON', async (content, message) => {
    expect((await refusal(content, 'CORRUPT'))[0]).toContain(message);
  });

  test.each(['[]', 'null', '7', '"kb"'])('%s at its top is no object', async (text) => {
    expect((await refusal(text))[0]).toMatch(
      /^kb\.json:1:1: an object is expected, not .*; a knowledge base config names the records/,
    );
  });

  test('is refused for a key twice in one object, and takes it in two', async () => {
    const twice = '{"embedding_model": "m",\n "records_file": "a", "records_file": "b"}';
    expect((await refusal(twice))[0]).toBe('kb.json:2:23: records_file: occurs twice');
    await load({
      ...least,
      fields: [
        { name: 'a', ...optional },
        { name: 'b', ...optional },
      ],
    });
  });

  test('is refused when it is nested deeply, also where nothing is known', async () => {
    const deep = `{"x": ${'['.repeat(30_000)}${']'.repeat(30_000)}}`;
    expect(await refusal(deep)).toEqual(['kb.json: nested deeper than 64 levels']);
    expect((await load({ ...least, $schema: '['.repeat(1000) })).warnings).toEqual([]);
  });

  test('is not a folder, nor as long as records are', async () => {
    await rejection(loadKnowledgeBaseConfig(file('.')), 'IO');
    expect((await refusal(' '.repeat(5_000_000), 'CORRUPT'))[0]).toContain('longer than');
  });

  test.each([
    [{ records_file: 'a\0b' }, 'records_file: no file name has a NUL'],
    [{ relevance: { hybrid: { offset: 21 } } }, 'relevance.hybrid.offset'],
    [{ relevance: { dense: { slope: 0 } } }, 'relevance.dense.slope'],
    [{ relevance: { lexical: { slope: '1' } } }, 'relevance.lexical.slope'],
    [{ relevance: { dense: null } }, 'relevance.dense'],
    [
      {
        bm25_tokenizer: 'enhanced',
        lexical: {
          synonyms: [
            ['lamp', 'light'],
            ['gull', 'the', 'sea bird'],
          ],
        },
      },
      'kb.json:1:130: lexical.synonyms[1][1]: a single word is expected; to the tokenizer "enhanced" "the" is 0 words',
    ],
    [{ lexical: { synonyms: [['a', 'b c']] } }, 'lexical.synonyms[0][1]: a single word is expected'],
    [
      { lexical: { boosts: { titel: 2 } }, fields: [{ name: 'title', type: 'string', optional: true }] },
      'kb.json:1:83: lexical.boosts.titel: "titel" is not a field of the records; did you mean "title"?',
    ],
    [{ lexical: { boosts: { title: 2 } } }, 'lexical.boosts.title: "title" is not a field of the records'],
    [
      { lexical: { boosts: { year: 2 } }, fields: [{ name: 'year', ...optional }] },
      'lexical.boosts.year: a field of type string is expected, not int',
    ],
    [{ fields: [{ name: '\ud800', ...optional }] }, 'fields[0].name: half of a surrogate pair'],
    [
      {
        fields: [
          { name: 'a', ...optional },
          { name: 'a', ...optional },
        ],
      },
      'fields[1].name: "a" is the name of fields[0]',
    ],
    [{ fields: {} }, 'fields: '],
    [{ fields: [{ name: '', ...optional }] }, 'fields[0].name: '],
    [{ fields: [{ name: 'a', type: 'integer', optional: true }] }, 'fields[0].type: '],
    [{ fields: [{ name: 'a', type: 'int', optional: false }] }, 'exactly one of'],
    [{ fields: [{ name: 'a', type: 'int', optional: 'yes' }] }, 'fields[0].optional: '],
    [{ fields: [{ name: 'a', type: 'int', default: null }] }, 'fields[0].default: '],
    [{ fields: [{ name: 'a', type: 'int', default: 1.5 }] }, 'fields[0].default: an integer of 64 bits'],
    [{ fields: [{ name: 'a', type: 'int', default: 2 ** 53 }] }, 'fields[0].default: an integer of 64 bits'],
    [
      { fields: [{ name: 'a', type: 'int', default: '9223372036854775808' }] },
      'fields[0].default: an integer of 64 bits',
    ],
    [{ fields: [{ name: 'a', type: 'int', default: '2.0' }] }, 'fields[0].default: an integer of 64 bits'],
    [{ fields: [{ name: 'a', type: 'int', default: '' }] }, 'fields[0].default: an integer of 64 bits'],
    [{ fields: [{ name: 'a', type: 'int', default: true }] }, 'fields[0].default: an integer of 64 bits'],
    [{ fields: [{ name: 'a', type: 'float', default: 'NaN' }] }, 'fields[0].default: a number is expected'],
    [{ fields: [{ name: 'a', type: 'float', default: '1e400' }] }, 'fields[0].default: a number is expected'],
    [
      { fields: [{ name: 'a', type: 'bool', default: 'yes' }] },
      'fields[0].default: true or false is expected',
    ],
    [{ fields: [{ name: 'a', type: 'bool', default: 2 }] }, 'fields[0].default: true or false is expected'],
    [{ fields: [{ name: 'a', type: 'string', default: ['x'] }] }, 'fields[0].default: a string is expected'],
    [
      { fields: [{ name: 'a', type: 'set<string>', default: 5 }] },
      'fields[0].default: an array of strings is expected',
    ],
    [{ fields: [{ name: 'a', type: 'set<string>', default: [1] }] }, 'fields[0].default'],
    [{ fields: [{ name: 'a', ...optional, filterable: 1 }] }, 'fields[0].filterable: '],
    [
      { fields: [{ name: 'a', type: 'float', format: 'date', optional: true }] },
      'fields[0].format: only a field of type int has a format',
    ],
    [{ fields: [{ name: 'a', type: 'int', format: 'day', optional: true }] }, 'fields[0].format: '],
    [{ fields: [{ name: 'a', type: 'int', format: 'date', default: 'soon' }] }, 'fields[0].default: '],
    [{ version: '1' }, 'version: '],
    [{ index_file: '' }, 'index_file: '],
    [{ hnsw: [] }, 'hnsw: '],
    [{ hnsw: { ef_search: 0 } }, 'hnsw.ef_search: '],
  ])('%j is refused', async (change, message) => {
    expect((await refusal({ ...least, ...change })).join('\n')).toContain(message);
  });

  test('takes defaults of every type, an integer written with a fraction of 0 and an empty set among them', async () => {
    const fields = [
      { name: 'a', type: 'int', default: 2.0 },
      { name: 'b', type: 'float', default: 5 },
      { name: 'c', type: 'string', default: '' },
      { name: 'd', type: 'bool', default: false },
      { name: 'e', type: 'set<string>', default: [] },
      { name: 'f', type: 'int', default: 0, optional: false, filterable: false },
    ];
    expect((await load({ ...least, fields })).config.fields).toHaveLength(6);
  });

  test.each([
    ['int', '5', 5],
    ['int', '-9223372036854775808', -(2n ** 63n)],
    ['float', '-5e-1', -0.5],
    ['string', 5, '5'],
    ['string', true, 'true'],
    ['bool', 'true', true],
    ['bool', 0, false],
    ['set<string>', 'x', ['x']],
  ])('a default of type %s may be written as %j', async (type, written, value) => {
    const fields = [{ name: 'a', type, default: written }];
    expect((await load({ ...least, fields })).config.fields?.[0]).toMatchObject({ default: value });
  });

  test.each([
    ['date', '2024-05-31', '2024-05-31'],
    ['date', '5', 5],
    ['date-time', '2024-05-31T10:00:00Z', '2024-05-31T10:00:00Z'],
    ['date-time', '2024-05-31', '2024-05-31'],
  ])('a default of format %s may be written as %j', async (format, written, value) => {
    const fields = [{ name: 'a', type: 'int', format, default: written }];
    expect((await load({ ...least, fields })).config.fields?.[0]).toMatchObject({ default: value });
  });

  test('names an unknown key when one is missing: it may be that one', async () => {
    expect(await refusal({ embedding_model: 'm', record_file: 'records.json' })).toEqual([
      'kb.json:1:1: records_file: is missing',
      'kb.json:1:38: record_file: is not a known field; did you mean "records_file"?',
    ]);
  });

  test('names the nearest key of an unknown one, at every depth', async () => {
    const { warnings } = await load({
      ...least,
      long_texts: 1,
      hnsw: { efSearch: 3 },
      fields: [{ name: 'a', ...optional, filterble: false }],
    });
    expect(warnings.map((warning) => warning.replace(/^.*?: /, '')).sort()).toEqual([
      'fields[0].filterble: is not a known field; did you mean "filterable"?; it has no effect',
      'hnsw.efSearch: is not a known field; did you mean "ef_search"?; it has no effect',
      'long_texts: is not a known field; did you mean "long_text"?; it has no effect',
    ]);
  });
});
