import { expect, it } from 'vitest';
import { TextFinder } from '../../src/agents/text-finder.js';
import { random, testSeed } from '../helpers/random.js';

function isIn(finder: TextFinder, text: string): boolean {
  const search = finder.search(text);
  for (;;) {
    const { done, value } = search.next();
    if (done) return value;
  }
}

it('finds what includes() finds', () => {
  const next = random(testSeed);
  const textOf = (length: number) =>
    Array.from({ length }, () => 'ab\u00e9\u4e00'.charAt(Math.floor(next() * 4))).join('');
  let found = 0;
  for (let round = 0; round < 400; round++) {
    const parts = Array.from({ length: 5 }, () => textOf(1 + Math.floor(next() * 40)));
    const text = textOf(60) + (round % 3 === 0 ? (parts[round % 5] as string) : '') + textOf(30);
    const finder = new TextFinder();
    for (const part of parts) finder.add(part);
    const expected = parts.some((part) => text.includes(part));
    expect(isIn(finder, text), `seed ${testSeed}: ${JSON.stringify({ parts, text })}`).toBe(expected);
    if (expected) found++;
  }
  expect(found).toBeGreaterThan(50);
  expect(isIn(new TextFinder(), 'anything')).toBe(false);
});
