import { describe, expect, it } from 'vitest';
import {
  type LoopClock,
  type LoopLimits,
  LoopScheduler,
  type LoopShare,
} from '../../src/fairness/loop-scheduler.js';

const turnOfLoop = () => new Promise(setImmediate);

/** A scheduler whose time passes only when a slice says that it took some, or was interrupted. */
function scheduled(limits: LoopLimits = { sliceMs: 0.2, turnMs: 1 }) {
  let now = 0;
  let used = 0;
  let tell: (began: number, ms: number) => void = () => {};
  const clock: LoopClock = {
    now: () => now,
    used: () => used,
    watchPauses: (told) => {
      tell = told;
      return () => {};
    },
  };
  return {
    scheduler: new LoopScheduler(limits, clock),
    take: (ms: number) => {
      now += ms;
      used += ms;
    },
    /** Another program has the processor. */
    lose: (ms: number) => {
      now += ms;
    },
    /** The garbage collector runs, and its pause is told of afterwards. */
    collect: (ms: number) => {
      const began = now;
      now += ms;
      used += ms;
      setImmediate(() => tell(began, ms));
    },
  };
}

type Scheduled = ReturnType<typeof scheduled>;

/** A client that always has something to do, and uses its whole slice. */
function busyClient({ scheduler, take }: Scheduled, onSlice: () => void): LoopShare {
  return scheduler.join({
    serve: (isDue) => {
      onSlice();
      while (!isDue()) take(0.05);
      return Number.POSITIVE_INFINITY;
    },
    settle: () => {},
  });
}

describe('the event loop', () => {
  it('serves a client that asks for little before all that ask for much, however many they are', async () => {
    const own = scheduled();
    let slices = 0;
    const shares = Array.from({ length: 200 }, () => busyClient(own, () => slices++));
    for (const share of shares) share.request();
    while (slices < 400) await turnOfLoop();
    const waited: number[] = [];
    const light = own.scheduler.join({
      serve: () => {
        waited.push(slices);
        return 0;
      },
      settle: () => {},
    });
    for (let round = 0; round < 10; round++) {
      const asked = slices;
      light.request();
      while (waited.length <= round) await turnOfLoop();
      waited[round] = (waited[round] as number) - asked;
    }
    for (const share of shares) share.leave();
    expect(Math.max(...waited)).toBeLessThanOrEqual(1);
  });

  it('is shared equally by clients that ask for much, whatever each of their slices takes', async () => {
    const { scheduler, take } = scheduled();
    const used = [0, 0];
    let slices = 0;
    const shares = [1, 8].map((length, client) =>
      scheduler.join({
        serve: () => {
          take(length * 0.2);
          used[client] = (used[client] as number) + length * 0.2;
          slices++;
          return Number.POSITIVE_INFINITY;
        },
        settle: () => {},
      }),
    );
    for (const share of shares) share.request();
    while (slices < 300) await turnOfLoop();
    for (const share of shares) share.leave();
    const [short = 0, long = 0] = used;
    expect(short / long).toBeGreaterThan(0.8);
    expect(short / long).toBeLessThan(1.25);
  });

  it('goes on to sockets and timers while clients have more to do', async () => {
    const own = scheduled();
    let slices = 0;
    const share = busyClient(own, () => slices++);
    share.request();
    const perTurn: number[] = [];
    for (let turn = 0; turn < 20; turn++) {
      const before = slices;
      await turnOfLoop();
      perTurn.push(slices - before);
    }
    share.leave();
    const ended = slices;
    for (let turn = 0; turn < 3; turn++) await turnOfLoop();
    expect(ended).toBeGreaterThan(5);
    // Five slices of 0.2 ms fill a turn of 1 ms, the last may exceed it, and two turns may be seen at once.
    expect(Math.max(...perTurn)).toBeLessThanOrEqual(12);
    expect(slices - ended).toBeLessThanOrEqual(1);
  });

  it('is given to one waiting step of a client in each slice, so that steps of others are served in between', async () => {
    const { scheduler, take } = scheduled();
    const order: string[] = [];
    const idle = { serve: () => 0, settle: () => {} };
    const [heavy, light] = [scheduler.join(idle), scheduler.join(idle)];
    const step = async (share: LoopShare, name: string) => {
      await share.nextSlice();
      take(0.5);
      order.push(name);
    };
    const steps = Array.from({ length: 20 }, () => step(heavy, 'heavy'));
    await Promise.all([...steps, step(light, 'light')]);
    expect(order.indexOf('light')).toBeLessThanOrEqual(1);
    expect(order).toHaveLength(21);
  });

  it('is given to what clients who left have begun for the time of a turn, and then to others', async () => {
    const { scheduler, take } = scheduled();
    const idle = { serve: () => 0, settle: () => {} };
    const gone = scheduler.join(idle);
    let ended = 0;
    const step = async () => {
      await gone.nextSlice();
      await gone.nextSlice();
      take(0.5);
      ended++;
    };
    const steps = Array.from({ length: 20 }, step);
    gone.leave();
    const perTurn: number[] = [];
    while (ended < 20 && perTurn.length < 100) {
      const before = ended;
      await turnOfLoop();
      perTurn.push(ended - before);
    }
    await Promise.all(steps);
    // Two steps of 0.5 ms fill a turn of 1 ms, and two turns may be seen at once.
    expect(Math.max(...perTurn)).toBeLessThanOrEqual(4);
  });

  it.each(['lose', 'collect'] as const)(
    'does not charge a client for interruptions of its slices: %s',
    async (interrupt) => {
      const own = scheduled();
      let interruption = 20;
      const served: string[] = [];
      const light = own.scheduler.join({
        serve: () => {
          served.push('light');
          own.take(0.1);
          own[interrupt](interruption);
          return 0;
        },
        settle: () => {},
      });
      const others = Array.from({ length: 20 }, () => busyClient(own, () => served.push('other')));
      for (const other of others) other.request();
      const asks = async () => {
        const asked = served.length;
        light.request();
        while (served.indexOf('light', asked) < 0) await turnOfLoop();
        return served.indexOf('light', asked) - asked;
      };
      // Interruptions in slices one after the other.
      for (let time = 0; time < 3; time++) await asks();
      interruption = 0;
      await turnOfLoop();
      const waited = await asks();
      for (const other of others) other.leave();
      // Each interruption is as long as five slices of each of the others.
      expect(waited).toBeLessThanOrEqual(6);
    },
  );

  it('does not hold against a client what it used while nobody else waited', async () => {
    const own = scheduled();
    let slices = 0;
    let rounds = 0;
    const early = own.scheduler.join({
      serve: () => {
        own.take(0.2);
        return ++rounds < 500 ? Number.POSITIVE_INFINITY : 0;
      },
      settle: () => {},
    });
    early.request();
    while (rounds < 500) await turnOfLoop();
    const others = Array.from({ length: 20 }, () => busyClient(own, () => slices++));
    for (const other of others) other.request();
    while (slices < 100) await turnOfLoop();
    const asked = slices;
    early.request();
    while (rounds < 501) await turnOfLoop();
    for (const other of others) other.leave();
    // A slice of its own, and the others' credit: not the 100 ms.
    expect(slices - asked).toBeLessThanOrEqual((20 * 0.4) / 0.05);
  });

  it('serves a client that asks and waits before many that always have more to do, though it uses more than each of them', async () => {
    const own = scheduled();
    let slices = 0;
    const others = Array.from({ length: 50 }, () => busyClient(own, () => slices++));
    for (const other of others) other.request();
    while (slices < 100) await turnOfLoop();
    let pings = 0;
    const pinger = own.scheduler.join({
      serve: () => {
        own.take(0.1);
        pings++;
        return 0;
      },
      settle: () => {},
    });
    const begin = slices;
    while (slices < begin + 1000) {
      const before = pings;
      pinger.request();
      while (pings === before) await turnOfLoop();
    }
    for (const other of others) other.leave();
    // Each of the others had 20 slices of 0.05 ms, the time of 10 pings.
    expect(pings).toBeGreaterThan(40);
  });

  it('serves a client that was active in turn with a crowd of others that ask and wait', async () => {
    const own = scheduled({ sliceMs: 0.5, turnMs: 3 });
    let slices = 0;
    const asking = (ms: () => number) => {
      let asked = 0;
      let longest = 0;
      const share = own.scheduler.join({
        serve: () => {
          own.take(ms());
          longest = Math.max(longest, ++slices - asked);
          setImmediate(ask);
          return 0;
        },
        settle: () => {},
      });
      const ask = () => {
        asked = slices;
        share.request();
      };
      ask();
      return { leave: () => share.leave(), longest: () => longest };
    };
    let search = false;
    const active = asking(() => {
      search = !search;
      return search ? 0.3 : 0.04;
    });
    while (slices < 100) await turnOfLoop();
    const crowd = Array.from({ length: 400 }, () => asking(() => 0.04));
    while (slices < 20 * crowd.length) await turnOfLoop();
    for (const client of [active, ...crowd]) client.leave();
    // Once after each of the others, and after some of them twice.
    expect(active.longest()).toBeLessThan(2 * crowd.length);
  });

  it('serves those first that it spent less time for outside of slices', async () => {
    const own = scheduled();
    const served: string[] = [];
    const client = (name: string) =>
      own.scheduler.join({ serve: () => served.push(name) && 0, settle: () => {} });
    const other = busyClient(own, () => {});
    other.request();
    const [reader, light] = [client('reader'), client('light')];
    reader.charge(1000);
    light.charge(0.01);
    await turnOfLoop();
    reader.request();
    light.request();
    while (served.length === 0) await turnOfLoop();
    for (const share of [other, reader, light]) share.leave();
    expect(served).toEqual(['light']);
  });

  it('goes on to sockets and timers once reading for clients has taken a turn, and serves them afterwards', async () => {
    const { scheduler } = scheduled({ sliceMs: 0.2, turnMs: 1 });
    let slices = 0;
    const share = scheduler.join({
      serve: () => {
        slices++;
        return 0;
      },
      settle: () => {},
    });
    share.charge(0.9);
    share.request();
    expect(slices).toBe(1);
    await turnOfLoop();
    share.charge(1.1);
    share.request();
    expect(slices).toBe(1);
    await turnOfLoop();
    expect(slices).toBe(2);
  });

  it('leaves no step waiting when its client leaves', async () => {
    const own = scheduled();
    const other = busyClient(own, () => {});
    const share = own.scheduler.join({ serve: () => 0, settle: () => {} });
    other.request();
    const waiting = [share.nextSlice(), share.nextSlice()];
    share.leave();
    await Promise.all([...waiting, share.nextSlice()]);
    other.leave();
  });

  it('counts the promise callbacks of a slice, and settles after them', async () => {
    const { scheduler } = scheduled();
    const order: string[] = [];
    const share = scheduler.join({
      serve: () => {
        void (async () => {
          for (let hop = 0; hop < 20; hop++) await undefined;
          order.push('replied');
        })();
        return 0;
      },
      settle: () => order.push('settled'),
    });
    share.request();
    while (order.length < 2) await turnOfLoop();
    expect(order).toEqual(['replied', 'settled']);
  });
});
