import { describe, expect, it } from 'vitest';
import { Account, type Sending } from '../../src/fairness/account.js';
import { FairSlots } from '../../src/fairness/fair-slots.js';
import { LoopScheduler } from '../../src/fairness/loop-scheduler.js';
import { ServerMemory } from '../../src/fairness/server-memory.js';

const never = new AbortController().signal;
const limit = { heap: 300, total: 300 };

function accountOf(
  producers: number,
  lags = () => false,
  whenWritten = (callback: () => void) => callback(),
) {
  const memory = new ServerMemory({ server: limit, client: limit, waitMs: 1000 }).client();
  const workers = { search: new FairSlots(1), build: new FairSlots(1), others: new WeakMap() };
  const serve = () => 0;
  return new Account(
    { memory, loop: new LoopScheduler(), workers, producers },
    { serve, serveShort: serve, settle() {}, lags, whenWritten },
  );
}

/** Asks to send and notes when it may. */
function send(account: Account, name: string, admitted: string[], signal = never): Promise<Sending> {
  const sending = account.send(signal);
  sending.then(
    () => admitted.push(name),
    () => {},
  );
  return sending;
}

const settled = () => new Promise(setImmediate);

describe('an account', () => {
  it('lets so many results be made at once, and others in order as these end', async () => {
    const account = accountOf(2);
    const admitted: string[] = [];
    const [first] = ['a', 'b', 'c', 'd'].map((name) => send(account, name, admitted));
    await settled();
    expect(admitted).toEqual(['a', 'b']);
    const sending = await first;
    sending?.end();
    sending?.end();
    await settled();
    expect(admitted).toEqual(['a', 'b', 'c']);
  });

  it('lets no results be made while the client does not read', async () => {
    let lags = true;
    const account = accountOf(8, () => lags);
    const admitted: string[] = [];
    for (const name of ['a', 'b']) send(account, name, admitted);
    await settled();
    expect(admitted).toEqual([]);
    lags = false;
    account.caughtUp();
    await settled();
    expect(admitted).toEqual(['a', 'b']);
  });

  it('forgets who gave up waiting', async () => {
    const account = accountOf(1);
    const admitted: string[] = [];
    const sending = await send(account, 'a', admitted);
    const controller = new AbortController();
    const waiting = send(account, 'b', admitted, controller.signal);
    send(account, 'c', admitted);
    const reason = new Error('enough');
    controller.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    await expect(account.send(AbortSignal.abort(reason))).rejects.toBe(reason);
    sending.end();
    await settled();
    expect(admitted).toEqual(['a', 'c']);
  });

  it('counts the memory of results until they are written', async () => {
    const written: (() => void)[] = [];
    const account = accountOf(
      1,
      () => false,
      (callback) => written.push(callback),
    );
    const { ledger } = account.memory;
    const sending = await account.send(never);
    await sending.reserve({ heap: 10, native: 20 }, never);
    await sending.reserve({ heap: 0, native: 5 }, never);
    sending.end();
    expect(ledger.byKind.results).toBe(35);
    for (const callback of written) callback();
    expect(ledger.byKind.results).toBe(0);
    await expect(sending.reserve({ heap: 0, native: 101 }, never)).rejects.toMatchObject({ code: 6001 });
  });

  it('frees the thread of work that waits for a slice', async () => {
    const account = accountOf(1);
    let second: Promise<string> | undefined;
    const first = account.compute('search', never, async (nextSlice) => {
      second = account.compute('search', never, async () => 'the thread was free');
      await nextSlice();
      return second;
    });
    expect(await first).toBe('the thread was free');
  });
});
