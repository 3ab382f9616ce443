import { expect, it } from 'vitest';
import { CallQueue } from '../../lib/internal.js';

/** Calls of a queue in the order in which they begin; each ends when it is told to. */
function calls(most = 1) {
  const queue = new CallQueue(most);
  const begun: string[] = [];
  const call = (name: string, rank: number, signal?: AbortSignal) => {
    let end = () => {};
    const ending = new Promise<void>((resolve) => {
      end = resolve;
    });
    const ended = queue.run(rank, signal, () => {
      begun.push(name);
      return ending;
    });
    const finish = () => {
      end();
      return ended;
    };
    return { ended, end: finish };
  };
  return { begun, call };
}

it('runs the most urgent call first, then the one that has waited longest', async () => {
  const { begun, call } = calls();
  const first = call('first', 1);
  const [worst, middle, again] = [call('worst', 2), call('middle', 1), call('again', 1)];
  await first.end();
  await middle.end();
  await again.end();
  await worst.end();
  expect(begun).toEqual(['first', 'middle', 'again', 'worst']);
});

it('begins a call beside less urgent ones, and no other', async () => {
  const { begun, call } = calls();
  const rests = call('rests', 2);
  const [urgent, next, other] = [call('urgent', 0), call('next', 0), call('other', 2)];
  await Promise.resolve();
  expect(begun).toEqual(['rests', 'urgent']);
  await rests.end();
  expect(begun).toEqual(['rests', 'urgent']);
  await urgent.end();
  await next.end();
  await other.end();
  expect(begun).toEqual(['rests', 'urgent', 'next', 'other']);
});

it('forgets a call that is cancelled while it waits, and goes on after one that fails', async () => {
  const { begun, call } = calls();
  const first = call('first', 0);
  const ending = new AbortController();
  const cancelled = call('cancelled', 0, ending.signal);
  ending.abort();
  await expect(cancelled.ended).rejects.toMatchObject({ name: 'AbortError' });
  await first.end();
  const queue = new CallQueue(1);
  await expect(queue.run(0, undefined, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await queue.run(0, undefined, async () => 'yes')).toBe('yes');
  expect(begun).toEqual(['first']);
});

it('with two at a time, has the next call of a class beside the running one', async () => {
  const { begun, call } = calls(2);
  const [worst, urgent] = [call('worst', 2), call('urgent', 0)];
  const [next, last, other] = [call('next', 0), call('last', 0), call('other', 1)];
  await Promise.resolve();
  expect(begun).toEqual(['worst', 'urgent', 'next']);
  await urgent.end();
  expect(begun).toEqual(['worst', 'urgent', 'next', 'last']);
  for (const each of [next, last, worst, other]) await each.end();
  expect(begun.at(-1)).toBe('other');
});
