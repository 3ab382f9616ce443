import { join } from 'node:path';
import { expect, test } from 'vitest';

const generation = join(import.meta.dirname, '..', 'generation');

/** A stream that yields until it is cancelled. */
function endless() {
  let running = true;
  return {
    cancel() {
      running = false;
    },
    async *[Symbol.asyncIterator]() {
      while (running) {
        await new Promise((resolve) => setImmediate(resolve));
        yield 1;
      }
    },
  };
}

test('a scene starts a request with the cancel of another one', async () => {
  const { play } = await import(join(generation, 'timeline.mjs'));
  const seen = await play(
    [
      { name: 'short', after: { name: 'long', cancelled: true }, until: { name: 'short', tokens: 2 } },
      { name: 'long', until: { ms: 0 } },
    ],
    endless,
  );
  expect(seen.long.cancelledMs).toBeGreaterThanOrEqual(0);
  expect(seen.short.startMs).toBeGreaterThanOrEqual(seen.long.cancelledMs);
  expect(seen.short.tokenMs.length).toBeGreaterThanOrEqual(2);
});

test('a ratio is the median of the rounds that both contestants ended', async () => {
  const { Turns } = await import(join(generation, 'turns.mjs'));
  const answers: Record<string, (number | undefined)[]> = { own: [10, 40, 90], peer: [10, 10, 10, 10] };
  const turns = new Turns({
    names: ['own', 'peer'],
    has: () => true,
    call: async (name: string) => answers[name]?.shift(),
  });
  for (let round = 0; round < 4; round++) await turns.each('work', (ask: () => unknown) => ask());
  expect(turns.list('own', 'work')).toEqual([10, 40, 90]);
  expect(turns.median('own', 'work')).toBe(40);
  expect(turns.ratio('own', 'peer', 'work')).toBe(4);
  expect(turns.ratio('own', 'peer', 'nothing')).toBeUndefined();
});

test('a part leaves the parts behind it the time that they usually take', async () => {
  const { runParts } = await import(join(generation, 'parts.mjs'));
  const seen: Record<string, boolean> = {};
  const part = (name: string, seconds: number) => ({
    run: async ({ late, left }: { late: () => boolean; left: () => number }) => {
      seen[name] = late();
      expect(late()).toBe(left() < 0);
    },
    seconds,
  });
  const parts = { first: part('first', 0), second: part('second', 1000), third: part('third', 2000) };
  const result = await runParts(parts, { parts: 'first,second,third', minutes: 40 });
  expect(seen).toEqual({ first: true, second: false, third: false });
  expect(result.leftOut).toEqual([]);
});

test('parts that no time is left for are named, and unknown ones are refused', async () => {
  const { runParts } = await import(join(generation, 'parts.mjs'));
  const parts = {
    first: async (options: { late: () => boolean }, result: { tables: unknown[] }) => {
      result.tables.push('first');
      while (!options.late()) await new Promise((resolve) => setImmediate(resolve));
    },
    second: async () => {
      throw new Error('its turn came');
    },
  };
  const result = await runParts(parts, { parts: 'first,second', minutes: 1e-4 });
  expect(result.tables).toEqual(['first']);
  expect(result.leftOut).toEqual([{ name: 'second', reason: 'its turn came after 0.0001 minutes' }]);
  await expect(runParts(parts, { parts: 'third', minutes: 1 })).rejects.toThrow('--parts third');
});
