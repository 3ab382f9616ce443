import type { Storage } from '../../lib/index.js';
import type { LoadedModel } from '../catalog/loaded-model.js';

/** One holder's claim on a storage. It stays open until every pin is released. */
export interface StoragePin {
  readonly storage: Storage;
  /** The model that embedded the records, for the queries. */
  readonly model: LoadedModel;
  /** Another claim on the same storage. Precondition: this one is not released. */
  again(): StoragePin;
  /** Gives the claim up; resolves when what had to be closed for it is closed. Once is enough, twice is fine. */
  release(): Promise<void>;
}

/** A virtual storage, held by its session's name, by agents and by searches under way; closed when the last lets go. */
export class SharedStorage {
  readonly #storage: Storage;
  readonly #model: LoadedModel;
  #pins = 0;
  #releaseModel = () => {};

  constructor(storage: Storage, model: LoadedModel) {
    this.#storage = storage;
    this.#model = model;
  }

  pin(): StoragePin {
    if (this.#pins === 0) this.#releaseModel = this.#model.hold();
    this.#pins++;
    let held = true;
    return {
      storage: this.#storage,
      model: this.#model,
      again: () => this.pin(),
      release: async () => {
        if (!held) return;
        held = false;
        this.#pins--;
        if (this.#pins > 0) return;
        this.#releaseModel();
        await this.#storage.close();
      },
    };
  }
}
