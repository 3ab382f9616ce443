import { type FieldDefinition, Storage, type VersionLimits } from '../../lib/internal.js';
import type { Account } from '../fairness/account.js';
import type { Holding } from '../fairness/client-memory.js';
import { inlineStorageBytes } from '../fairness/estimates.js';
import { checkStrings, createStorage } from '../knowledge/create-storage.js';
import type { Turn } from '../knowledge/embed-in-pieces.js';
import { Holders, type Pin } from '../knowledge/pin.js';
import { usualDefaults } from '../knowledge/search-defaults.js';
import { SearchableStorage } from '../knowledge/searchable.js';
import type { CatalogModel, CatalogModels } from '../models/catalog-models.js';
import { fail } from '../protocol/errors.js';
import type { WireRecord } from '../protocol/records.js';
import { noteTexts, sizesOf, type TextSizes } from './result-bytes.js';
import { inlineError } from './wire-errors.js';

/** Maximum number of strings in one inline storage: all stay in memory, and one request carries them. */
const maxInlineStrings = 100_000;

/** The source of a storage made of the request's own texts (Path B). Exactly one of `strings` and `records` is set. */
export interface InlineSource {
  strings?: readonly string[] | undefined;
  records?: readonly WireRecord[] | undefined;
  /** Of the records. */
  fields?: readonly FieldDefinition[] | undefined;
  embeddingModel: string;
}

/** Checks a source as far as possible before work begins. @throws InvalidEmbeddedStringStorageData */
export function checkInlineSource(source: InlineSource, models: CatalogModels): void {
  const { strings, records, embeddingModel } = source;
  const [field, { length: count }] =
    strings === undefined ? ['records', records ?? []] : ['strings', strings];
  if (count === 0) fail(8003, `${field}: at least one ${field.slice(0, -1)} is expected`, { path: field });
  if (count > maxInlineStrings) {
    const many = `${count} are too many; an inline storage takes at most ${maxInlineStrings}`;
    fail(8003, `${field}: ${many}`, { path: field, count, limit: maxInlineStrings });
  }
  try {
    if (strings !== undefined) checkStrings(strings);
    models.entry(embeddingModel);
  } catch (error) {
    throw inlineError(error);
  }
}

/** An inline storage and its memory on the client's budget. */
class InlineStorage {
  readonly #storage: SearchableStorage;
  readonly memory: Holding;
  #sizes: TextSizes;
  #latest: Promise<unknown> = Promise.resolve();

  constructor(storage: SearchableStorage, memory: Holding, sizes: TextSizes) {
    this.#storage = storage;
    this.memory = memory;
    this.#sizes = sizes;
  }

  /** Sets the counted memory to what the storage takes now. */
  settle(): void {
    this.memory.settle({ heap: 4096, native: this.#storage.bytes });
  }

  /** Adds texts, and returns the sizes of all that it may have. */
  grown({ longest, all }: TextSizes): TextSizes {
    this.#sizes = { longest: Math.max(longest, this.#sizes.longest), all: all + this.#sizes.all };
    return this.#sizes;
  }

  /** Runs changes one after another, so that their memory is counted once. */
  inOrder<T>(change: () => Promise<T>): Promise<T> {
    const next = this.#latest.then(change);
    // Without the result, which may have texts.
    this.#latest = next.then(
      () => {},
      () => {},
    );
    return next;
  }
}

const inline = new WeakMap<SearchableStorage, InlineStorage>();

/** Returns the facts of an inline storage; undefined for a knowledge base. */
export const inlineStorageOf = (storage: SearchableStorage): InlineStorage | undefined => inline.get(storage);

/** Defaults of the protocol. */
const tokenizer = 'basic';

/**
 * Embeds the texts in pieces, each in the client's turn to build, and indexes them; strings have the ids "0", "1" and so on.
 * Writes nothing to disk. The storage closes when its last pin is released, and counts for `memory` until then.
 * @throws InvalidEmbeddedStringStorageData with the position; AbortError once the signal is aborted.
 */
export async function createInlineStorage(
  { strings, records, fields }: InlineSource,
  model: CatalogModel,
  { account, memory, versions }: { account: Account; memory: Holding; versions: VersionLimits },
  signal: AbortSignal,
): Promise<Pin<SearchableStorage>> {
  try {
    const sizes = await sizesOf(strings ?? records ?? [], signal);
    const count = (strings ?? records ?? []).length;
    const bytes = inlineStorageBytes(count, sizes.all, model.dimension);
    memory.add(bytes, `${strings === undefined ? 'records' : 'strings'}: the storage was not created`);
    const turn: Turn = (work) => account.compute('build', signal, work);
    const shared = { turn, defaults: usualDefaults };
    const storage = await createStorage({ strings, records, fields, model, tokenizer, signal }, shared);
    return pinOf(storage, { memory, versions, sizes });
  } catch (error) {
    memory.release();
    throw inlineError(error);
  }
}

/** Makes an inline storage without records. The rest is as in createInlineStorage(). */
export async function createEmptyStorage(
  fields: readonly FieldDefinition[],
  model: CatalogModel,
  { memory, versions }: { memory: Holding; versions: VersionLimits },
  signal: AbortSignal,
): Promise<Pin<SearchableStorage>> {
  try {
    memory.add(inlineStorageBytes(0, 0, model.dimension), 'the storage was not created');
    const empty = await Storage.empty(model.dimension, { fields, tokenizer, signal });
    const storage = new SearchableStorage(empty, model, undefined, usualDefaults, fields);
    return pinOf(storage, { memory, versions, sizes: { longest: 0, all: 0 } });
  } catch (error) {
    memory.release();
    throw error;
  }
}

function pinOf(
  storage: SearchableStorage,
  { memory, versions, sizes }: { memory: Holding; versions: VersionLimits; sizes: TextSizes },
): Pin<SearchableStorage> {
  noteTexts(storage, sizes);
  storage.storage.keepVersions(versions);
  const own = new InlineStorage(storage, memory, sizes);
  inline.set(storage, own);
  own.settle();
  return new Holders(storage, async () => {
    await storage.close();
    memory.release();
  }).pin();
}
