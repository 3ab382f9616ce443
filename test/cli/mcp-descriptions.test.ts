import { expect, it } from 'vitest';
import { z } from 'zod';
import { storageNames } from '../../src/cli/mcp/storage-names.js';
import { instructions } from '../../src/doors/mcp/describe.js';
import { fieldFacts } from '../../src/doors/mcp/fields.js';
import { metadataSchema } from '../../src/doors/mcp/metadata-schema.js';
import { parseUri, recordUri } from '../../src/doors/mcp/records.js';

it('descriptions are bounded and printable, however odd and many the names, fields and values are', () => {
  const odd = '\u001b]0;x\u0007\n\u202e'.repeat(500);
  const records = [{ metadata: { [odd]: odd, n: 1n } }, { metadata: { [odd]: `${odd}2`, n: 2n ** 60n } }];
  const fields = fieldFacts(
    [
      { name: odd, type: 'string' },
      { name: 'n', type: 'int' },
      ...Array.from({ length: 500 }, (_, n) => ({ name: `field${n}`, type: 'string' as const })),
    ],
    records,
  );
  expect(fields[1]).toEqual({ name: 'n', type: 'int', values: ['1 to 1152921504606846976'] });
  const places = Array.from({ length: 300 }, (_, n) => ({
    path: `/x/${n % 3 === 0 ? odd.replaceAll('\n', ' ') : `same`}`,
    kind: 'folder' as const,
  }));
  const names = storageNames(places);
  expect(new Set(names).size).toBe(300);
  const named = names.map((name) => ({ name, folder: '/x', writable: true }));
  const looked = named.map((each) => ({ ...each, records: 3, fields }));
  const { description } = z.toJSONSchema(metadataSchema(looked));
  const schema = JSON.stringify(z.toJSONSchema(metadataSchema(looked)));
  expect(schema.length).toBeLessThan(10_000);
  for (const text of [
    instructions(named, []),
    instructions(looked, ['search', 'ask']),
    `${description}, ${instructions(looked, [])}`,
  ]) {
    expect(text.length).toBeLessThan(4000);
    expect(text).toMatch(/and \d+ more/);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the characters that must not be there
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
  }
});

it('every storage is named, however much there is to say about the others', () => {
  const fields = Array.from({ length: 20 }, (_, n) => ({
    name: `field${n}`,
    type: 'string',
    values: ['a', 'b', 'c', 'd'].map((value) => JSON.stringify(value.repeat(40))),
  }));
  const shown = Array.from({ length: 12 }, (_, n) => ({
    ...{ name: `storage ${n}`, folder: undefined, writable: true, records: 3 },
    fields,
  }));
  for (const number of [2, 3, 6, 12]) {
    const text = instructions(shown.slice(0, number), ['search']);
    for (const { name } of shown.slice(0, number)) expect(text).toContain(`"${name}"`);
    expect(text.length).toBeLessThan(2000);
  }
  expect(instructions(shown.slice(0, 2), ['search'])).toContain('field0 (string: "aaaa');
  expect(instructions(shown.slice(0, 6), ['search'])).toContain('field0 (string), field1 (string)');
});

it('names and values with line breaks and quotes are exact, so that a filter can name them', () => {
  const [name, value] = ['new\nline "x"', 'v\n"q"\u202e'];
  const fields = fieldFacts([{ name, type: 'string' }], [{ metadata: { [name]: value } }]);
  const described = instructions(
    [{ name: 'kb', folder: undefined, writable: false, records: 1, fields }],
    [],
  );
  expect(described).toContain(String.raw`"new\nline \"x\"" (string: "v\n\"q\"\u202e")`);
});

it('a record may lack fields that have the names of properties of every object', () => {
  const names = ['n', ...Object.getOwnPropertyNames(Object.prototype)];
  const fields = fieldFacts(
    names.map((name) => ({ name, type: 'string' as const })),
    [],
  );
  const schema = metadataSchema([{ name: 'kb', folder: undefined, writable: true, records: 0, fields }]);
  expect(schema.parse({ n: 'x' })).toEqual({ n: 'x' });
  expect(schema.parse({ constructor: 'x' })).toEqual({ constructor: 'x' });
  expect(z.toJSONSchema(schema).description).toContain('constructor (string)');
});

it('addresses lead back to their records', () => {
  for (const id of ['a/b.md#c', '../x', 'ü %2F?', '\u001b', 'a b'])
    expect(parseUri(recordUri('my docs/1', id))).toEqual({ storage: 'my docs/1', id });
  for (const uri of ['lorekeep://', 'lorekeep://a/%', 'http://a/b', ''])
    expect(parseUri(uri)).toBeUndefined();
});
