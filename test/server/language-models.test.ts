import { writeFileSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { LorekeepError } from '../../lib/index.js';
import { Catalog } from '../../src/models/catalog.js';
import { LanguageModels, type LoadOptions } from '../../src/models/language-models.js';
import { ModelMemory } from '../../src/models/model-memory.js';
import { FakeTextModel } from '../helpers/fake-text-model.js';
import { temporaryFolder } from '../helpers/folder.js';
import { writeDecoderModel } from '../helpers/models.js';

const file = temporaryFolder();
let catalogs = 0;

/** Language models of a catalog: "small" with a context of its own, "large", "far" without a file; and an embedding model. */
async function languageModels(
  more: Partial<ConstructorParameters<typeof LanguageModels>[1]> = {},
  smallFile = 'small.gguf',
) {
  const path = file(`${++catalogs}.json`);
  const model = (name: string, variant: object, model_type = 'llm') => ({
    name,
    model_type,
    variants: [variant],
  });
  const models = [
    model('words', { file: 'words.gguf' }, 'embedding'),
    model('small', { file: smallFile, context_size: 512 }),
    model('large', { file: 'large.gguf', placement: 'ram' }),
    model('far', { url: 'https://example.test/far' }),
  ];
  writeFileSync(path, JSON.stringify({ version: 1, models }));
  const loads: (LoadOptions & { path: string })[] = [];
  const loaded: FakeTextModel[] = [];
  const load = async (path: string, options: LoadOptions) => {
    loads.push({ path, ...options });
    const made = new FakeTextModel({ facts: { contextSize: Math.min(4096, options.contextSize) } });
    loaded.push(made);
    return made;
  };
  const log = { info: vi.fn(), error: vi.fn() };
  const settings = {
    defaultContext: 2048,
    threads: 3,
    batchThreads: 2,
    batchSize: 256,
    offloadKqv: true,
    runtime: 'decoder',
    kvCells: 1024,
    kvCacheType: 'q8_0',
  } as const;
  const options = { ...settings, idleMs: 0, log, load };
  const found = new LanguageModels(await Catalog.load(path), { ...options, ...more });
  return { models: found, loads, loaded, log };
}

describe('language models of a catalog', () => {
  it('are loaded at their first use with the settings of config and catalog, and shared', async () => {
    const { models, loads, loaded } = await languageModels();
    expect(loads).toHaveLength(0);
    const [first, second] = await Promise.all([models.pin(undefined), models.pin('small')]);
    expect(loads).toMatchObject([
      {
        path: file('small.gguf'),
        contextSize: 512,
        threads: 3,
        batchThreads: 2,
        batchSize: 256,
        runtime: 'decoder',
        kvCells: 1024,
        kvCacheType: 'q8_0',
      },
    ]);
    expect(first.model).toBe(second.model);
    expect([first.name, first.contextSize]).toEqual(['small', 512]);
    const large = await models.pin('large');
    expect(loads[1]).toMatchObject({ contextSize: 2048, placement: 'ram' });
    expect(large.contextSize).toBe(2048);
    await models.close();
    expect(loaded.map(({ closed }) => closed)).toEqual([1, 1]);
  });

  it("have the node's context, at most the model's own", async () => {
    const { models, loads } = await languageModels();
    expect((await models.pin('large', 100)).contextSize).toBe(100);
    expect((await models.pin('large', 2048)).contextSize).toBe(2048);
    expect(loads).toHaveLength(1);
    expect((await models.pin('large', 8192)).contextSize).toBe(4096);
    expect((await models.pin('large', 8000)).contextSize).toBe(4096);
    expect(loads.map(({ contextSize }) => contextSize)).toEqual([2048, 8192]);
    await models.close();
  });

  it('are unloaded when nothing has used them for a while, and loaded again', async () => {
    const { models, loads, loaded } = await languageModels({ idleMs: 1 });
    const first = await models.pin('small');
    const second = await models.pin('small');
    first.release();
    first.release();
    expect(loaded[0]?.closed).toBe(0);
    second.release();
    await vi.waitFor(() => expect(loaded[0]?.closed).toBe(1));
    await models.pin('small');
    expect(loads).toHaveLength(2);
    await models.close();
  });

  it.each([
    ['smal', /^there is no language model "smal"; did you mean "small"\?$/],
    ['words', /^model "words" is of type embedding; a language model is needed$/],
  ])('that are named %s are refused', async (name, message) => {
    const { models } = await languageModels();
    await expect(models.pin(name)).rejects.toMatchObject({
      name: 'UnknownModelError',
      message: expect.stringMatching(message),
      known: ['small', 'large', 'far'],
    });
  });

  it('that cannot be loaded are named, logged, and tried again', async () => {
    let attempts = 0;
    const load = async () => {
      if (attempts++ === 0) throw new LorekeepError('CORRUPT', `${file('small.gguf')}: not a model`);
      return new FakeTextModel();
    };
    const { models, log } = await languageModels({ load });
    await expect(models.pin('small')).rejects.toMatchObject({
      model: 'small',
      why: 'CORRUPT',
      told: expect.not.stringContaining(file()),
    });
    expect(log.error).toHaveBeenCalledOnce();
    await models.pin('small');
    await expect(models.pin('far')).rejects.toMatchObject({ why: 'NOT_FOUND', model: 'far' });
    await models.close();
    await expect(models.pin('small')).rejects.toMatchObject({ code: 'CLOSED' });
  });

  it('that have to leave the GPU are not in memory until their next request, and the budget knows where they are', async () => {
    const memory = new ModelMemory({ limit: () => undefined });
    const load = async (_: string, { placement }: LoadOptions) =>
      new FakeTextModel({ facts: { contextSize: 64, device: placement === 'ram' ? 'CPU' : 'GPU0' } });
    const path = await writeDecoderModel('real.gguf', { pooling: null });
    const { models } = await languageModels({ memory, load }, path);
    const used = () => memory.use.map(({ device, used: bytes }) => [device, bytes > 0]);
    const pin = await models.pin('small');
    const leave = await pin.enter();
    const taken = memory.used('CPU');
    expect(taken).toBeGreaterThan(0);
    await models.allowGpu(false);
    expect([models.inMemory, await models.states(), memory.used('CPU')]).toEqual([[], [], 0]);
    for await (const _ of pin.model.generate({ prompt: 'hello' }));
    expect(models.inMemory).toMatchObject([{ name: 'small', device: 'CPU', bytes: taken }]);
    expect(used()).toEqual([['CPU', true]]);
    leave();
    pin.release();
    await models.close();
    expect(memory.used('CPU')).toBe(0);
  });

  const leavingFor = async (limit: (need: number) => number) => {
    const cpu = { limit: Number.POSITIVE_INFINITY };
    const memory = new ModelMemory({ limit: (device) => (device === 'CPU' ? cpu.limit : undefined) });
    const load = async (_: string, { placement }: LoadOptions) =>
      new FakeTextModel({ facts: { contextSize: 64, device: placement === 'ram' ? 'CPU' : 'GPU0' } });
    const { models } = await languageModels(
      { memory, load },
      await writeDecoderModel('real.gguf', { pooling: null }),
    );
    const pin = await models.pin('small');
    const leave = await pin.enter();
    const need = memory.used('CPU'); // llama.cpp plans for the CPU: no GPU is chosen
    await models.allowGpu(false);
    cpu.limit = limit(need);
    const evicted: string[] = [];
    const other = await memory.admit(
      'other',
      { CPU: need / 2 },
      {
        busy: () => false,
        evict: async () => {
          evicted.push('other');
          other.release();
        },
      },
    );
    other.loaded();
    const end = async () => {
      leave();
      pin.release();
      await models.close();
    };
    return { pin, evicted, memory, need, end };
  };

  it('that move to the CPU wait until idle models have made room there', async () => {
    const { pin, evicted, memory, need, end } = await leavingFor((bytes) => 1.2 * bytes);
    for await (const _ of pin.model.generate({ prompt: 'hello' }));
    expect([evicted, memory.used('CPU')]).toEqual([['other'], need]);
    await end();
  });

  it('that can never fit on the CPU are refused with both numbers', async () => {
    const { pin, memory, need, end } = await leavingFor((bytes) => bytes / 2);
    await expect(pin.model.generate({ prompt: 'hello' }).result).rejects.toMatchObject({
      code: 'OUT_OF_MEMORY',
      detail: { model: 'small', need, limit: need / 2 },
    });
    expect(memory.used('CPU')).toBe(need / 2);
    await end();
  });
});

describe('video memory that others need during a load', () => {
  /** Loads onto the GPU that only an abort ends, except for `ready` first ones. Loads onto the CPU succeed. */
  function slowGpu(ready: number) {
    const placements: LoadOptions['placement'][] = [];
    let started = () => {};
    const began = new Promise<void>((resolve) => {
      started = resolve;
    });
    const load = async (_path: string, { placement, signal }: LoadOptions) => {
      placements.push(placement);
      if (placement === 'ram') return new FakeTextModel({ facts: { device: 'CPU' } });
      if (placements.length <= ready) return new FakeTextModel({ facts: { device: 'GPU0' } });
      started();
      return new Promise<FakeTextModel>((_, reject) => {
        signal.addEventListener('abort', () => reject(new LorekeepError('CANCELLED', 'aborted')));
      });
    };
    return { load, placements, began };
  }

  it('ends the load, which runs again on the CPU and is no failure', async () => {
    const { load, placements, began } = slowGpu(0);
    const { models, log } = await languageModels({ load });
    const pinning = models.pin('small');
    await began;
    await models.allowGpu(false);
    const pin = await pinning;
    expect([placements, pin.model.facts.device]).toEqual([['auto', 'ram'], 'CPU']);
    expect(log.error).not.toHaveBeenCalled();
    await models.close();
  });

  it('ends the load of a model that returns to the GPU, and its request with DEVICE_LOST', async () => {
    const { load, placements, began } = slowGpu(1);
    const { models } = await languageModels({ load });
    const pin = await models.pin('small');
    const leave = await pin.enter();
    await models.allowGpu(false);
    await models.allowGpu(true);
    const { result } = pin.model.generate({ prompt: 'hello' });
    await began;
    await models.allowGpu(false);
    await expect(result).rejects.toMatchObject({ code: 'DEVICE_LOST' });
    for await (const _ of pin.model.generate({ prompt: 'hello' }));
    expect(placements).toEqual(['auto', 'auto', 'ram']);
    leave();
    await models.close();
  });
});
