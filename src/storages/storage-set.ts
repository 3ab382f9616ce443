import type { EmbeddingModels } from '../catalog/embedding-models.js';
import type { CatalogEntry } from '../catalog/schema.js';
import { Background } from '../lifecycle/background.js';
import { untilAborted } from '../lifecycle/until-aborted.js';
import { fail } from '../protocol/errors.js';
import { didYouMean, nearestName } from '../schema/nearest.js';
import { buildInlineStorage, checkInlineSource, type InlineSource } from './inline-storage.js';
import type { SharedStorage, StoragePin } from './shared-storage.js';
import { checkStorageName, isPath } from './storage-name.js';

export interface StorageFacts {
  recordCount: number;
  dimension: number;
}

/** A storage and the session's own pin on it. */
interface NamedStorage {
  shared: SharedStorage;
  claim: StoragePin;
}

/**
 * The named storages of one session. A name is taken from the moment its creation starts, and whoever names a storage
 * that is still being made waits for it, so that a client need not wait between the two requests.
 */
export class StorageSet {
  readonly #models: EmbeddingModels;
  readonly #signal: AbortSignal;
  readonly #named = new Map<string, Promise<NamedStorage>>();
  /** Creations and destructions under way, whose names may be gone from #named. */
  readonly #background = new Background();

  /** `signal` is the session's: aborted, creations end. */
  constructor(models: EmbeddingModels, signal: AbortSignal) {
    this.#models = models;
    this.#signal = signal;
  }

  /** @throws InvalidStorageName, StorageNameTaken, InvalidEmbeddedStringStorageData; the signal's reason. */
  async createInline(name: string, source: InlineSource): Promise<StorageFacts> {
    checkStorageName(name);
    if (this.#named.has(name)) {
      fail(8002, `name: the session has a storage ${JSON.stringify(name)} already`, { name });
    }
    const entry = checkInlineSource(source, this.#models);
    this.#signal.throwIfAborted();
    const making = this.#background.track(this.#make(source.strings, entry));
    this.#named.set(name, making);
    try {
      const { storage } = (await making).claim;
      return { recordCount: storage.size, dimension: storage.dimension };
    } catch (error) {
      if (this.#named.get(name) === making) this.#named.delete(name);
      throw error;
    }
  }

  /** Frees the name at once. Agents that hold the storage keep it; without them it is gone when this resolves. */
  async destroy(name: string): Promise<void> {
    const making = this.#find(name, 'name');
    this.#named.delete(name);
    const releasing = making.then(({ claim }) => claim.release());
    await this.#background.track(releasing.catch(() => this.#refuse(name, 'name')));
  }

  /** A claim of the caller's own on a storage. `where` names the field in errors. @throws StorageNotFound */
  async pin(name: string, where: string): Promise<StoragePin> {
    const making = this.#find(name, where);
    return making.then(({ shared }) => shared.pin()).catch(() => this.#refuse(name, where));
  }

  /** Releases the session's claims once the creations under way have ended; the signal must be aborted before. */
  async close(): Promise<void> {
    await this.#background.settled();
    const named = await Promise.allSettled(this.#named.values());
    this.#named.clear();
    await Promise.all(
      named.map((made) => (made.status === 'fulfilled' ? made.value.claim.release() : undefined)),
    );
  }

  async #make(strings: readonly string[], entry: CatalogEntry): Promise<NamedStorage> {
    const model = await untilAborted(this.#models.load(entry), this.#signal);
    const shared = await buildInlineStorage(strings, model, this.#signal);
    return { shared, claim: shared.pin() };
  }

  #find(name: string, where: string): Promise<NamedStorage> {
    return this.#named.get(name) ?? this.#refuse(name, where);
  }

  #refuse(name: string, where: string): never {
    this.#signal.throwIfAborted();
    if (isPath(name)) {
      fail(
        1005,
        `${where}: storages from files are not there yet; name one made by CreateEmbeddedStringStorageRequest`,
        {
          path: where,
          feature: 'file-backed storages',
        },
      );
    }
    const known = [...this.#named.keys()];
    const nearest = nearestName(name, known);
    const shown = JSON.stringify(name.slice(0, 128));
    fail(8005, `${where}: the session has no storage ${shown}${didYouMean(nearest)}`, {
      path: where,
      nearest,
    });
  }
}
