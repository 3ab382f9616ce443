import { expect, it } from 'vitest';
import { nearestName } from '../../src/base/schema/nearest.js';
import { random, testSeed } from '../helpers/random.js';

/** The whole table of distances, swaps of neighbours included. */
function slowDistance(a: string, b: string): number {
  const cells = new Map<string, number>();
  const cell = (row: number, column: number) => cells.get(`${row},${column}`) ?? Number.POSITIVE_INFINITY;
  for (let row = 0; row <= a.length; row++) {
    for (let column = 0; column <= b.length; column++) {
      const swapped = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      const ways = [
        cell(row - 1, column) + 1,
        cell(row, column - 1) + 1,
        cell(row - 1, column - 1) + (a[row - 1] === b[column - 1] ? 0 : 1),
        swapped ? cell(row - 2, column - 2) + 1 : Number.POSITIVE_INFINITY,
      ];
      cells.set(`${row},${column}`, row + column === 0 ? 0 : Math.min(...ways));
    }
  }
  return cell(a.length, b.length);
}

it('the nearest name is the first of those with the least distance, when that is near enough', () => {
  const next = random(testSeed);
  const below = (count: number) => Math.floor(next() * count);
  const word = () => Array.from({ length: below(9) }, () => 'abcd'[below(4)]).join('');
  for (let round = 0; round < 2000; round++) {
    const [name, known] = [word(), [word(), word(), word()]];
    const distances = known.map((candidate) => slowDistance(name, candidate));
    const least = Math.min(...distances);
    const near = least < name.length && least <= Math.max(1, Math.floor(name.length / 3));
    const nearest = near ? known[distances.indexOf(least)] : undefined;
    expect(nearestName(name, known), `seed ${testSeed}: ${JSON.stringify([name, known])}`).toBe(nearest);
  }
});

it('no name is near to a name that has nothing in common with it', () => {
  expect([nearestName('', ['a']), nearestName('w', ['k']), nearestName('W', ['w'])]).toEqual([
    undefined,
    undefined,
    'w',
  ]);
});
