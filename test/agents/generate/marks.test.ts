import { describe, expect, it } from 'vitest';
import { MarkFilter, plainInSlices, withoutMarks } from '../../../src/agents/nodes/generate/marks.js';
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

const parts = ['[1]', ' [2]', '[9]', ' [1, 9]', '[', ']', '1', ' ', 'bees ', '\n', '[[3]]', ' [12', '😀'];
parts.push('-', '–', ', ', '【', '】', '【2】', '[1-2]', ' [2–7]', '`', '```', '[2024]');

const randomText = (next: () => number) =>
  Array.from({ length: 12 }, () => parts[Math.floor(next() * parts.length)]).join('');

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
    ['All [1,2, 3].', 'All [1,2, 3].', ['r0', 'r1', 'r2'], 0],
    ['Both [1; 2].', 'Both [1; 2].', ['r0', 'r1'], 0],
    ['Both [1，2] and [2、3].', 'Both [1，2] and [2、3].', ['r0', 'r1', 'r1', 'r2'], 0],
    ['All [1-3].', 'All [1-3].', ['r0', 'r1', 'r2'], 0],
    ['All [1–3].', 'All [1–3].', ['r0', 'r1', 'r2'], 0],
    ['All [ 3 — 1 ].', 'All [ 3 — 1 ].', ['r0', 'r1', 'r2'], 0],
    ['Two [1-2, 2; 2].', 'Two [1-2, 2; 2].', ['r0', 'r1'], 0],
    ['Some [2-5].', 'Some [2-3].', ['r1', 'r2'], 2],
    ['Some [0–1, 3-9].', 'Some [1, 3].', ['r0', 'r2'], 7],
    ['None [4-6].', 'None.', [], 3],
    ['Wide 【1】 and 【1, 7】.', 'Wide 【1】 and 【1】.', ['r0', 'r0'], 1],
    ['Wide【8】.', 'Wide.', [], 1],
    ['Directly[1].', 'Directly[1].', ['r0'], 0],
    ['The last with a year [3, 2024].', 'The last with a year [3].', ['r2'], 1],
  ])('%j becomes %j', (reply, text, ids, removed) => {
    const found = filtered([reply]);
    expect(found.text).toBe(text);
    expect(found.cited.map(({ id }) => id)).toEqual(ids);
    expect(found.removed).toBe(removed);
    for (const { mark, span } of found.cited) {
      expect(mark).toMatch(/^(\[[^[\]]+\]|【[^【】]+】)$/);
      expect(span).toBe(recordsOf(1)[0]?.text.length);
    }
  });

  it.each([
    'In [2024], [1998-2003] and [2023, 2024].',
    'Never [-1], [1.5], [1-], [,1], [1,,2], [1-2-3], [^1], [1a], [1 2], (1), [1】, 【1].',
    'An offset of [1-999] or [1-100].',
    'Read `a[1]` and `b[9]`.',
    'Read ``a[`1`][9]``.',
    '```js\na[1] = a[9];\n\n`a[9]`\n```',
    '````\n```\na[9]\n`````',
    'Left open: ```\na[9]\n\nb[1]',
    `A number [1234567890].`,
    `Long [${'1,'.repeat(300)}1].`,
  ])('are not found in %j', (reply) => {
    for (const pieces of [[reply], [...reply]])
      expect(filtered(pieces)).toEqual({ text: reply, cited: [], removed: 0 });
  });

  it('are found after code, and after a lone backtick on the next line', () => {
    for (const before of ['`a[1]`', '```\na[9]\n```\n', '```\na\n````', 'It`s [9]\n', '`` ` [9] ``']) {
      const reply = `${before} [2].`;
      for (const pieces of [[reply], [...reply]])
        expect(filtered(pieces)).toMatchObject({ text: reply, cited: [{ id: 'r1' }], removed: 0 });
    }
  });

  it('are years or the like from 1000 on, unless there are so many records', () => {
    const filter = new MarkFilter(recordsOf(1001));
    expect(filter.push('As in [1001] and [1002] and [1000, 1002].')).toBe(
      'As in [1001] and [1002] and [1000].',
    );
    expect(filter.citations.map(({ id }) => id)).toEqual(['r1000', 'r999']);
    expect(filter.removed).toBe(1);
  });

  it('may list a hundred records', () => {
    const filter = new MarkFilter(recordsOf(100));
    const list = `[${Array.from({ length: 100 }, (_, index) => index + 1).join(', ')}]`;
    expect([...list].map((piece) => filter.push(piece)).join('') + filter.finish()).toBe(list);
    expect(filter.citations).toHaveLength(100);
  });

  it('do not come to be where one was removed', () => {
    for (const pieces of [['[7[9]], [[9]1] and 【 [9]2】'], [...'[7[9]], [[9]1] and 【 [9]2】']])
      expect(filtered(pieces)).toEqual({ text: '[7[]], [[]1] and 【[]2】', cited: [], removed: 3 });
  });

  it('are sent whole or not at all', () => {
    const filter = new MarkFilter(recordsOf(3));
    const sent = [...'So [1–9]'].map((piece) => filter.push(piece));
    expect(sent).toEqual(['S', 'o', '', '', '', '', '', ' [1–3]']);
  });

  it('are found wherever the pieces of a reply begin and end', () => {
    const next = random(testSeed);
    for (let round = 0; round < 2000; round++) {
      const reply = randomText(next);
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
    const piecewise = ['Bees ', ...blanks];
    expect(filtered(piecewise).text).toBe(piecewise.join(''));
    const one = Array(200_000).fill(' ');
    expect(filtered(['Bees', ...one, '[9]', ...one])).toMatchObject({
      text: `Bees${one.join('')}`,
      removed: 1,
    });
  });
});

describe('a text of a prompt', () => {
  it.each([
    ['See [2] and [9].', 'See (2) and (9).', 'See and.'],
    ['In `a[1]` and [2024].', 'In `a[1]` and [2024].', 'In `a[1]` and [2024].'],
    ['Nested [2[1]] marks.', 'Nested [2(1)] marks.', 'Nested [2[]] marks.'],
  ])('%j has no marks', (text, parentheses, nothing) => {
    expect(withoutMarks(text, 3, 'parentheses')).toBe(parentheses);
    expect(withoutMarks(text, 3, 'nothing')).toBe(nothing);
  });

  it('loses millions of marks with pauses for the event loop', async () => {
    const text = '[1] and [2], `a[1]`\n'.repeat(20_000);
    for (const instead of ['parentheses', 'nothing'] as const) {
      let turns = 0;
      let isDone = false;
      const count = () => {
        turns++;
        if (!isDone) setImmediate(count);
      };
      setImmediate(count);
      const plain = await plainInSlices(text, 3, instead);
      isDone = true;
      expect(plain).toBe(withoutMarks(text, 3, instead));
      expect(turns).toBeGreaterThan(10);
    }
  });

  it('has no marks, whatever it had', () => {
    const next = random(testSeed);
    for (let round = 0; round < 2000; round++) {
      const text = randomText(next);
      for (const instead of ['parentheses', 'nothing'] as const) {
        const plain = withoutMarks(text, 3, instead);
        expect(filtered([plain]), `seed ${testSeed}: ${JSON.stringify(text)}`).toEqual({
          text: plain,
          cited: [],
          removed: 0,
        });
      }
    }
  });
});
