import type { Storage } from '../../lib/index.js';
import type { LoadedModel } from '../catalog/loaded-model.js';

/** One holder's claim on a storage. It stays open until every pin is released. */
export interface StoragePin {
  readonly storage: Storage;
  /** The model that embedded the records, for the queries. */
  readonly model: LoadedModel;
  /** Gives the claim up; the last one closes the storage, and the promise says when. Once is enough, twice is fine. */
  release(): Promise<void>;
}

/** A storage held by a session's name, by agents and by searches under way; closed when the last lets go. */
export class SharedStorage {
  readonly #storage: Storage;
  readonly #model: LoadedModel;
  #pins = 0;

  constructor(storage: Storage, model: LoadedModel) {
    this.#storage = storage;
    this.#model = model;
  }

  pin(): StoragePin {
    this.#pins++;
    let held = true;
    return {
      storage: this.#storage,
      model: this.#model,
      release: async () => {
        if (!held) return;
        held = false;
        this.#pins--;
        if (this.#pins === 0) await this.#storage.close();
      },
    };
  }
}
