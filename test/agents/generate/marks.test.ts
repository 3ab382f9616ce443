import { describe, expect, it } from 'vitest';
import { MarkFilter } from '../../../src/agents/nodes/generate/marks.js';
import { random, testSeed } from '../../helpers/random.js';
import { recordsOf } from './fitting.js';

/** Passes pieces through a filter for three records. */
function filtered(pieces: readonly string[]) {
  const filter = new MarkFilter(recordsOf(3));
  let text = '';
  for (const piece of pieces) text += filter.push(piece);
  text += filter.finish();
  const cited = filter.citations.map(({ id, reply_start, reply_end, start, end }) => ({
    id,
    mark: text.slice(reply_start, reply_end),
    span: end - start,
  }));
  return { text, cited, removed: filter.removed };
}

describe('marks in a reply', () => {
  it.each([
    ['Bees dance [1].', 'Bees dance [1].', ['r0'], 0],
    ['Bees dance [4].', 'Bees dance.', [], 1],
    ['Both [1][3].', 'Both [1][3].', ['r0', 'r2'], 0],
    ['Both [1, 3].', 'Both [1, 3].', ['r0', 'r2'], 0],
    ['One of [1, 9; 2].', 'One of [1, 2].', ['r0', 'r1'], 1],
    ['None of [7, 8].', 'None of.', [], 2],
    ['[2]', '[2]', ['r1'], 0],
    ['Zero [0] is none.', 'Zero is none.', [], 1],
    ['No mark: [a], [ ], [, an array[i], 3].', 'No mark: [a], [ ], [, an array[i], 3].', [], 0],
    ['Left open [2', 'Left open [2', [], 0],
    ['Spaces   at the end   ', 'Spaces   at the end   ', [], 0],
    ['Again [1] and [1].', 'Again [1] and [1].', ['r0', 'r0'], 0],
    ['', '', [], 0],
  ])('%j becomes %j', (reply, text, ids, removed) => {
    const found = filtered([reply]);
    expect(found.text).toBe(text);
    expect(found.cited.map(({ id }) => id)).toEqual(ids);
    expect(found.removed).toBe(removed);
    for (const { mark, span } of found.cited) {
      expect(mark).toMatch(/^\[[\d, ]+\]$/);
      expect(span).toBe(recordsOf(1)[0]?.text.length);
    }
  });

  it('are found wherever the pieces of a reply begin and end', () => {
    const next = random(testSeed);
    const parts = ['[1]', ' [2]', '[9]', ' [1, 9]', '[', ']', '1', ' ', 'bees ', '\n', '[[3]]', ' [12', '😀'];
    for (let round = 0; round < 2000; round++) {
      const reply = Array.from({ length: 12 }, () => parts[Math.floor(next() * parts.length)]).join('');
      const pieces: string[] = [];
      for (let at = 0; at < reply.length; ) {
        const length = 1 + Math.floor(next() * 4);
        pieces.push(reply.slice(at, at + length));
        at += length;
      }
      expect(filtered(pieces), `seed ${testSeed}: ${JSON.stringify(pieces)}`).toEqual(filtered([reply]));
    }
  });

  it('are found in linear time: a long run of blanks is looked at once', () => {
    const blanks = ' \t'.repeat(200_000);
    expect(filtered([`Bees${blanks}x [1]`])).toMatchObject({ text: `Bees${blanks}x [1]`, removed: 0 });
    expect(filtered([`Bees${blanks}`, 'x', `[${blanks}1]`]).text).toBe(`Bees${blanks}x[${blanks}1]`);
    expect(filtered([`Bees${blanks}`, '[9', '].'])).toMatchObject({ text: 'Bees.', removed: 1 });
  });
});
