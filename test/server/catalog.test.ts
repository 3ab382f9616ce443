import { createHash } from 'node:crypto';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { LorekeepError } from '../../lib/index.js';
import { Catalog } from '../../src/catalog/catalog.js';
import { catalogJsonSchema } from '../../src/catalog/schema.js';
import { temporaryFolder } from '../helpers/folder.js';

const inFolder = temporaryFolder();
const project = join(import.meta.dirname, '../..');

async function load(content: string | object): Promise<Catalog> {
  const path = inFolder(`models-${Math.random()}.json`);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return Catalog.load(path);
}

const variants = [{ file: 'a.gguf' }];
const model = { name: 'a', model_type: 'embedding', variants };
const refused = async (content: string | object) => {
  const error = await load(content).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(LorekeepError);
  return (error as Error).message;
};

describe('the model catalog', () => {
  it('finds models by name, with files beside it', async () => {
    const llm = { name: 'b', model_type: 'llm', variants: [{ url: 'example:b' }] };
    const catalog = await load({ version: 1, models: [{ ...model, query_prefix: 'query: ' }, llm] });
    expect(catalog.find('a')).toMatchObject({ query_prefix: 'query: ', document_prefix: '' });
    expect(catalog.find('A')).toBeUndefined();
    expect(catalog.embeddingModels).toEqual(['a']);
    expect(catalog.resolveFile('a.gguf')).toBe(inFolder('a.gguf'));
    expect(catalog.resolveFile('/models/a.gguf')).toBe('/models/a.gguf');
  });

  it('warns of unknown keys', async () => {
    const { warnings } = await load({ version: 1, models: [{ ...model, query_prefx: 'query: ' }] });
    expect(warnings).toEqual([
      expect.stringContaining('models[0].query_prefx: is not a known field; did you mean "query_prefix"?'),
    ]);
  });

  it('is refused when it is absent, not JSON, or of another version', async () => {
    await expect(Catalog.load(inFolder('absent.json'))).rejects.toThrow('the model catalog does not exist');
    expect(await refused('{')).toContain('not valid JSON');
    expect(await refused({ version: 2, models: [] })).toContain('version');
    expect(await refused({ version: 1 })).toContain('models: is missing');
    expect(await refused({ version: 1, models: [] })).toContain('models: a model is expected');
    expect(await refused('{"version": 1,\n "models": [}')).toContain(':2:13: not valid JSON');
    expect(await refused('{"version": 1,\n "models": [{"name": 3}]}')).toMatch(/:2:22: models\[0\]\.name: /);
    const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
    expect(await refused(`{"version": 1, "models": ${deep}}`)).toContain(': nested deeper than 64 levels');
    expect(await refused('{"version": 1,\n "models": [], "models": []}')).toContain(
      ':2:16: models: occurs twice',
    );
    await expect(Catalog.load(inFolder('.'))).rejects.toThrow('is a folder');
  });

  it('is refused with the entry that is wrong', async () => {
    const second = (entry: object) => refused({ version: 1, models: [model, entry] });
    expect(await second({ ...model, name: 'e5', model_type: 'vector' })).toMatch(
      /model "e5": models\[1\]\.model_type: /,
    );
    expect(await second({ ...model, name: 'e5', variants: [] })).toContain('model "e5": models[1].variants');
    expect(await second({ model_type: 'embedding', variants })).toContain('models[1].name: is missing');
    expect(await second(model)).toContain('model "a": the name is used twice');
    const both = [{ file: 'a', url: 'b' }];
    expect(await second({ ...model, name: 'e5', variants: both })).toContain(
      'model "e5": variants[0]: exactly one of',
    );
  });
});

describe('the JSON Schema of the catalog', () => {
  it('is current (scripts/generate-schemas.mjs writes it)', () => {
    const path = join(project, 'schemas', 'model-catalog.schema.json');
    expect(readFileSync(path, 'utf8')).toBe(catalogJsonSchema());
  });

  it('has the fields of a variant, and asks for one place of the file', () => {
    const { properties } = JSON.parse(catalogJsonSchema()).properties.models.items;
    const variant = properties.variants.items;
    expect(Object.keys(variant.properties)).toEqual(
      expect.arrayContaining(['file', 'url', 'sha256', 'size_bytes', 'context_size']),
    );
    expect(variant.oneOf).toEqual([{ required: ['file'] }, { required: ['url'] }, { required: ['hf'] }]);
  });
});

it('the shipped catalog is right about the files that are there', async () => {
  const catalog = await Catalog.load(join(project, 'data', 'models.json'));
  expect(catalog.warnings).toEqual([]);
  const files = catalog.entries.flatMap(({ variants }) => variants);
  const present = files.filter(({ file }) => file !== undefined && existsSync(catalog.resolveFile(file)));
  expect(present.length).toBeGreaterThan(0);
  for (const { file = '', size_bytes, sha256 } of present) {
    const path = catalog.resolveFile(file);
    expect(size_bytes ?? statSync(path).size, file).toBe(statSync(path).size);
    const found = createHash('sha256').update(readFileSync(path)).digest('hex');
    expect(sha256?.toLowerCase() ?? found, file).toBe(found);
  }
});
