import { afterEach, expect, it, vi } from 'vitest';
import { EmbeddingModel } from '../../lib/index.js';
import { embedQuery } from '../../src/knowledge/model.js';
import { Catalog } from '../../src/models/catalog.js';
import { CatalogModels } from '../../src/models/catalog-models.js';
import { ModelMemory } from '../../src/models/model-memory.js';
import { Residency } from '../../src/models/residency.js';
import { shippedCatalog } from '../../src/models/shipped-catalog.js';

afterEach(() => void vi.restoreAllMocks());

/** The shipped models, which say that they are on a GPU until they have to leave it. */
async function modelsOnGpu() {
  const { load } = EmbeddingModel;
  const placements: unknown[] = [];
  vi.spyOn(EmbeddingModel, 'load').mockImplementation(async (path, options) => {
    placements.push(options?.placement);
    const model = await load(path, { ...options, placement: 'ram' });
    const device = options?.placement === 'ram' ? 'CPU' : 'GPU0';
    vi.spyOn(model, 'facts', 'get').mockReturnValue({ ...model.facts, device });
    return model;
  });
  const memory = new ModelMemory({ limit: () => undefined });
  const residency = new Residency(await Catalog.load(shippedCatalog), {
    log: { info() {}, error() {} },
    memory,
  });
  return { residency, memory, models: new CatalogModels(residency.catalog, {}, residency), placements };
}

it('an embedding model that leaves the GPU frees its memory, and its next text loads it on the CPU', async () => {
  const { models, residency, memory, placements } = await modelsOnGpu();
  await using _ = models;
  const model = await models.resolve('lorekeep-mini');
  expect(memory.used('GPU0')).toBeGreaterThan(0);
  await residency.allowGpu(false);
  expect([residency.inMemory, memory.used('GPU0'), memory.used('CPU')]).toEqual([[], 0, 0]);
  expect((await embedQuery(model, 'bees', undefined)).vectors).toHaveLength(model.dimension);
  expect([placements, memory.used('GPU0'), memory.used('CPU') > 0]).toEqual([['auto', 'ram'], 0, true]);
});

it('texts that are being embedded when their model leaves the GPU are embedded again', async () => {
  const { models, residency, placements } = await modelsOnGpu();
  await using _ = models;
  const model = await models.resolve('lorekeep-mini');
  const before = await embedQuery(model, 'bees dance', undefined);
  const running = Array.from({ length: 8 }, () => embedQuery(model, 'bees dance', undefined));
  await residency.allowGpu(false);
  for (const { vectors } of await Promise.all(running)) expect(vectors).toEqual(before.vectors);
  expect(placements).toEqual(['auto', 'ram']);
});

it('an embedding model that is closed with an error ends its pending calls with it', async () => {
  const model = await EmbeddingModel.load(
    (await Catalog.load(shippedCatalog)).resolveFile('models/lorekeep-mini.gguf'),
  );
  const texts = Array.from({ length: 20_000 }, (_, n) => `text ${n} about bees`);
  const failed = Promise.allSettled([
    model.embed(texts),
    model.embed(texts, { signal: new AbortController().signal }),
  ]);
  await model.embed('bees');
  const reason = Object.assign(new Error('needed'), { code: 'DEVICE_LOST' });
  await model.close(reason as never);
  expect(await failed).toEqual([
    { status: 'rejected', reason },
    { status: 'rejected', reason },
  ]);
  await expect(model.embed('bees')).rejects.toBe(reason);
});
