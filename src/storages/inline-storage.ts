import type { Account } from '../fairness/account.js';
import type { Holding } from '../fairness/client-memory.js';
import { inlineStorageBytes } from '../fairness/estimates.js';
import { checkStrings, createStorage } from '../knowledge/create-storage.js';
import { Holders, type Pin } from '../knowledge/pin.js';
import { usualDefaults } from '../knowledge/search-defaults.js';
import type { SearchableStorage } from '../knowledge/searchable.js';
import type { CatalogModel, CatalogModels } from '../models/catalog-models.js';
import { fail } from '../protocol/errors.js';
import { noteTexts, sizesOf } from './result-bytes.js';
import { inlineError } from './wire-errors.js';

/** Maximum number of strings in one inline storage: all stay in memory, and one request carries them. */
const maxInlineStrings = 100_000;

/** The source of a storage made of the request's own strings (Path B). */
export interface InlineSource {
  strings: readonly string[];
  embeddingModel: string;
}

/** Checks a source as far as possible before work begins. @throws InvalidEmbeddedStringStorageData */
export function checkInlineSource({ strings, embeddingModel }: InlineSource, models: CatalogModels): void {
  if (strings.length === 0) fail(8003, 'strings: at least one string is expected', { path: 'strings' });
  const { length: count } = strings;
  if (count > maxInlineStrings) {
    const many = `${count} are too many; an inline storage takes at most ${maxInlineStrings}`;
    fail(8003, `strings: ${many}`, { path: 'strings', count, limit: maxInlineStrings });
  }
  try {
    checkStrings(strings);
    models.entry(embeddingModel);
  } catch (error) {
    throw inlineError(error);
  }
}

/** Defaults of the protocol. */
const tokenizer = 'basic';

/**
 * Embeds the strings in pieces, each in the client's turn to build, and indexes them; ids are "0", "1" and so on. Writes
 * nothing to disk. The storage closes when its last pin is released, and counts for `memory` until then.
 * @throws InvalidEmbeddedStringStorageData with the string's index; AbortError once the signal is aborted.
 */
export async function createInlineStorage(
  strings: readonly string[],
  model: CatalogModel,
  { account, memory }: { account: Account; memory: Holding },
  signal: AbortSignal,
): Promise<Pin<SearchableStorage>> {
  try {
    const sizes = await sizesOf(strings, signal);
    const bytes = inlineStorageBytes(strings.length, sizes.all, model.dimension);
    memory.add(bytes, 'strings: the storage was not created');
    const turn = () => account.enter('build', signal);
    const shared = { turn, defaults: usualDefaults };
    const storage = await createStorage({ strings, model, tokenizer, signal }, shared);
    noteTexts(storage, sizes);
    memory.settle({ heap: 4096, native: storage.bytes });
    return new Holders(storage, async () => {
      await storage.close();
      memory.release();
    }).pin();
  } catch (error) {
    memory.release();
    throw inlineError(error);
  }
}
