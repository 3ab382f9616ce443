import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { jsonSchemas } from '../../src/knowledge/json-schemas.js';

const folder = join(import.meta.dirname, '../../schemas');

test('the shipped JSON Schemas equal the zod schemas (scripts/generate-schemas.mjs writes them)', () => {
  for (const [name, text] of Object.entries(jsonSchemas())) {
    expect(readFileSync(join(folder, name), 'utf8'), name).toBe(text);
  }
});

test('they describe every field, and require what has no default', () => {
  const schema = JSON.parse(jsonSchemas()['knowledge-base.schema.json'] ?? '');
  expect(schema.required).toEqual(['embedding_model', 'records_file']);
  for (const [name, field] of Object.entries(schema.properties)) {
    if (name !== 'version') expect(field, name).toHaveProperty('description');
  }
  const records = JSON.parse(jsonSchemas()['records.schema.json'] ?? '');
  expect(records).toMatchObject({ type: 'array', minItems: 1, items: { required: ['id', 'text'] } });
});

test('a field needs exactly one of default and "optional": true, and a default that its type takes', () => {
  const schema = JSON.parse(jsonSchemas()['knowledge-base.schema.json'] ?? '');
  const field = schema.properties.fields.items;
  expect(field.oneOf.map((one: { required: string[] }) => one.required)).toEqual([['default'], ['optional']]);
  const valuesOf = (name: string) =>
    field.allOf.flatMap((rule: { if: typeof field }) => rule.if.properties[name]?.const ?? []);
  expect(valuesOf('type')).toEqual(field.properties.type.enum);
  expect(valuesOf('format')).toEqual(field.properties.format.enum);
  for (const rule of field.allOf) expect(rule.then.properties.default).not.toEqual({});
});

test('a blank id or text is none', () => {
  const { properties } = JSON.parse(jsonSchemas()['records.schema.json'] ?? '').items;
  for (const { pattern } of [properties.id, properties.text]) {
    expect([' \t\n', '', ' a', '\u00a0'].map((text) => new RegExp(pattern).test(text))).toEqual([
      false,
      false,
      true,
      true,
    ]);
  }
});
