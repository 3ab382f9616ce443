import { describe, expect, it } from 'vitest';
import { type FairMember, FairQueue } from '../../src/fairness/fair-queue.js';

interface Named extends FairMember {
  readonly name: string;
}

const member = (name: string): Named => ({ name, virtual: 0 });

describe('a fair queue', () => {
  it('gives turns in proportion to what they do not cost', () => {
    const queue = new FairQueue<Named>(1);
    const costs: Record<string, number> = { cheap: 1, dear: 4 };
    const turns: Record<string, number> = { cheap: 0, dear: 0 };
    for (const name of Object.keys(costs)) queue.add(member(name));
    for (let turn = 0; turn < 100; turn++) {
      const next = queue.take() as Named;
      turns[next.name] = (turns[next.name] ?? 0) + 1;
      next.virtual += costs[next.name] as number;
      queue.add(next);
    }
    expect(turns).toEqual({ cheap: 80, dear: 20 });
  });

  it('puts a member that rested first, whatever it used before and however long it rested', () => {
    const queue = new FairQueue<Named>(1);
    const [early, late] = [member('early'), member('late')];
    queue.add(early);
    queue.take();
    early.virtual += 3;
    const busy = Array.from({ length: 5 }, (_, n) => member(`busy ${n}`));
    for (const one of busy) queue.add(one);
    for (let turn = 0; turn < 100; turn++) {
      const next = queue.take() as Named;
      next.virtual += 1;
      queue.add(next);
    }
    queue.add(early);
    queue.add(late);
    expect([queue.take()?.name, queue.take()?.name]).toEqual(['early', 'late']);
    // Ahead by the credit, no further: two turns are all it gets before the others.
    late.virtual += 2;
    queue.add(late);
    expect(queue.take()?.name).toMatch('busy');
  });

  it('takes members that paid as much in the order in which they came, and forgets the deleted', () => {
    const queue = new FairQueue<Named>(1);
    const [one, other, gone] = [member('one'), member('other'), member('gone')];
    for (const each of [gone, one, other, one]) queue.add(each);
    queue.delete(gone);
    expect(queue.size).toBe(2);
    expect([queue.take(), queue.take(), queue.take()]).toEqual([one, other, undefined]);
  });

  it('with an interest, does not let a member that asks for more wait for many rounds of hundreds', () => {
    const rounds = (interest: number) => {
      const queue = new FairQueue<Named>(1);
      const others = 400;
      const dear = member('dear');
      let time = 0;
      for (let n = 0; n < others; n++) queue.add(member('cheap'), time, interest);
      queue.add(dear, time, interest);
      let longest = 0;
      let since = 0;
      for (let turn = 0; turn < 100 * others; turn++) {
        const next = queue.take(time) as Named;
        const cost = next === dear ? 0.3 : 0.02;
        if (next === dear && turn > 50 * others) longest = Math.max(longest, turn - since);
        if (next === dear) since = turn;
        next.virtual += cost;
        time += cost;
        queue.add(next, time, interest);
      }
      return longest / others;
    };
    const without = rounds(0);
    expect(without).toBeGreaterThan(10);
    expect(rounds(1 / 200)).toBeLessThan((3 / 4) * without);
    expect(rounds(1 / 20)).toBeLessThan(2);
  });

  it('with an interest, still puts members that ask for little before members that ask for much', () => {
    const interest = 1 / 200;
    const queue = new FairQueue<Named>(0.5);
    let time = 0;
    for (let n = 0; n < 16; n++) queue.add(member('busy'), time, interest);
    const light = member('light');
    const waited: number[] = [];
    for (let turn = 0; turn < 1000; turn++) {
      if (turn % 20 === 0) queue.add(light, time, interest);
      const asked = turn - (turn % 20);
      const next = queue.take(time) as Named;
      if (next === light) waited.push(turn - asked);
      const cost = next === light ? 0.01 : 0.5;
      next.virtual += cost;
      time += cost;
      if (next !== light) queue.add(next, time, interest);
    }
    expect(waited).toHaveLength(50);
    expect(Math.max(...waited.slice(1))).toBe(0);
  });
});
