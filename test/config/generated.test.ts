import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { failuresTable } from '../../src/cli/documentation.js';
import { configurationTable, flagsTable, variablesTable } from '../../src/config/documentation.js';
import { configFields } from '../../src/config/fields.js';
import { parseConfig } from '../../src/config/file.js';
import { configJsonSchema } from '../../src/config/json-schema.js';

const project = join(import.meta.dirname, '../..');
const read = (...names: string[]) => readFileSync(join(project, ...names), 'utf8');

describe('what is made from the config schema', () => {
  it('is current: docs/configuration.md (scripts/generate-docs.mjs writes it)', () => {
    const page = read('docs', 'configuration.md');
    expect(page).toContain(`<!-- begin fields -->\n\n${configurationTable()}\n\n<!-- end fields -->`);
    expect(page).toContain(`<!-- begin flags -->\n\n${flagsTable()}\n\n<!-- end flags -->`);
    expect(page).toContain(`<!-- begin variables -->\n\n${variablesTable()}\n\n<!-- end variables -->`);
    for (const { path } of configFields) expect(page).toContain(`| \`${path}\` |`);
  });

  it('is current: the codes of failures in docs/cli.md', () => {
    expect(read('docs', 'cli.md')).toContain(
      `<!-- begin failures -->\n\n${failuresTable()}\n\n<!-- end failures -->`,
    );
  });

  it('has examples that are right', () => {
    const examples = ['configuration.md', 'operations.md'].flatMap((page) =>
      [...read('docs', page).matchAll(/```json\n(.*?)```/gs)].map(([, text = '']) => ({ page, text })),
    );
    expect(examples.length).toBeGreaterThan(2);
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
