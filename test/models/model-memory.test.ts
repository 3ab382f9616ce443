import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { ModelMemory, ModelTooLargeError } from '../../src/models/model-memory.js';
import type { Resident } from '../../src/models/resident.js';
import { temporaryFolder } from '../helpers/folder.js';
import { fakeResidency } from '../helpers/residency.js';

const loadMs = 100;
const workMs = 10;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const file = temporaryFolder();
let catalogs = 0;

const delay = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Models of 40 bytes each, which take time to load, and count their loads. */
async function models(memory: ModelMemory, names: readonly string[], bytes = 40) {
  const loads: string[] = [];
  const { residency, resident, log } = await fakeResidency(file(`${++catalogs}.json`), names, { memory });
  const slots = names.map((name) =>
    resident(name, {
      need: async () => ({ CPU: bytes }),
      open: async () => {
        loads.push(name);
        await delay(loadMs);
        return { facts: { fingerprint: name, contextSize: 1 }, close: async () => {} };
      },
    }),
  );
  const unloads = () =>
    log.info.mock.calls.flatMap(([{ model }, message]) =>
      message === 'model unloaded: another needs its memory' ? [model] : [],
    );
  return { residency, slots, loads, unloads };
}

async function work(slot: Resident | undefined, ms = workMs): Promise<void> {
  using _lease = await (slot as Resident).lease();
  await delay(ms);
}

const limited = (bytes: number) => new ModelMemory({ limit: () => bytes });

/** Runs virtual time until the promise is settled. */
async function finished<T>(promise: Promise<T>): Promise<T> {
  let settled = false;
  const done = () => {
    settled = true;
  };
  promise.then(done, done);
  while (!settled) await vi.advanceTimersByTimeAsync(1);
  return promise;
}

describe('the memory of models', () => {
  test('is counted per device, estimates first and then what was taken', async () => {
    const memory = new ModelMemory({ limit: (device) => (device === 'CPU' ? 100 : undefined) });
    const resident = { busy: () => false, evict: async () => {} };
    const lease = await memory.admit('a', { CPU: 60, GPU0: 1000 }, resident);
    expect(memory.use).toEqual([
      { device: 'CPU', used: 60, limit: 100 },
      { device: 'GPU0', used: 1000, limit: undefined },
    ]);
    lease.loaded({ CPU: 30 });
    expect(lease.bytes).toBe(30);
    expect(memory.use).toEqual([{ device: 'CPU', used: 30, limit: 100 }]);
    lease.release();
    lease.release();
    expect(memory.use).toEqual([{ device: 'CPU', used: 0, limit: 100 }]);
  });

  test('knows when a GPU can never hold a part: the engine then uses the CPU', () => {
    const memory = new ModelMemory({ limit: (device) => (device === 'CPU' ? 1000 : 50) });
    expect(memory.couldHold({ CPU: 1001, GPU0: 50 })).toBe(true);
    expect(memory.couldHold({ CPU: 10, GPU0: 51 })).toBe(false);
  });

  test('of a GPU is made by unloading models there, not others', async () => {
    const left: string[] = [];
    const memory = new ModelMemory({ limit: (device) => (device === 'CPU' ? 1000 : 50) });
    const admit = async (name: string, need: Record<string, number>) => {
      const lease = await memory.admit(name, need, {
        busy: () => false,
        evict: async () => {
          left.push(name);
          lease.release();
        },
      });
      lease.loaded();
    };
    await admit('plain', { CPU: 500 });
    await admit('first', { CPU: 10, GPU0: 40 });
    await finished(admit('second', { CPU: 10, GPU0: 40 }));
    expect(left).toEqual(['first']);
    await expect(admit('huge', { GPU0: 51 })).rejects.toThrow('memory of GPU0');
  });

  test('refuses a model that can never fit, with both numbers', async () => {
    const mib = 1024 * 1024;
    const { slots, loads } = await models(limited(100 * mib), ['large'], 101 * mib);
    const error = await slots[0]?.lease().catch((reason: unknown) => reason);
    const cause = (error as Error | undefined)?.cause;
    expect(cause).toBeInstanceOf(ModelTooLargeError);
    expect(cause).toMatchObject({
      code: 'OUT_OF_MEMORY',
      message: 'model "large": it needs 101 MiB of memory, and models may take 100 MiB',
      detail: { need: 101 * mib, limit: 100 * mib, device: 'CPU' },
    });
    expect(loads).toEqual([]);
  });

  test('is made by unloading the least recently used model that does not compute', async () => {
    const { slots, loads, unloads } = await models(limited(100), ['a', 'b', 'c']);
    await finished(work(slots[0]));
    await finished(work(slots[1]));
    await finished(delay(10_000));
    await finished(work(slots[0]));
    await finished(work(slots[2]));
    expect(unloads()).toEqual(['b']);
    expect(loads).toEqual(['a', 'b', 'c']);
    await finished(delay(10_000));
    const long = work(slots[0], 5000);
    await finished(work(slots[1]));
    expect(unloads()).toEqual(['b', 'c']);
    await finished(long);
    expect(slots.map(({ loaded }) => loaded !== undefined)).toEqual([true, true, false]);
  });

  test('is waited for while all models compute, and a small model passes', async () => {
    const memory = limited(100);
    const { slots, loads } = await models(memory, ['a', 'b', 'c']);
    const { slots: small } = await models(memory, ['small'], 15);
    const busy = Promise.all([work(slots[0], 30_000), work(slots[1], 60_000)]);
    await vi.advanceTimersByTimeAsync(2 * loadMs);
    const waiting = work(slots[2]);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(loads).toEqual(['a', 'b']);
    expect(memory.waiting).toBe(1);
    await finished(work(small[0]));
    await finished(waiting);
    expect(loads).toEqual(['a', 'b', 'c']);
    expect(memory.waiting).toBe(0);
    await finished(busy);
  });

  test('three models in turn with room for two: every request is answered, and most without a load', async () => {
    const { slots, loads } = await models(limited(100), ['a', 'b', 'c']);
    const rounds = 200;
    let answered = 0;
    // Three clients, each with a model of its own, all the time.
    const client = async (slot: Resident) => {
      for (let round = 0; round < rounds; round++) {
        await work(slot);
        answered++;
      }
    };
    const started = performance.now();
    await finished(Promise.all(slots.map(client)));
    expect(answered).toBe(3 * rounds);
    const tookMs = performance.now() - started;
    // A model stays at least twice as long as its loading took.
    expect(loads.length).toBeLessThan((2 * tookMs) / (2 * loadMs) + 3);
    expect(loads.length).toBeLessThan(answered / 5);
  });

  test('one client that takes turns among three models is answered, too', async () => {
    const { slots, loads } = await models(limited(100), ['a', 'b', 'c']);
    for (let round = 0; round < 30; round++) await finished(work(slots[round % 3]));
    expect(loads.length).toBeLessThanOrEqual(30);
    expect(loads.slice(0, 3)).toEqual(['a', 'b', 'c']);
  });

  test('is not taken by a load that fails, and is given back by close()', async () => {
    const memory = limited(100);
    const { resident } = await fakeResidency(file('failing.json'), ['bad'], { memory });
    const open = () => Promise.reject(new Error('damaged'));
    const failing = resident('bad', { need: async () => ({ CPU: 90 }), open });
    await expect(failing.lease()).rejects.toThrow('damaged');
    const { residency, slots } = await models(memory, ['a', 'b', 'c']);
    await finished(Promise.all([work(slots[0]), work(slots[1])]));
    const busy = Promise.all([work(slots[0], 1000), work(slots[1], 1000)]);
    const waiting = slots[2]?.lease().catch((error: { code: string }) => error.code);
    await vi.advanceTimersByTimeAsync(10);
    await residency.close();
    expect(await waiting).toBe('CLOSED');
    await finished(busy);
    expect(memory.use[0]?.used).toBe(0);
  });

  test('an unknown need is no need: the load says what is wrong', async () => {
    const { resident } = await fakeResidency(file('odd.json'), ['odd'], { memory: limited(1) });
    const odd = resident('odd', {
      need: () => Promise.reject(new Error('no header')),
      open: () => Promise.reject(new Error('not a model')),
    });
    await expect(odd.lease()).rejects.toThrow('not a model');
  });
});
