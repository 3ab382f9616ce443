import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Pin } from '../../src/knowledge/pin.js';
import { PinCache } from '../../src/knowledge/pin-cache.js';

class Value {
  closed = false;
  readonly key: string;
  readonly bytes: number;

  constructor(key: string, bytes: number) {
    this.key = key;
    this.bytes = bytes;
  }

  async close(): Promise<void> {
    expect(this.closed).toBe(false);
    this.closed = true;
  }
}

const never = new AbortController().signal;

/** A cache whose loads end when the test says so. */
function cacheOf(maxBytes: number) {
  const evicted: string[] = [];
  const cache = new PinCache<Value>(maxBytes, (name) => evicted.push(name));
  const loads: string[] = [];
  const get = (key: string, bytes = 10, name = key) =>
    cache.acquire(
      key,
      name,
      async () => {
        loads.push(key);
        return new Value(key, bytes);
      },
      never,
    );
  const states = () => Object.fromEntries(cache.entries().map(({ name, state }) => [name, state]));
  return { cache, get, loads, evicted, states };
}

describe('a cache of pinned values', () => {
  it('loads a value once for all that ask while it is loading, held or kept', async () => {
    const { cache, get, loads, states } = cacheOf(100);
    const [first, second] = await Promise.all([get('a'), get('a')]);
    expect(first.value).toBe(second.value);
    expect(states()).toEqual({ a: 'Pinned' });
    await first.release();
    expect(states()).toEqual({ a: 'Pinned' });
    await second.release();
    expect(states()).toEqual({ a: 'OnDemand' });
    const third = await get('a');
    expect(third.value).toBe(first.value);
    expect([loads, states(), cache.bytes]).toEqual([['a'], { a: 'Pinned' }, 10]);
  });

  it('closes what nobody holds, the least recently used first, until it fits', async () => {
    const { cache, get, evicted, states } = cacheOf(30);
    for (const key of ['a', 'b', 'c']) await (await get(key)).release();
    await (await get('a')).release();
    await (await get('d', 20)).release();
    expect(evicted).toEqual(['b', 'c']);
    expect(states()).toEqual({ a: 'OnDemand', d: 'OnDemand' });
    expect(cache.bytes).toBe(30);
  });

  it('never closes what is held, and what alone is too large as soon as it is let go', async () => {
    const { cache, get, evicted } = cacheOf(15);
    const held = await get('large', 40);
    const other = await get('other', 5);
    await other.release();
    expect([evicted, held.value.closed]).toEqual([['other'], false]);
    await held.release();
    await held.release();
    expect([evicted, held.value.closed, cache.bytes, cache.size]).toEqual([['other', 'large'], true, 0, 0]);
  });

  it('keeps an outdated version only as long as it is held', async () => {
    const { cache, get, states } = cacheOf(100);
    const old = await get('kb@1', 10, 'kb');
    const idle = await get('kb@2', 10, 'kb');
    await idle.release();
    const current = await get('kb@3', 10, 'kb');
    expect([old.value.closed, idle.value.closed]).toEqual([false, true]);
    await old.release();
    expect(old.value.closed).toBe(true);
    await current.release();
    expect([current.value.closed, states(), cache.bytes]).toEqual([false, { kb: 'OnDemand' }, 10]);
  });

  it('gives up a load that nobody waits for, closes what it still brings, and tries again', async () => {
    const { cache } = cacheOf(100);
    const gone = new AbortController();
    const late = withResolvers();
    let abandoned: Value | undefined;
    let signal: AbortSignal | undefined;
    const load = async (aborted: AbortSignal) => {
      signal = aborted;
      await late.promise;
      abandoned = new Value('a', 10);
      return abandoned;
    };
    const first = cache.acquire('a', 'a', load, gone.signal);
    gone.abort(new Error('gone'));
    await expect(first).rejects.toThrow('gone');
    expect([signal?.aborted, cache.size]).toEqual([true, 0]);
    const again = await cache.acquire('a', 'a', async () => new Value('a', 10), never);
    late.resolve();
    await again.release();
    await cache.close();
    expect([abandoned?.closed, again.value.closed, cache.bytes]).toEqual([true, true, 0]);
  });

  it('tells all that wait why a load failed, and the next request tries again', async () => {
    const { cache, get, loads } = cacheOf(100);
    const failing = async () => Promise.reject(new Error('no such file'));
    const both = [1, 2].map(() => cache.acquire('a', 'a', failing, never));
    expect((await Promise.allSettled(both)).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await get('a');
    expect(loads).toEqual(['a']);
  });

  it('closes at once what is released after it was closed', async () => {
    const { cache, get } = cacheOf(100);
    const [held, idle] = [await get('a'), await get('b')];
    await idle.release();
    await cache.close();
    expect([held.value.closed, idle.value.closed]).toEqual([false, true]);
    await held.release();
    expect([held.value.closed, cache.bytes]).toEqual([true, 0]);
  });

  it('keeps its rules whatever the order of requests and releases', async () => {
    const step = fc.record({
      key: fc.integer({ min: 0, max: 7 }),
      version: fc.integer({ min: 0, max: 2 }),
      release: fc.boolean(),
      which: fc.nat(),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 60 }),
        fc.integer({ min: 0, max: 60 }),
        async (steps, max) => {
          const { cache, get, states } = cacheOf(max);
          const held: Pin<Value>[] = [];
          const seen = new Set<Value>();
          for (const { key, version, release, which } of steps) {
            if (release && held.length > 0) await held.splice(which % held.length, 1)[0]?.release();
            else held.push(await get(`${key}@${version}`, 4 + key, `${key}`));
            for (const pin of held) seen.add(pin.value);
            const open = [...seen].filter(({ closed }) => !closed);
            const pinned = new Set(held.map(({ value }) => value));
            expect(cache.bytes).toBe(open.reduce((sum, { bytes }) => sum + bytes, 0));
            expect([...pinned].some(({ closed }) => closed)).toBe(false);
            if (cache.bytes > max) expect(open.every((value) => pinned.has(value))).toBe(true);
            expect(Object.values(states())).not.toContain('Loading');
          }
          await cache.close();
          await Promise.all(held.map((pin) => pin.release()));
          expect([...seen].every(({ closed }) => closed)).toBe(true);
          expect([cache.bytes, cache.size]).toEqual([0, 0]);
        },
      ),
      { numRuns: 200 },
    );
  });
});

function withResolvers() {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
