import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Deadlines } from '../../src/server/deadlines.js';

const idleMs = 1000;

/** The moments at which a connection that hears something at `heard` is silent for too long, and how long it is watched. */
const cases: { what: string; heard: number[]; may: boolean; silent: number[]; until: number }[] = [
  { what: 'never says anything', heard: [], may: false, silent: [1000], until: 3500 },
  { what: 'may be silent', heard: [], may: true, silent: [1000, 2000, 3000], until: 3500 },
  { what: 'says something once', heard: [400], may: false, silent: [1400], until: 3500 },
  {
    what: 'says something in every period',
    heard: [900, 1800, 2700],
    may: false,
    silent: [3700],
    until: 4500,
  },
  {
    what: 'speaks often and then rests',
    heard: [100, 200, 300, 950],
    may: true,
    silent: [1950, 2950],
    until: 3500,
  },
];

describe('the deadline of silence', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  for (const { what, heard, may, silent, until } of cases) {
    it(`counts from the last data of a client that ${what}`, () => {
      const seen: number[] = [];
      const begin = performance.now();
      const deadlines = new Deadlines(
        { frameMs: 10, stallMs: 10, idleMs },
        {
          stalled: () => {},
          unfinished: () => {},
          silent: () => {
            seen.push(Math.round(performance.now() - begin));
            return may;
          },
        },
      );
      for (const at of heard) setTimeout(() => deadlines.heard(), at);
      vi.advanceTimersByTime(until);
      expect(seen).toEqual(silent);
      deadlines.end();
      expect(vi.getTimerCount()).toBe(0);
    });
  }
});
