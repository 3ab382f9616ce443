import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { valueAt } from '../../src/base/schema/field-issue.js';
import { checkServerConfig } from '../../src/config/check.js';
import { configFields, setValue } from '../../src/config/fields.js';
import { loadConfig } from '../../src/config/load.js';
import { temporaryFolder } from '../helpers/folder.js';
import { type FieldSchema, type ObjectSchema, refusedValues } from '../helpers/schema-mutations.js';

/** Every field of the config file at its bounds, beyond them, and of each other type. */

const inFolder = temporaryFolder();
const schema = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../schemas/server-config.schema.json'), 'utf8'),
) as ObjectSchema;

const schemaAt = (keys: readonly string[]) =>
  keys.reduce<unknown>((at, key) => (at as ObjectSchema).properties[key], schema) as FieldSchema;

const fields = configFields.filter(
  ({ path, facts }) => path !== '$schema' && !facts.deprecated && !path.includes('[]'),
);

function write(keys: readonly string[], value: unknown): string {
  const config = {};
  setValue(config, keys, value);
  const file = inFolder('server-config.json');
  writeFileSync(file, JSON.stringify(config));
  return file;
}

it('a value that a field refuses stops the start, and names the field and its place', async () => {
  let tried = 0;
  for (const { keys, path } of fields) {
    const values = refusedValues(schemaAt(keys));
    expect(values.length, path).toBeGreaterThan(0);
    for (const [what, value] of values) {
      tried++;
      const file = write(keys, value);
      const [problem] = await checkServerConfig(file);
      expect(problem?.severity, `${path}: ${what}`).toBe('error');
      expect(problem?.message, `${path}: ${what}`).toMatch(/:1:\d+: /);
      expect(problem?.message).toContain(`: ${path}`);
    }
    const [, first] = values[0] as [string, unknown];
    await expect(loadConfig({ '--config': write(keys, first) })).rejects.toThrow(path);
  }
  expect(tried).toBeGreaterThan(300);
});

it('the bounds of a field, and each of its words, are taken as they are', async () => {
  let tried = 0;
  for (const { keys, path } of fields) {
    const { minimum, maximum, enum: words = [], type } = schemaAt(keys);
    const bounds = [minimum, maximum].filter((bound) => bound !== undefined);
    for (const value of [...bounds, ...words, ...(type === 'boolean' ? [true, false] : [])]) {
      tried++;
      const { config } = await loadConfig({ '--config': write(keys, value) });
      expect(valueAt(config, keys), path).toBe(value);
    }
  }
  expect(tried).toBeGreaterThan(100);
});
