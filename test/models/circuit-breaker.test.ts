import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CircuitBreaker, Peers } from '../../src/models/remote/circuit-breaker.js';
import { RemoteModelError } from '../../src/models/remote/remote-model-error.js';

const entry = { name: 'far', file: '/models.json', host: 'models.example' };
const down = () => new RemoteModelError('unreachable', entry, 'cannot be reached');
const busy = (status: number, pauseMs?: number) =>
  new RemoteModelError('busy', entry, `fails (status ${status})`, { status, pauseMs });

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

/** A breaker and the requests that reached its server. */
function scene() {
  const breaker = new CircuitBreaker();
  const changes: (string | undefined)[] = [];
  breaker.onChange = (failure) => void changes.push(failure?.kind);
  let asked = 0;
  const request = (error?: unknown) =>
    breaker
      .run(entry, async () => {
        asked++;
        if (error !== undefined) throw error;
      })
      .then(
        () => 'ok',
        (thrown: Error) => thrown.message,
      );
  const open = async () => {
    for (let at = 0; at < 3; at++) await request(down());
  };
  return { breaker, changes, request, open, asked: () => asked };
}

describe('the circuit breaker of a server', () => {
  it('opens after three failures in a row, and tells when the server is asked again', async () => {
    const { breaker, request, asked, changes } = scene();
    await request(down());
    await request(down());
    await request();
    await request(down());
    await request(down());
    expect([breaker.isOpen, changes]).toEqual([false, []]);
    await request(down());
    expect([breaker.isOpen, changes, asked()]).toEqual([true, ['unreachable'], 6]);
    expect(await request()).toMatch(
      /model "far".*models\.example cannot be reached; it is asked again in [12] s$/,
    );
    expect(asked()).toBe(6);
    expect(() => breaker.check({ ...entry, name: 'other' })).toThrow(/model "other"/);
  });

  it('asks with one request at a time after a pause, and closes when an answer begins', async () => {
    const { breaker, request, open, asked, changes } = scene();
    await open();
    vi.advanceTimersByTime(2000);
    let answers = () => {};
    let end = () => {};
    const probe = breaker.run(entry, (begins) => {
      answers = begins;
      return new Promise<void>((resolve) => {
        end = resolve;
      });
    });
    expect(await request()).toMatch(/it is asked again in 1 s/);
    expect(asked()).toBe(3);
    answers();
    expect(await request()).toBe('ok');
    expect(changes).toEqual(['unreachable', undefined]);
    end();
    await probe;
  });

  it('pauses longer with each probe that fails, and at most for 30 s', async () => {
    const { request, open, asked, breaker } = scene();
    await open();
    const waits: number[] = [];
    for (let probes = 1; probes <= 8; probes++) {
      let waited = 0;
      while (asked() < 3 + probes) {
        vi.advanceTimersByTime(500);
        waited += 500;
        await request(down());
      }
      waits.push(waited);
    }
    expect(Math.max(...waits)).toBeLessThanOrEqual(30_000);
    expect(waits.at(-1)).toBeGreaterThanOrEqual(15_000);
    expect(waits[0]).toBeLessThanOrEqual(2000);
    vi.advanceTimersByTime(30_000);
    expect(await request()).toBe('ok');
    expect(breaker.isOpen).toBe(false);
  });

  it('opens again at once if the answer that closed it breaks off', async () => {
    const { breaker, open } = scene();
    await open();
    vi.advanceTimersByTime(2000);
    const cut = breaker.run(entry, async (answers) => {
      answers();
      throw down();
    });
    await expect(cut).rejects.toThrow('cannot be reached');
    expect(breaker.isOpen).toBe(true);
  });

  it('is not held by a probe that is cancelled', async () => {
    const { breaker, request, open } = scene();
    await open();
    vi.advanceTimersByTime(2000);
    expect(await request(new Error('cancelled'))).toBe('cancelled');
    expect(breaker.isOpen).toBe(true);
    expect(await request()).toBe('ok');
  });

  it.each(['refused', 'too-long', 'malformed', 'dimension', 'changed', 'too-large'] as const)(
    'takes "%s" for an answer',
    async (kind) => {
      const { breaker, request } = scene();
      const error = new RemoteModelError(kind, entry, 'answers', { status: 400 });
      for (let at = 0; at < 10; at++) await request(error);
      expect(breaker.isOpen).toBe(false);
    },
  );

  it('takes 500 for an answer: a request may be to blame for it', async () => {
    const { breaker, request } = scene();
    for (let at = 0; at < 10; at++) await request(busy(500));
    expect(breaker.isOpen).toBe(false);
  });

  it.each([
    [0, 2000],
    [7000, 7000],
    [Number.POSITIVE_INFINITY, 30_000],
  ])('obeys a server that wants a pause of %d ms within its own bounds', async (wanted, most) => {
    const { request, asked } = scene();
    for (let at = 0; at < 3; at++) await request(busy(429, wanted));
    vi.advanceTimersByTime(Math.min(wanted, most) / 2);
    await request();
    expect(asked()).toBe(3);
    vi.advanceTimersByTime(most);
    expect(await request()).toBe('ok');
  });
});

describe('the servers of a catalog', () => {
  it('have one breaker for the same address and secret', () => {
    const peers = new Peers();
    const one = peers.breakerOf('a', 'https://models.example/v1', 'secret');
    expect(peers.breakerOf('b', 'https://models.example/v1/', 'secret')).toBe(one);
    expect(peers.breakerOf('c', 'https://models.example/v1', 'other')).not.toBe(one);
    expect(peers.breakerOf('d', 'https://models.example/v2', 'secret')).not.toBe(one);
    expect(peers.states().map(({ model }) => model)).toEqual(['a', 'b', 'c', 'd']);
    expect(JSON.stringify(peers.states())).not.toContain('secret');
  });
});
