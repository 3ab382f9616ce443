import type { SearchableStorage } from '../knowledge/index.js';

/** For inline storages: bytes of the longest text, and of all texts. */
const known = new WeakMap<SearchableStorage, { longest: number; all: number }>();

/** Records the size of an inline storage's texts. */
export function noteTexts(storage: SearchableStorage, texts: readonly string[]): void {
  let longest = 0;
  let all = 0;
  for (const text of texts) {
    const bytes = Buffer.byteLength(text);
    longest = Math.max(longest, bytes);
    all += bytes;
  }
  known.set(storage, { longest, all });
}

/** Typical upper bound, in bytes, for texts in a knowledge base: they fit a model's context. */
const usualBytes = 4096;
const spread = 4;

/** Returns the most bytes that the texts of `records` records take; an estimate for knowledge bases. */
export function textBytes(storage: SearchableStorage, records: number): number {
  const { longest, all } = known.get(storage) ?? {
    longest: Math.max(usualBytes, (spread * storage.bytes) / storage.size),
    all: storage.bytes,
  };
  return Math.ceil(Math.min(all, records * longest));
}
