import { afterEach, expect, it, vi } from 'vitest';
import { EmbeddingModel } from '../../lib/index.js';
import { Catalog } from '../../src/models/catalog.js';
import { CatalogModels } from '../../src/models/catalog-models.js';
import { GpuLoads } from '../../src/models/gpu-loads.js';
import { ModelMemory } from '../../src/models/model-memory.js';
import { ModelSlot } from '../../src/models/model-slot.js';
import { shippedCatalog } from '../../src/models/shipped-catalog.js';

afterEach(() => void vi.restoreAllMocks());

/** The shipped models, which are on a GPU until they leave it. */
async function modelsOnGpu(memory: ModelMemory) {
  const load = EmbeddingModel.load;
  vi.spyOn(EmbeddingModel, 'load').mockImplementation(async (path, options) => {
    const model = await load(path, { ...options, placement: 'ram' });
    let device = options?.placement === 'ram' ? 'CPU' : 'GPU0';
    vi.spyOn(model, 'facts', 'get').mockReturnValue({ ...model.facts, device });
    vi.spyOn(model, 'leaveGpu').mockImplementation(async () => {
      device = 'CPU';
      vi.spyOn(model, 'facts', 'get').mockReturnValue({ ...model.facts, device });
    });
    return model;
  });
  return new CatalogModels(await Catalog.load(shippedCatalog), { memory });
}

it('an embedding model that leaves the GPU waits for room in main memory before its next text', async () => {
  const cpu = { limit: Number.POSITIVE_INFINITY };
  const memory = new ModelMemory({ limit: (device) => (device === 'CPU' ? cpu.limit : undefined) });
  await using models = await modelsOnGpu(memory);
  const model = await models.resolve('lorekeep-mini');
  expect(memory.used('GPU0')).toBeGreaterThan(0);
  await models.allowGpu(false);
  expect([model.isInMemory, memory.used('GPU0'), memory.used('CPU')]).toEqual([false, 0, 0]);
  cpu.limit = 1;
  await expect(model.inMemory()).rejects.toMatchObject({ code: 'OUT_OF_MEMORY', detail: { limit: 1 } });
  cpu.limit = Number.POSITIVE_INFINITY;
  await model.inMemory();
  expect([memory.used('GPU0'), memory.used('CPU') > 0]).toEqual([0, true]);
});

it('an embedding model that leaves the GPU in the middle of a text stays, and counts in main memory', async () => {
  const memory = new ModelMemory({ limit: () => undefined });
  await using models = await modelsOnGpu(memory);
  const model = await models.resolve('lorekeep-mini');
  const leave = model.use();
  await models.allowGpu(false);
  expect([model.isInMemory, memory.used('GPU0'), memory.used('CPU') > 0]).toEqual([true, 0, true]);
  leave();
});

it('an embedding model that is being loaded onto the GPU is loaded on the CPU instead', async () => {
  const memory = new ModelMemory({ limit: () => undefined });
  await using models = await modelsOnGpu(memory);
  const load = vi.mocked(EmbeddingModel.load);
  const usual = load.getMockImplementation();
  const placements: unknown[] = [];
  let left: Promise<void> | undefined;
  load.mockImplementation(async (path, options) => {
    placements.push(options?.placement);
    left ??= models.allowGpu(false);
    return usual?.(path, options) as Promise<EmbeddingModel>;
  });
  const model = await models.resolve('lorekeep-mini');
  await left;
  expect([placements.length, placements.at(-1)]).toEqual([2, 'ram']);
  expect([model.isInMemory, memory.used('GPU0'), memory.used('CPU') > 0]).toEqual([true, 0, true]);
});

it('video memory is free when a model that is being unloaded has been freed', async () => {
  const gpu = new GpuLoads();
  let finish = () => {};
  const closed = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const slot = new ModelSlot({
    name: 'm',
    gpu,
    load: async () => ({ facts: { fingerprint: 'f' }, close: () => closed }),
    refuse: () => new Error('refused'),
    idleMs: 0,
    onUnloaded: () => {},
    onChanged: () => {},
  });
  await slot.inMemory();
  void slot.unloadUnused();
  const order: string[] = [];
  const free = gpu.displace().then(() => order.push('free'));
  await new Promise(setImmediate);
  order.push('closed');
  finish();
  await free;
  expect(order).toEqual(['closed', 'free']);
});
