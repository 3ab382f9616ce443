import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { LorekeepError } from '../../lib/index.js';
import { ModelMemory } from '../../src/models/model-memory.js';
import type { Resident } from '../../src/models/resident.js';
import type { Placement } from '../../src/models/schema.js';
import { FakeTextModel } from '../helpers/fake-text-model.js';
import { temporaryFolder } from '../helpers/folder.js';
import { fakeResidency } from '../helpers/residency.js';

const file = temporaryFolder();
let catalogs = 0;

const gate = () => {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
};

interface Scene {
  placement?: 'auto' | 'vram';
  memory?: ModelMemory;
  /** Whether a generation on the GPU fails. */
  lost?: () => boolean;
  /** Whether a load onto the GPU fails. */
  refuses?: () => boolean;
  /** Awaited before each piece on the GPU. */
  pause?: () => Promise<void>;
  /** Awaited by each load onto the GPU. */
  loading?: (signal: AbortSignal) => Promise<void>;
}

/** A model that takes 40 bytes where it is: on the GPU, unless it is told otherwise. */
async function scene({ placement = 'auto', memory, lost, refuses, pause, loading }: Scene = {}) {
  const loads: Placement[] = [];
  const models: FakeTextModel[] = [];
  const device = (wanted: Placement) => (wanted === 'ram' ? 'CPU' : 'GPU0');
  const { residency, resident, log } = await fakeResidency(file(`${++catalogs}.json`), ['m'], {
    placement,
    ...(memory && { memory }),
  });
  onTestFinished(() => residency.close());
  const model = resident<FakeTextModel>('m', {
    need: async (_, wanted) => ({ [device(wanted)]: 40 }),
    open: async (_, wanted, signal) => {
      loads.push(wanted);
      const gpu = wanted !== 'ram';
      if (gpu && loads.length > 1 && refuses?.()) throw new LorekeepError('MODEL_INVALID', 'no');
      if (gpu) await loading?.(signal);
      const made = new FakeTextModel({
        facts: { device: device(wanted) },
        reply: () => ['one', 'two'],
        ...(gpu && pause !== undefined && { pause }),
        fail: () => (gpu && lost?.() ? new LorekeepError('DEVICE_LOST', 'GPU0 failed') : undefined),
      });
      models.push(made);
      return made;
    },
  });
  return { residency, model, loads, models, log };
}

async function text(model: Resident<FakeTextModel>): Promise<string> {
  using lease = await model.lease();
  const generation = lease.model.generate({ prompt: 'hello' });
  generation.result.catch(() => {});
  for await (const _ of generation);
  return (await generation.result).text;
}

const lostGpu = { code: 'DEVICE_LOST' };

describe('a model whose GPU fails', () => {
  it('fails the request, closes, and is loaded on the GPU again for the next one', async () => {
    let lost = true;
    const memory = new ModelMemory({ limit: () => undefined });
    const { model, loads, models, log } = await scene({ lost: () => lost, memory });
    await expect(text(model)).rejects.toMatchObject(lostGpu);
    lost = false;
    expect(await text(model)).toBe('onetwo');
    expect([loads, models[0]?.closed, model.loaded?.device]).toEqual([['auto', 'auto'], 1, 'GPU0']);
    expect(log.error).toHaveBeenCalledOnce();
    expect(memory.used('GPU0')).toBe(40);
  });

  it('counts requests that fail together as one loss', async () => {
    let lost = true;
    const { model, loads } = await scene({ lost: () => lost });
    const failed = await Promise.allSettled([text(model), text(model), text(model)]);
    expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    lost = false;
    await text(model);
    expect(loads).toEqual(['auto', 'auto']);
  });

  it.each(['auto', 'vram'] as const)(
    'with placement %s, moves to the CPU if the GPU cannot be loaded again',
    async (placement) => {
      let lost = true;
      const { model, loads } = await scene({ placement, lost: () => lost, refuses: () => true });
      await expect(text(model)).rejects.toMatchObject(lostGpu);
      lost = false;
      expect(await text(model)).toBe('onetwo');
      expect([loads, model.loaded?.device]).toEqual([[placement, placement, 'ram'], 'CPU']);
    },
  );

  it('moves to the CPU after the second loss', async () => {
    const { model, loads } = await scene({ lost: () => true });
    for (let i = 0; i < 2; i++) await expect(text(model)).rejects.toMatchObject(lostGpu);
    await text(model);
    expect(loads).toEqual(['auto', 'auto', 'ram']);
  });
});

describe('a model whose video memory is needed', () => {
  it('fails running requests, is closed, and loads on the CPU for the next one', async () => {
    const { open, opened } = gate();
    const memory = new ModelMemory({ limit: () => undefined });
    const { residency, model, loads, models } = await scene({ pause: () => opened, memory });
    const refused = expect(text(model)).rejects.toMatchObject({ ...lostGpu, detail: { released: true } });
    await vi.waitFor(() => expect(models[0]?.requests).toHaveLength(1));
    await residency.allowGpu(false);
    expect([models[0]?.closed, model.loaded, residency.inMemory]).toEqual([1, undefined, []]);
    expect([memory.used('GPU0'), memory.used('CPU')]).toEqual([0, 0]);
    open();
    await refused;
    await text(model);
    expect([loads, memory.used('CPU')]).toEqual([['auto', 'ram'], 40]);
    await residency.allowGpu(false);
    expect(models[1]?.closed).toBe(0);
  });

  it('returns to the GPU once it may, when nobody else uses it', async () => {
    const { residency, model, loads } = await scene();
    await text(model);
    await residency.allowGpu(false);
    await text(model);
    await residency.allowGpu(true);
    {
      using _lease = await model.lease();
      await text(model);
    }
    expect(loads).toEqual(['auto', 'ram', 'auto']);
    await text(model);
    expect(loads).toHaveLength(3);
  });

  it('is not moved for a lease that shares it', async () => {
    const { residency, model, loads } = await scene();
    await text(model);
    await residency.allowGpu(false);
    using _lease = await model.lease();
    await residency.allowGpu(true);
    await text(model);
    expect(loads).toEqual(['auto', 'ram']);
  });

  it('waits on the CPU until idle models have made room there, or is refused with both numbers', async () => {
    const cpu = { limit: 100 };
    const memory = new ModelMemory({ limit: (device) => (device === 'CPU' ? cpu.limit : undefined) });
    const { residency, model } = await scene({ memory });
    await text(model);
    await residency.allowGpu(false);
    const evicted: string[] = [];
    const evict = async () => {
      evicted.push('other');
      other.release();
    };
    const other = await memory.admit('other', { CPU: 70 }, { busy: () => false, evict });
    other.loaded();
    await text(model);
    expect([evicted, memory.used('CPU')]).toEqual([['other'], 40]);
    await residency.allowGpu(true);
    await text(model);
    await residency.allowGpu(false);
    cpu.limit = 39;
    await expect(text(model)).rejects.toMatchObject({
      code: 'OUT_OF_MEMORY',
      cause: { detail: { need: 40, limit: 39 } },
    });
  });

  it('is loaded on the CPU if it was being loaded onto the GPU, which is no failure', async () => {
    const began = gate();
    const loading = (signal: AbortSignal) => {
      began.open();
      return new Promise<void>((_, reject) => {
        signal.addEventListener('abort', () => reject(new LorekeepError('CANCELLED', 'aborted')));
      });
    };
    const { residency, model, loads, log } = await scene({ loading });
    const reply = text(model);
    await began.opened;
    await residency.allowGpu(false);
    expect([await reply, loads]).toEqual(['onetwo', ['auto', 'ram']]);
    expect(log.error).not.toHaveBeenCalled();
  });

  it('is freed if its load onto the GPU ends too late', async () => {
    const [began, ends] = [gate(), gate()];
    const loading = () => {
      began.open();
      return ends.opened;
    };
    const { residency, model, models } = await scene({ loading });
    const reply = text(model);
    await began.opened;
    const free = residency.allowGpu(false);
    ends.open();
    await free;
    expect(models[0]?.closed).toBe(1);
    await reply;
    expect(model.loaded?.device).toBe('CPU');
  });

  it('is waited for while it is being freed', async () => {
    const { residency, model, models } = await scene();
    await text(model);
    const closed = gate();
    vi.spyOn(models[0] as FakeTextModel, 'close').mockReturnValue(closed.opened);
    void model.evict();
    const order: string[] = [];
    const free = residency.allowGpu(false).then(() => order.push('free'));
    await new Promise(setImmediate);
    order.push('closed');
    closed.open();
    await free;
    expect(order).toEqual(['closed', 'free']);
  });
});

describe('a model that its owner has closed', () => {
  afterEach(() => void vi.restoreAllMocks());

  it('is freed, and refuses leases', async () => {
    const { residency, model, models } = await scene();
    await text(model);
    await residency.close();
    expect(models[0]?.closed).toBe(1);
    await expect(model.lease()).rejects.toMatchObject({ code: 'CLOSED' });
    expect(models).toHaveLength(1);
  });

  it('gives no lease to those who wait for its load', async () => {
    const [began, ends] = [gate(), gate()];
    const loading = () => {
      began.open();
      return ends.opened;
    };
    const { residency, model, models } = await scene({ loading });
    const refused = expect(model.lease()).rejects.toMatchObject({ code: 'CLOSED' });
    await began.opened;
    const closing = residency.close();
    ends.open();
    await Promise.all([closing, refused]);
    expect(models[0]?.closed).toBe(1);
  });
});

it('a lease that is given back twice ends once', async () => {
  const { model } = await scene();
  const [first, second] = [await model.lease(), await model.lease()];
  first[Symbol.dispose]();
  first[Symbol.dispose]();
  await model.evict();
  expect(model.loaded).toBeDefined();
  second[Symbol.dispose]();
  await model.evict();
  expect(model.loaded).toBeUndefined();
});
