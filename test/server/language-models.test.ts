import { writeFileSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { LorekeepError } from '../../lib/index.js';
import { Catalog } from '../../src/models/catalog.js';
import { LanguageModels, type LoadOptions } from '../../src/models/language-models.js';
import { ModelMemory } from '../../src/models/model-memory.js';
import { Residency } from '../../src/models/residency.js';
import { FakeTextModel } from '../helpers/fake-text-model.js';
import { temporaryFolder } from '../helpers/folder.js';
import { writeDecoderModel } from '../helpers/models.js';

const file = temporaryFolder();
let catalogs = 0;

/** Language models of a catalog: "small" with a context of its own, "large", "far" without a file; and an embedding model. */
async function languageModels(
  more: Partial<ConstructorParameters<typeof LanguageModels>[1]> & { memory?: ModelMemory } = {},
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
  const { memory, ...options } = { ...settings, idleMs: 0, load, ...more };
  const residency = new Residency(await Catalog.load(path), { log, memory });
  return { models: new LanguageModels(residency, options), residency, loads, loaded, log };
}

describe('language models of a catalog', () => {
  it('are loaded at their first use with the settings of config and catalog, and shared', async () => {
    const { models, residency, loads, loaded } = await languageModels();
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
    using lease = await first.lease();
    using other = await second.lease();
    expect(lease.model).toBe(other.model);
    // @ts-expect-error only a lease has the model
    expect(first.model).toBeUndefined();
    expect([first.name, first.contextSize]).toEqual(['small', 512]);
    const large = await models.pin('large');
    expect(loads[1]).toMatchObject({ contextSize: 2048, placement: 'ram' });
    expect(large.contextSize).toBe(2048);
    await residency.close();
    expect(loaded.map(({ closed }) => closed)).toEqual([1, 1]);
  });

  it("have the node's context, at most the model's own", async () => {
    const { models, residency, loads } = await languageModels();
    expect((await models.pin('large', 100)).contextSize).toBe(100);
    expect((await models.pin('large', 2048)).contextSize).toBe(2048);
    expect(loads).toHaveLength(1);
    expect((await models.pin('large', 8192)).contextSize).toBe(4096);
    expect((await models.pin('large', 8000)).contextSize).toBe(4096);
    expect(loads.map(({ contextSize }) => contextSize)).toEqual([2048, 8192]);
    await residency.close();
  });

  it('are unloaded when nothing has used them for a while, and loaded again', async () => {
    const { models, residency, loads, loaded } = await languageModels({ idleMs: 1 });
    const first = await models.pin('small');
    const second = await models.pin('small');
    first.release();
    first.release();
    expect(loaded[0]?.closed).toBe(0);
    second.release();
    await vi.waitFor(() => expect(loaded[0]?.closed).toBe(1));
    await models.pin('small');
    expect(loads).toHaveLength(2);
    await residency.close();
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
    const { models, residency, log } = await languageModels({ load });
    await expect(models.pin('small')).rejects.toMatchObject({
      model: 'small',
      why: 'CORRUPT',
      told: expect.not.stringContaining(file()),
    });
    expect(log.error).toHaveBeenCalledOnce();
    await models.pin('small');
    await expect(models.pin('far')).rejects.toMatchObject({ why: 'NOT_FOUND', model: 'far' });
    await residency.close();
    await expect(models.pin('small')).rejects.toMatchObject({ code: 'CLOSED' });
  });

  it('that have to leave the GPU are not in memory until their next lease, and the budget knows where they are', async () => {
    const memory = new ModelMemory({ limit: () => undefined });
    const load = async (_: string, { placement }: LoadOptions) =>
      new FakeTextModel({ facts: { contextSize: 64, device: placement === 'ram' ? 'CPU' : 'GPU0' } });
    const path = await writeDecoderModel('real.gguf', { pooling: null });
    const { models, residency } = await languageModels({ memory, load }, path);
    const pin = await models.pin('small');
    const taken = memory.used('CPU'); // llama.cpp plans for the CPU: no GPU is chosen
    expect(taken).toBeGreaterThan(0);
    await residency.allowGpu(false);
    expect([residency.inMemory, await models.states(), memory.used('CPU')]).toEqual([[], [], 0]);
    {
      using _lease = await pin.lease();
      expect(residency.inMemory).toMatchObject([{ name: 'small', device: 'CPU', bytes: taken }]);
    }
    pin.release();
    await residency.close();
    expect(memory.used('CPU')).toBe(0);
  });
});
