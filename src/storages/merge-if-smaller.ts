import type { KnowledgeBase } from '../knowledge/index.js';

/** Least share of the bytes that a merge has to free: rewriting them costs time. */
const leastFreed = 1 / 8;

/** By how many bytes the files of a base were larger than expected after its last merge. */
const beyond = new WeakMap<KnowledgeBase, number>();

/**
 * Merges a base into its files if that frees a good part of them: those of removed records, and of records that were replaced again
 * and again. Returns whether it did; a base that cannot be merged stays as it is.
 */
export async function mergeIfSmaller(kb: KnowledgeBase): Promise<boolean> {
  const { disk } = kb.changes;
  if (disk === undefined) return false;
  try {
    const bytes = await disk.bytes();
    const freed = bytes - (await expectedBytes(kb)) - (beyond.get(kb) ?? 0);
    if (freed < bytes * leastFreed) return false;
    await kb.merge();
    beyond.set(kb, (await disk.bytes()) - (await expectedBytes(kb)));
    return true;
  } catch {
    return false;
  }
}

/** Merged files take about as many bytes as the newest version takes in memory. */
async function expectedBytes(kb: KnowledgeBase): Promise<number> {
  await using newest = kb.at(kb.version);
  return newest.bytes;
}
