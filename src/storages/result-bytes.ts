import { Slices } from '../../lib/basics.js';
import { stringifyWithWideIntegers } from '../base/schema/wide-integers.js';
import { nextSlice } from '../base/waiting/next-slice.js';
import type { Bytes } from '../fairness/bytes.js';
import { hitsBytes } from '../fairness/estimates.js';
import type { SearchableStorage } from '../knowledge/index.js';
import { maxHits } from '../knowledge/max-hits.js';
import type { WireRecord } from '../protocol/records.js';
import type { CheckedOptions } from './search-options.js';

/** Bytes of the longest of some texts, and of all. */
export interface TextSizes {
  longest: number;
  all: number;
}

/** Text sizes of inline storages. */
const known = new WeakMap<SearchableStorage, TextSizes>();

/** Measures texts, or records with their ids and metadata, in slices of the client. @throws the signal's reason */
export async function sizesOf(
  items: readonly (string | WireRecord)[],
  signal: AbortSignal,
): Promise<TextSizes> {
  const sizes = { longest: 0, all: 0 };
  await new Slices(nextSlice, signal).each(items, (item) => {
    const bytes = typeof item === 'string' ? Buffer.byteLength(item) : recordBytes(item);
    sizes.longest = Math.max(sizes.longest, bytes);
    sizes.all += bytes;
  });
  return sizes;
}

function recordBytes({ id, text, metadata }: WireRecord): number {
  const more = metadata === undefined ? 0 : Buffer.byteLength(stringifyWithWideIntegers(metadata));
  return Buffer.byteLength(id) + Buffer.byteLength(text) + more;
}

/** Records the sizes of an inline storage's texts. */
export function noteTexts(storage: SearchableStorage, sizes: TextSizes): void {
  known.set(storage, sizes);
}

/** Typical upper bound, in bytes, for texts in a knowledge base: they fit a model's context. */
const usualBytes = 4096;
const spread = 4;

/** Returns the most memory that the results of a search in this storage take. */
export function resultBytes(storage: SearchableStorage, options: CheckedOptions): Bytes {
  const hits = maxHits(options);
  return hitsBytes(hits, textBytes(storage, hits));
}

/** Returns the most memory that a reply with so many records takes. */
export function recordsBytes(storage: SearchableStorage, records: number): Bytes {
  const count = Math.min(records, storage.size);
  return hitsBytes(count, textBytes(storage, count));
}

/** Returns the most bytes that the texts of `records` records take; an estimate for knowledge bases. */
function textBytes(storage: SearchableStorage, records: number): number {
  const { longest, all } = known.get(storage) ?? {
    longest: Math.max(usualBytes, (spread * storage.bytes) / Math.max(1, storage.size)),
    all: storage.bytes,
  };
  return Math.ceil(Math.min(all, records * longest));
}
