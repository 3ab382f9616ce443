import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { jsonSchemas } from '../../src/knowledge/json-schemas.js';

const folder = join(import.meta.dirname, '../../schemas');

test('the JSON Schemas that are shipped are those of the zod schemas (scripts/generate-schemas.mjs writes them)', () => {
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
