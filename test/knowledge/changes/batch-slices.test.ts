import { expect, it } from 'vitest';
import { withSlices } from '../../../src/base/waiting/next-slice.js';
import { checkIds, prepareBatch } from '../../../src/knowledge/changes/prepare.js';
import type { KnowledgeModel } from '../../../src/knowledge/model.js';

const ids = Array.from({ length: 4096 }, (_, n) => `r${n}`);

/** Counts the slices of work of a client whose slices are over at once. */
async function slicesOf(work: () => Promise<unknown>): Promise<number> {
  let count = 0;
  const nextSlice = async () => {
    count++;
  };
  await withSlices({ sliceMs: 0, nextSlice }, work);
  return count;
}

it('the ids of a batch are checked in slices of the client, also those that are refused', async () => {
  const model = { model: { facts: { dimension: 4 } } } as unknown as KnowledgeModel;
  // 64 ids in a slice, once to check them and once to make operations of them, and 512 to find those that occur twice.
  expect(await slicesOf(() => prepareBatch({ remove: ids }, { config: {}, model }, undefined))).toBe(136);
  // 512 ids in a slice, to select those that are missing.
  const storage = { known: async () => [] };
  const missing = checkIds(storage, { changes: { remove: ids } }, undefined);
  await expect(missing).rejects.toMatchObject({ code: 'RECORD_MISSING' });
  expect(
    await slicesOf(() => checkIds(storage, { changes: { remove: ids } }, undefined).catch(() => {})),
  ).toBe(8);
});
