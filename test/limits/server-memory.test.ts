import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { defaultMemoryMiB } from '../../src/base/machine/default-memory.js';
import { bytesPerMiB as MiB } from '../../src/base/machine/mebibytes.js';
import type { ClientMemory, Holding } from '../../src/fairness/client-memory.js';
import { budgets } from '../../src/fairness/default-budgets.js';
import { ServerMemory } from '../../src/fairness/server-memory.js';
import { ServerError } from '../../src/protocol/errors.js';

const limits = { server: { heap: 30, total: 60 }, client: { heap: 15, total: 30 } };
const waitMs = 20;

function memory(options = limits): ServerMemory {
  return new ServerMemory({ ...options, waitMs });
}

/** The code of the refusal, or undefined. */
function refusal(act: () => void): number | undefined {
  try {
    act();
    return undefined;
  } catch (error) {
    if (!(error instanceof ServerError)) throw error;
    return error.code;
  }
}

const native = (bytes: number) => ({ heap: 0, native: bytes });

describe('what is held', () => {
  it.each([
    ['fits', { heap: 5, native: 5 }, undefined],
    ["fills two thirds of the client's total", { heap: 5, native: 15 }, undefined],
    ["is beyond the client's total", { heap: 5, native: 16 }, 6001],
    ["is beyond the client's heap", { heap: 11, native: 0 }, 6001],
  ])('%s', (_, bytes, code) => {
    expect(refusal(() => memory().client().hold('agents').add(bytes, 'no'))).toBe(code);
  });

  it('names the budget, both numbers and the ledger', () => {
    const holding = memory({
      server: { heap: 30 * MiB, total: 60 * MiB },
      client: { heap: 15 * MiB, total: 30 * MiB },
    })
      .client()
      .hold('agents');
    const over = { heap: 12 * MiB, native: 0 };
    expect(() => holding.add(over, 'the agent was not created')).toThrow(
      "the agent was not created: 12.0 MiB of JavaScript memory would be in use, 10.0 MiB are allowed by this client's budget; ",
    );
    expect(() => holding.add(native(21 * MiB), 'no')).toThrow('a larger max_client_memory_mb');
  });

  it("is refused for the server's sum; the last eighth is for clients that hold next to nothing", () => {
    const all = memory({ server: { heap: 6400, total: 6400 }, client: { heap: 6400, total: 6400 } });
    const [large, small] = [all.client(), all.client()];
    large.hold('agents').add(native(3732), 'no');
    expect(refusal(() => large.hold('agents').add(native(1), 'no'))).toBe(6002);
    expect(refusal(() => small.hold('agents').add(native(67), 'no'))).toBe(6002);
    small.hold('agents').add(native(66), 'no');
  });

  it.each(['at once', 'one after the other'])(
    'leaves room for one more client, however greedy a hundred others are (%s)',
    (order) => {
      const budget = { heap: 300 * MiB, total: 300 * MiB };
      const all = memory({ server: budget, client: budget });
      const greedy = Array.from({ length: 100 }, () => all.client().hold('agents'));
      const step = native(8 * 1024);
      const takes = (holding: Holding) => refusal(() => holding.add(step, 'no')) === undefined;
      if (order === 'at once') while (greedy.filter(takes).length > 0);
      else for (const holding of greedy) while (takes(holding));
      expect(
        refusal(() =>
          all
            .client()
            .hold('sessions')
            .add(native(20 * 1024), 'no'),
        ),
      ).toBeUndefined();
      expect(all.ledger.heldNow.total).toBeLessThanOrEqual(all.ledger.held.total);
    },
  );

  it('is given back, once', () => {
    const all = memory();
    const client = all.client();
    const holding = client.hold('storages');
    holding.add(native(20), 'no');
    expect(refusal(() => holding.add(native(1), 'no'))).toBe(6001);
    holding.settle(native(3));
    expect(all.ledger.byKind.storages).toBe(3);
    holding.release();
    holding.release();
    expect(all.ledger.heldNow).toEqual({ heap: 0, total: 0 });
    client.hold('storages').add(native(20), 'no');
  });

  it('does not take the room of what passes', () => {
    const client = memory().client();
    client.hold('agents').add(native(20), 'no');
    expect(client.fits(native(10))).toBe(true);
    expect(client.fits(native(11))).toBe(false);
  });
});

describe('what passes', () => {
  it('waits for its own client, and goes on when that has given back', async () => {
    const client = memory().client();
    const release = client.pass('requests', native(8));
    const reserving = client.reserve('results', native(5), 'no', new AbortController().signal);
    release();
    (await reserving)();
    expect(client.ledger.passingNow).toEqual({ heap: 0, total: 0 });
  });

  it('is refused at once when it can never fit, and when it has waited for too long', async () => {
    const client = memory().client();
    const { signal } = new AbortController();
    await expect(client.reserve('results', native(11), 'no', signal)).rejects.toMatchObject({ code: 6001 });
    client.pass('requests', native(8));
    await expect(client.reserve('results', native(5), 'no', signal)).rejects.toMatchObject({ code: 6001 });
  });

  it('does not wait for a client that has given up', async () => {
    const client = memory().client();
    client.pass('requests', native(8));
    const giveUp = new AbortController();
    const reserving = client.reserve('results', native(5), 'no', giveUp.signal);
    giveUp.abort(new Error('gone'));
    await expect(reserving).rejects.toThrow('gone');
  });

  it('of large consumers waits when three quarters of the server are full; small ones go on', () => {
    const all = memory();
    const [large, larger, small] = [all.client(), all.client(), all.client()];
    large.pass('receiving', native(7));
    larger.pass('receiving', native(9));
    expect([large.mayRead, larger.mayRead, small.mayRead]).toEqual([false, false, true]);
  });

  it('never passes the limit, however many take what they may', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(19), fc.integer({ min: 1, max: 500 })), { maxLength: 400 }),
        (steps) => {
          const all = memory({ server: { heap: 9000, total: 9000 }, client: { heap: 4500, total: 4500 } });
          const clients = Array.from({ length: 20 }, () => all.client());
          for (const [index, bytes] of steps) {
            const client = clients[index] as ClientMemory;
            if (client.fits(native(bytes))) client.pass('requests', native(bytes));
          }
          expect(all.ledger.passingNow.total).toBeLessThanOrEqual(all.ledger.passing.total);
        },
      ),
    );
  });

  it('that makes others wait for too long is ended: the largest consumers, as few as it takes', async () => {
    const all = memory();
    const expelled: string[] = [];
    const client = (name: string, bytes: number) => {
      const made = all.client((reason) => {
        expelled.push(`${name} ${reason.code}`);
        release();
      });
      const release = made.pass('receiving', native(bytes));
      return made;
    };
    client('small', 3);
    client('largest', 8);
    client('second', 6);
    await all.client().reserve('results', native(5), 'no', new AbortController().signal);
    expect(expelled).toEqual(['largest 6002']);
  });
});

it('sums agree after any sequence, and all is given back in the end', () => {
  const step = fc.record({
    client: fc.nat(4),
    kind: fc.constantFrom('agents', 'storages', 'requests', 'replies' as const),
    heap: fc.nat(5),
    native: fc.nat(8),
    release: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const all = memory();
      const clients = Array.from({ length: 5 }, () => all.client());
      const releases: (() => void)[] = [];
      for (const { client: index, kind, heap, native: bytes, release } of steps) {
        const client = clients[index] as ClientMemory;
        if (kind === 'requests' || kind === 'replies')
          releases.push(client.pass(kind, { heap, native: bytes }));
        else {
          const holding = client.hold(kind);
          releases.push(() => holding.release());
          refusal(() => holding.add({ heap, native: bytes }, 'no'));
          const { heldNow, held } = client.ledger;
          expect(heldNow.heap <= held.heap && heldNow.total <= held.total).toBe(true);
        }
        if (release) releases.shift()?.();
        const sums = clients.map(({ ledger }) => ledger.heldNow.total + ledger.passingNow.total);
        const { heldNow, passingNow, byKind } = all.ledger;
        expect(heldNow.total + passingNow.total).toBe(sums.reduce((a, b) => a + b, 0));
        expect(Object.values(byKind).reduce((a, b) => a + b, 0)).toBe(heldNow.total + passingNow.total);
      }
      for (const release of releases) release();
      expect(all.ledger.heldNow).toEqual({ heap: 0, total: 0 });
      expect(all.ledger.passingNow).toEqual({ heap: 0, total: 0 });
    }),
  );
});

describe('the budgets by default', () => {
  it.each([
    [256, 64],
    [512, 192],
    [1024, 448],
    [24_576, 12_224],
    [64, 16],
  ])('of a process that may use %i MiB are %i MiB', (process, expected) => {
    expect(defaultMemoryMiB(process * MiB)).toBe(expected);
  });

  it('give one client half, and keep what V8 needs of its heap', () => {
    const config = { max_memory_mb: 400, max_client_memory_mb: 0 };
    expect(budgets(config, 348 * MiB)).toEqual({
      server: { heap: 180 * MiB, total: 400 * MiB },
      client: { heap: 90 * MiB, total: 200 * MiB },
    });
    const large = budgets({ ...config, max_client_memory_mb: 500 }, 4000 * MiB);
    expect(large.server).toEqual({ heap: 400 * MiB, total: 400 * MiB });
    expect(large.client.total).toBe(400 * MiB);
  });
});

describe('requests that grow while they are parsed', () => {
  it('go on together while there is room, and one by one without', () => {
    const all = memory({ server: { heap: 12_000, total: 12_000 }, client: { heap: 12_000, total: 12_000 } });
    const clients = [all.client(), all.client(), all.client()] as const;
    const [first, second, third] = clients;
    const small = all.client();
    const begun = clients.map((client) => client.pass('requests', native(900)));
    expect(clients.map((client) => client.mayGrow)).toEqual([true, true, true]);
    const grown = clients.map((client) => client.pass('requests', native(400)));
    expect([third.mayGrow, first.mayGrow, second.mayGrow, third.mayGrow]).toEqual([true, false, false, true]);
    expect(small.mayGrow).toBe(true);
    third.grown();
    expect([first.mayGrow, second.mayGrow]).toEqual([true, false]);
    first.close();
    expect([third.mayGrow, second.mayGrow]).toEqual([false, true]);
    for (const release of [...begun, ...grown]) release();
    expect([third.mayGrow, second.mayGrow]).toEqual([true, true]);
  });

  it('are called back when their turn comes', async () => {
    const all = memory({ server: { heap: 12_000, total: 12_000 }, client: { heap: 12_000, total: 12_000 } });
    const [first, second] = [all.client(), all.client()];
    for (const client of [first, second]) client.pass('requests', native(1900));
    expect([first.mayGrow, second.mayGrow]).toEqual([true, false]);
    const woken = new Promise<void>((resolve) => second.onRoom(resolve));
    first.grown();
    await woken;
    expect(second.mayGrow).toBe(true);
  });
});
