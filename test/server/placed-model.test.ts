import { describe, expect, it, vi } from 'vitest';
import { LorekeepError } from '../../lib/index.js';
import { PlacedModel, type Placement } from '../../src/models/placed-model.js';
import type { TextModel } from '../../src/models/text-model.js';
import { FakeTextModel } from '../helpers/fake-text-model.js';

const gate = () => {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
};

interface Scene {
  placement?: Placement;
  /** Whether a generation on the GPU fails. */
  lost?: () => boolean;
  /** Whether the GPU refuses to load. */
  refuses?: () => boolean;
  /** Awaited before each piece on the GPU. */
  pause?: () => Promise<void>;
}

function scene({ placement = 'auto', lost, refuses, pause }: Scene = {}) {
  const loads: Placement[] = [];
  const models: FakeTextModel[] = [];
  const load = async (wanted: Placement): Promise<TextModel> => {
    loads.push(wanted);
    const gpu = wanted !== 'ram';
    if (gpu && loads.length > 1 && refuses?.()) throw new LorekeepError('MODEL_INVALID', 'no');
    const made = new FakeTextModel({
      facts: { device: gpu ? 'GPU0' : 'CPU' },
      reply: () => ['one', 'two'],
      ...(gpu && pause !== undefined && { pause }),
      fail: () => (gpu && lost?.() ? new LorekeepError('DEVICE_LOST', 'GPU0 failed') : undefined),
    });
    models.push(made);
    return made;
  };
  const log = { info: vi.fn(), error: vi.fn() };
  const start = async () => new PlacedModel(await load(placement), { name: 'm', placement, load, log });
  return { start, loads, models, log };
}

const text = async (model: TextModel) => (await model.generate({ prompt: 'hello' }).result).text;
const read = async (model: TextModel) => {
  const generation = model.generate({ prompt: 'hello' });
  for await (const _ of generation);
  return generation.result;
};

describe('a model whose GPU fails', () => {
  it('fails the request, closes, and is loaded on the GPU again for the next one', async () => {
    let lost = true;
    const { start, loads, models, log } = scene({ lost: () => lost });
    const model = await start();
    await expect(text(model)).rejects.toMatchObject({ code: 'DEVICE_LOST' });
    lost = false;
    expect((await read(model)).text).toBe('onetwo');
    expect([loads, models[0]?.closed, model.facts.device]).toEqual([['auto', 'auto'], 1, 'GPU0']);
    expect(log.error).toHaveBeenCalledOnce();
  });

  it('counts requests that fail together as one loss', async () => {
    let lost = true;
    const { start, loads } = scene({ lost: () => lost });
    const model = await start();
    const failed = await Promise.allSettled([text(model), text(model), text(model)]);
    expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    lost = false;
    await read(model);
    expect(loads).toEqual(['auto', 'auto']);
  });

  it.each(['auto', 'vram'] as const)(
    'with placement %s, moves to the CPU if the GPU cannot be loaded again',
    async (placement) => {
      let lost = true;
      const { start, loads } = scene({ placement, lost: () => lost, refuses: () => true });
      const model = await start();
      await expect(text(model)).rejects.toMatchObject({ code: 'DEVICE_LOST' });
      lost = false;
      expect((await read(model)).text).toBe('onetwo');
      expect([loads, model.facts.device]).toEqual([[placement, placement, 'ram'], 'CPU']);
    },
  );

  it('moves to the CPU after the second loss', async () => {
    const { start, loads } = scene({ lost: () => true });
    const model = await start();
    for (let i = 0; i < 2; i++) await expect(text(model)).rejects.toMatchObject({ code: 'DEVICE_LOST' });
    await read(model);
    expect(loads).toEqual(['auto', 'auto', 'ram']);
  });
});

describe('a model whose video memory is needed', () => {
  it('fails running requests, is closed, and loads on the CPU for the next one', async () => {
    const { open, opened } = gate();
    const { start, loads, models } = scene({ pause: () => opened });
    const model = await start();
    const running = read(model);
    const refused = expect(running).rejects.toMatchObject({
      code: 'DEVICE_LOST',
      detail: { released: true },
    });
    const left = model.leaveGpu();
    open();
    await Promise.all([left, refused]);
    expect([models[0]?.closed, loads]).toEqual([1, ['auto']]);
    await read(model);
    expect(loads).toEqual(['auto', 'ram']);
    await model.leaveGpu();
    expect(models[1]?.closed).toBe(0);
  });

  it('returns to the GPU once it may, for the request after the running ones', async () => {
    const { start, loads } = scene();
    const model = await start();
    await model.leaveGpu();
    await read(model);
    model.returnToGpu();
    await read(model);
    await read(model);
    expect(loads).toEqual(['auto', 'ram', 'auto']);
  });

  it('does not load after close()', async () => {
    const { start, models } = scene();
    const model = await start();
    await model.leaveGpu();
    await model.close();
    await expect(text(model)).rejects.toMatchObject({ code: 'CLOSED' });
    expect(models).toHaveLength(1);
  });
});
