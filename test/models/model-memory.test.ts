import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { ModelMemory, ModelTooLargeError } from '../../src/models/model-memory.js';
import { ModelSlot } from '../../src/models/model-slot.js';

const loadMs = 100;
const workMs = 10;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const delay = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Models of 40 bytes each, which take time to load, and count their loads. */
function models(memory: ModelMemory, names: readonly string[], bytes = 40) {
  const loads: string[] = [];
  const unloads: string[] = [];
  const slots = names.map(
    (name) =>
      new ModelSlot({
        name,
        idleMs: 0,
        memory,
        need: async () => ({ CPU: bytes }),
        load: async () => {
          loads.push(name);
          await delay(loadMs);
          return { facts: { fingerprint: name }, close: async () => {} };
        },
        refuse: (why) => new Error(why),
        onUnloaded: (why) => unloads.push(`${name}: ${why}`),
        onChanged: () => {},
      }),
  );
  return { slots, loads, unloads };
}

type Slot = ReturnType<typeof models>['slots'][number];

async function work(slot: Slot | undefined, ms = workMs): Promise<void> {
  const leave = (slot as Slot).use();
  try {
    await (slot as Slot).inMemory();
    await delay(ms);
  } finally {
    leave();
  }
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
    expect(memory.placeable({ CPU: 10, GPU0: 50 })).toEqual({ CPU: 10, GPU0: 50 });
    expect(memory.placeable({ CPU: 10, GPU0: 51 })).toEqual({ CPU: 61 });
  });

  test('is made by unloading idle models if a model moves where there is too little', async () => {
    const left: string[] = [];
    const memory = new ModelMemory({ limit: () => 50 });
    const admit = async (name: string, need: Record<string, number>) => {
      const lease = await memory.admit(name, need, {
        busy: () => name === 'moving',
        evict: async () => {
          left.push(name);
          lease.release();
        },
      });
      lease.loaded();
      return lease;
    };
    const moving = await admit('moving', { GPU0: 40 });
    await admit('first', { CPU: 20 });
    await admit('second', { CPU: 20 });
    moving.moved({ CPU: 30 });
    expect(memory.waiting).toBe(0);
    await vi.advanceTimersByTimeAsync(1);
    expect([left, memory.used('CPU')]).toEqual([['first'], 50]);
  });

  test('may be less than nothing when a model moves', async () => {
    const limit = { bytes: 50 };
    const memory = new ModelMemory({ limit: () => limit.bytes });
    const lease = await memory.admit('moving', { GPU0: 40 }, { busy: () => true, evict: async () => {} });
    lease.loaded();
    limit.bytes = -1;
    lease.moved({ CPU: 40 });
    expect(memory.used('CPU')).toBe(40);
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
    const { slots, loads } = models(limited(100 * mib), ['large'], 101 * mib);
    const error = await slots[0]?.inMemory().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ModelTooLargeError);
    expect(error).toMatchObject({
      code: 'OUT_OF_MEMORY',
      message: 'model "large": it needs 101 MiB of memory, and models may take 100 MiB',
      detail: { need: 101 * mib, limit: 100 * mib, device: 'CPU' },
    });
    expect(loads).toEqual([]);
  });

  test('is made by unloading the least recently used model that does not compute', async () => {
    const { slots, loads, unloads } = models(limited(100), ['a', 'b', 'c']);
    await finished(work(slots[0]));
    await finished(work(slots[1]));
    await finished(delay(10_000));
    await finished(work(slots[0]));
    await finished(work(slots[2]));
    expect(unloads).toEqual(['b: room']);
    expect(loads).toEqual(['a', 'b', 'c']);
    await finished(delay(10_000));
    const long = work(slots[0], 5000);
    await finished(work(slots[1]));
    expect(unloads).toEqual(['b: room', 'c: room']);
    await finished(long);
    expect(slots.map(({ current }) => current !== undefined)).toEqual([true, true, false]);
  });

  test('is waited for while all models compute, and a small model passes', async () => {
    const memory = limited(100);
    const { slots, loads } = models(memory, ['a', 'b', 'c']);
    const { slots: small } = models(memory, ['small'], 15);
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
    const { slots, loads } = models(limited(100), ['a', 'b', 'c']);
    const rounds = 200;
    let answered = 0;
    // Three clients, each with a model of its own, all the time.
    const client = async (slot: Slot) => {
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
    const { slots, loads } = models(limited(100), ['a', 'b', 'c']);
    for (let round = 0; round < 30; round++) await finished(work(slots[round % 3]));
    expect(loads.length).toBeLessThanOrEqual(30);
    expect(loads.slice(0, 3)).toEqual(['a', 'b', 'c']);
  });

  test('is not taken by a load that fails, and is given back by close()', async () => {
    const memory = limited(100);
    const failing = new ModelSlot({
      name: 'bad',
      idleMs: 0,
      memory,
      need: async () => ({ CPU: 90 }),
      load: () => Promise.reject(new Error('damaged')),
      refuse: (why) => new Error(why),
      onUnloaded: () => {},
      onChanged: () => {},
    });
    await expect(failing.inMemory()).rejects.toThrow('damaged');
    const { slots } = models(memory, ['a', 'b', 'c']);
    await finished(Promise.all([work(slots[0]), work(slots[1])]));
    const busy = Promise.all([work(slots[0], 1000), work(slots[1], 1000)]);
    const waiting = slots[2]?.inMemory().catch((error: Error) => error.message);
    await vi.advanceTimersByTimeAsync(10);
    await slots[2]?.close();
    expect(await waiting).toBe('CLOSED');
    await finished(busy);
    await Promise.all(slots.map((slot) => slot.close()));
    expect(memory.use[0]?.used).toBe(0);
  });

  test('an unknown need is no need: the load says what is wrong', async () => {
    const slot = new ModelSlot({
      name: 'odd',
      idleMs: 0,
      memory: limited(1),
      need: () => Promise.reject(new Error('no header')),
      load: () => Promise.reject(new Error('not a model')),
      refuse: (why) => new Error(why),
      onUnloaded: () => {},
      onChanged: () => {},
    });
    await expect(slot.inMemory()).rejects.toThrow('not a model');
  });

  test('follows a model that lost its GPU while it computed', async () => {
    const memory = new ModelMemory({ limit: () => undefined });
    let device = 'GPU0';
    const slot = new ModelSlot({
      name: 'moving',
      idleMs: 0,
      memory,
      need: async () => ({ GPU0: 40 }),
      taken: () => ({ [device]: 40 }),
      load: async () => ({ facts: { fingerprint: 'f' }, close: async () => {} }),
      refuse: (why) => new Error(why),
      onUnloaded: () => {},
      onChanged: () => {},
    });
    const leave = slot.use();
    await slot.inMemory();
    device = 'CPU';
    expect([memory.used('CPU'), memory.used('GPU0')]).toEqual([0, 40]);
    leave();
    expect([memory.used('CPU'), memory.used('GPU0')]).toEqual([40, 0]);
    await slot.close();
    expect(memory.used('CPU')).toBe(0);
  });
});
