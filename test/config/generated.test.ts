import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { configFields } from '../../src/config/fields.js';
import { parseConfig } from '../../src/config/file.js';
import { configJsonSchema } from '../../src/config/json-schema.js';

const project = join(import.meta.dirname, '../..');
const read = (...names: string[]) => readFileSync(join(project, ...names), 'utf8');

describe('what is made from the config schema', () => {
  it('documents every field', () => {
    const page = read('docs', 'reference/configuration.md');
    for (const { path } of configFields) expect(page).toContain(`| \`${path}\` |`);
  });

  it('has examples that are right', () => {
    const examples = ['reference/configuration.md', 'guides/operations.md'].flatMap((page) =>
      [...read('docs', page).matchAll(/```json\n(.*?)```/gs)].map(([, text = '']) => ({ page, text })),
    );
    expect(examples.length).toBeGreaterThan(0);
    for (const { page, text } of examples) expect(parseConfig(page, text).problems, text).toEqual([]);
  });

  it('is current: the JSON Schema (scripts/generate-schemas.mjs writes it)', () => {
    expect(read('schemas', 'server-config.schema.json')).toBe(configJsonSchema());
    expect(readdirSync(join(project, 'schemas')).every((name) => name.endsWith('.schema.json'))).toBe(true);
  });

  it('has no default of this machine', () => {
    const { properties } = JSON.parse(configJsonSchema());
    expect(properties.storage_cache_max_mb).not.toHaveProperty('default');
    expect(properties.port).toMatchObject({ type: 'integer', default: 9100, minimum: 0, maximum: 65_535 });
    expect(properties.engines.properties.llm_engine.properties.n_gpu_layers.deprecated).toBe(true);
  });
});
