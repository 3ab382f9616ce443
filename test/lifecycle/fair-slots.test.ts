import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { withSlices } from '../../src/base/waiting/next-slice.js';
import { FairSlots } from '../../src/fairness/fair-slots.js';

const never = new AbortController().signal;
const turn = () => new Promise(setImmediate);

describe('slots', () => {
  it('are given at once while there are any, and then when one is given back', async () => {
    const client = new FairSlots(2).join();
    const leave = await client.enter(never);
    await client.enter(never);
    let entered = false;
    const third = client.enter(never).then(() => {
      entered = true;
    });
    await turn();
    expect(entered).toBe(false);
    leave();
    leave();
    await third;
    const late = await Promise.race([client.enter(never), turn().then(() => 'waits')]);
    expect(late).toBe('waits');
  });

  it('that are waited for begin work in a turn of its client', async () => {
    const client = new FairSlots(1).join();
    let turns = 0;
    let grant = () => {};
    const turnOfClient = () => {
      turns++;
      return new Promise<void>((resolve) => {
        grant = resolve;
      });
    };
    const enter = () => withSlices({ nextSlice: turnOfClient, sliceMs: 1 }, () => client.enter(never));
    const leave = await enter();
    expect(turns).toBe(0);
    let begun = false;
    const next = enter().then(() => {
      begun = true;
    });
    leave();
    await turn();
    expect([turns, begun]).toEqual([1, false]);
    grant();
    await next;
  });

  it('go to the client that used them least, however much others asked for before', async () => {
    const slots = new FairSlots(2);
    const order: string[] = [];
    const busy = Array.from({ length: 5 }, () => slots.join());
    const run = async (name: string, client: { enter(signal: AbortSignal): Promise<() => void> }) => {
      const leave = await client.enter(never);
      order.push(name);
      for (let wait = 0; wait < 3; wait++) await turn();
      leave();
    };
    const work = busy.flatMap((client) => Array.from({ length: 50 }, () => run('busy', client)));
    while (order.length < 20) await turn();
    const asked = order.length;
    await run('light', slots.join());
    expect(order.indexOf('light') - asked).toBeLessThanOrEqual(2);
    await Promise.all(work);
    expect(order).toHaveLength(251);
  });

  it('are not kept for seconds from a client whose work other programs have stopped once', async () => {
    let now = 0;
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now);
    onTestFinished(() => clock.mockRestore());
    const slots = new FairSlots(1);
    const stopped = slots.join();
    const leave = await stopped.enter(never);
    let stop = false;
    const others = Array.from({ length: 8 }, async () => {
      const client = slots.join();
      while (!stop) {
        const end = await client.enter(never);
        now += 1;
        end();
      }
    });
    now += 1000;
    leave();
    const began = now;
    const again = await stopped.enter(never);
    const waited = now - began;
    stop = true;
    again();
    await Promise.all(others);
    expect(waited).toBeLessThan(1000);
  });

  it('are shared by clients that ask for as much as they can', async () => {
    // All work takes as long, also beside other programs.
    let now = 0;
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => ++now);
    onTestFinished(() => clock.mockRestore());
    const slots = new FairSlots(1);
    const served = [0, 0];
    let stop = false;
    // The first asks for ten at a time, the second for one.
    const client = async (index: number, share: ReturnType<FairSlots['join']>) => {
      while (!stop) {
        const leave = await share.enter(never);
        served[index] = (served[index] as number) + 1;
        await turn();
        leave();
      }
    };
    const [many, one] = [slots.join(), slots.join()];
    const work = [...Array.from({ length: 10 }, () => client(0, many)), client(1, one)];
    while ((served[0] as number) + (served[1] as number) < 400) await turn();
    stop = true;
    await Promise.all(work);
    expect(served[1]).toBeGreaterThan(100);
    expect(served[0]).toBeGreaterThan(100);
  });

  it.each([1, 10])(
    'that are reserved go to clients whose work was short lately, %i times slower',
    async (slow) => {
      let now = 0;
      const clock = vi.spyOn(performance, 'now').mockImplementation(() => now);
      onTestFinished(() => clock.mockRestore());
      const slots = new FairSlots(1, 1);
      const work = async (client: ReturnType<FairSlots['join']>, ms: number, times: number) => {
        for (let n = 0; n < times; n++) {
          const leave = await client.enter(never);
          now += ms * slow;
          leave();
        }
      };
      const enters = async (client: ReturnType<FairSlots['join']>) => {
        const leave = await Promise.race([client.enter(never), turn().then(() => undefined)]);
        leave?.();
        return leave !== undefined;
      };
      const [short, sly, long] = [slots.join(), slots.join(), slots.join()];
      await work(long, 150, 10);
      await work(short, 5, 40);
      await work(sly, 5, 40);
      await work(sly, 150, 1);
      await work(sly, 5, 3);
      await long.enter(never); // does not end
      expect([await enters(short), await enters(sly), await enters(slots.join())]).toEqual([
        true,
        false,
        false,
      ]);
    },
  );

  it('are not waited for by what was aborted', async () => {
    const slots = new FairSlots(1);
    const leave = await slots.join().enter(never);
    const ending = new AbortController();
    const waiting = slots.join().enter(ending.signal);
    ending.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    await expect(slots.join().enter(ending.signal)).rejects.toThrow('enough');
    leave();
    (await slots.join().enter(never))();
  });
});
