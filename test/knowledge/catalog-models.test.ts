import { writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { embeddingOptions } from '../../src/config/model-options.js';
import { configSchema } from '../../src/config/schema.js';
import { CatalogModels, KnowledgeBaseCache, openKnowledgeBase } from '../../src/knowledge/index.js';
import { defaultOptions } from '../../src/models/catalog-models.js';
import { rejection } from '../helpers/errors.js';
import { temporaryFolder } from '../helpers/folder.js';

const file = temporaryFolder();

function knowledgeBase(model: string): string {
  writeFileSync(file('records.json'), JSON.stringify([{ id: 'bees', text: 'Honey bees dance' }]));
  const path = file(`${model}.json`);
  writeFileSync(path, JSON.stringify({ embedding_model: model, records_file: 'records.json' }));
  return path;
}

function catalog(content: unknown): string {
  const path = file('models.json');
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

describe('the models of a catalog', () => {
  test('come from the package by default, and open knowledge bases', async () => {
    await using models = await CatalogModels.open();
    expect(models.names).toContain('lorekeep-mini');
    await using opened = await openKnowledgeBase(knowledgeBase('lorekeep-mini'), { models });
    await using cache = new KnowledgeBaseCache({ models });
    await using pin = await cache.open(file('lorekeep-mini.json'));
    for (const one of [opened, pin.value]) {
      expect((await one.search({ text: 'who dances?' })).hits[0]?.id).toBe('bees');
    }
  });

  test('are told apart by whether a file is there', async () => {
    const entry = (name: string, path: string) => ({
      name,
      model_type: 'embedding',
      variants: [{ file: path }],
    });
    writeFileSync(file('here.gguf'), '');
    const models = [entry('here', 'here.gguf'), entry('absent', 'absent.gguf')];
    await using opened = await CatalogModels.open(catalog({ version: 1, models }));
    expect(opened.names).toEqual(['here', 'absent']);
    expect(opened.presentNames).toEqual(['here']);
  });

  test('are loaded once, and end with close()', async () => {
    const models = await CatalogModels.open();
    const [one, other] = await Promise.all([
      models.resolve('lorekeep-mini'),
      models.resolve('lorekeep-mini'),
    ]);
    expect(one).toBe(other);
    await models.close();
    await models.close();
    await rejection(models.resolve('lorekeep-mini'), 'CLOSED');
  });

  test('are named when another one is asked for', async () => {
    await using models = await CatalogModels.open();
    const error = await rejection(
      openKnowledgeBase(knowledgeBase('lorekep-mini'), { models }),
      'INVALID_ARGUMENT',
    );
    expect(error.message).toContain(
      'models.json: there is no embedding model "lorekep-mini"; did you mean "lorekeep-mini"?',
    );
  });

  test('say where a file of theirs is missing', async () => {
    const variants = [{ file: 'absent.gguf' }];
    await using models = await CatalogModels.open(
      catalog({ version: 1, models: [{ name: 'a', model_type: 'embedding', variants }], extra: 1 }),
    );
    expect(models.warnings).toEqual([expect.stringContaining('extra: is not a known field')]);
    const error = await rejection(models.resolve('a'), 'NOT_FOUND');
    expect(error.message).toContain(file('absent.gguf'));
  });

  test.each([
    ['', 'CORRUPT'],
    ['{"version": 1, "models": []}', 'INVALID_ARGUMENT'],
    ['[]', 'INVALID_ARGUMENT'],
    ['{"version": 1, "models": [{"name": "a"}]}', 'INVALID_ARGUMENT'],
  ] as const)('are refused for the catalog %j with %s, and the file is named', async (content, code) => {
    const error = await rejection(CatalogModels.open(catalog(content)), code);
    expect(error.message).toContain(file('models.json'));
    expect(error.detail).toMatchObject({ file: file('models.json'), reason: expect.any(String) });
  });

  test.each([5, null, { file: 'models.json' }, '', 'a\0b'])(
    'are refused for %j in place of a path',
    async (path) => {
      const { detail } = await rejection(CatalogModels.open(path as never), 'INVALID_ARGUMENT');
      const reason = 'the path of a model catalog is expected';
      expect(detail).toEqual({ field: 'file', reason, remedy: "leave it out for the package's catalog" });
    },
  );

  test('are embedded as by a server without a config', () => {
    const { defaultContext, threads } = embeddingOptions(configSchema.parse({}));
    expect(defaultOptions).toMatchObject({ defaultContext, threads });
  });

  test('are refused for a catalog that is absent', async () => {
    const error = await rejection(CatalogModels.open(file('none.json')), 'NOT_FOUND');
    expect(error.message).toContain(file('none.json'));
  });

  test.each([undefined, {}, { model: 1 }, { models: {} }])(
    'must be given: %j is not enough',
    async (options) => {
      const opening = openKnowledgeBase(knowledgeBase('lorekeep-mini'), options as never);
      expect((await rejection(opening, 'INVALID_ARGUMENT')).message).toMatch(/models/);
    },
  );
});
