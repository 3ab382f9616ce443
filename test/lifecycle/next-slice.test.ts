import { expect, test } from 'vitest';
import { eachInSlices, withSlices } from '../../src/base/waiting/next-slice.js';

test('steps wait for slices that their promise callbacks have used up', async () => {
  const log: string[] = [];
  const slices = { sliceMs: 0, nextSlice: async () => void log.push('slice') };
  const settle = async (item: number) => {
    for (let hop = 0; hop < 3; hop++) await undefined;
    log.push(`settled ${item}`);
  };
  await withSlices(slices, () => eachInSlices([1, 2], (item) => void settle(item)));
  expect(log).toEqual(['settled 1', 'slice', 'settled 2', 'slice']);
});
