import type { SearchableStorage } from '../knowledge/index.js';

/** Of storages whose texts a client made: bytes of the longest text, and of all. */
const known = new WeakMap<SearchableStorage, { longest: number; all: number }>();

/** Tells which texts a storage was made of. */
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

/** Records of a knowledge base are texts that fit a model: few are much longer than the others, or than this many bytes. */
const usualBytes = 4096;
const spread = 4;

/** Bytes that the texts of so many records take at most; of a knowledge base's records, an estimate. */
export function textBytes(storage: SearchableStorage, records: number): number {
  const { longest, all } = known.get(storage) ?? {
    longest: Math.max(usualBytes, (spread * storage.bytes) / storage.size),
    all: storage.bytes,
  };
  return Math.ceil(Math.min(all, records * longest));
}
