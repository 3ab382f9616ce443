import { Background } from '../lifecycle/background.js';
import { untilAborted } from '../lifecycle/until-aborted.js';
import type { SharedStorage, StoragePin } from './shared-storage.js';

/** Loads a storage; `onIdle` is to be called when its last pin is released. */
export type StorageLoader = (signal: AbortSignal, onIdle: () => void) => Promise<SharedStorage>;

interface Entry {
  loading: Promise<SharedStorage>;
  /** Set when it is loaded, with a pin that keeps it while somebody still waits for the load. */
  loaded?: { shared: SharedStorage; hold: StoragePin };
  waiting: number;
  readonly abort: AbortController;
}

/**
 * The storages from files that somebody in this process holds, one of each: a second request shares the first one's
 * load, and a load that nobody waits for any more is given up.
 */
export class StorageCache {
  readonly #entries = new Map<string, Entry>();
  readonly #background = new Background();

  /** Storages held or being loaded. */
  get size(): number {
    return this.#entries.size;
  }

  /** A pin on the storage of this key. @throws what `load` throws; the signal's reason */
  async acquire(key: string, load: StorageLoader, signal: AbortSignal): Promise<StoragePin> {
    signal.throwIfAborted();
    const entry = this.#entries.get(key) ?? this.#start(key, load);
    if (entry.loaded !== undefined) return entry.loaded.shared.pin();
    entry.waiting++;
    try {
      return (await untilAborted(entry.loading, signal)).pin();
    } finally {
      entry.waiting--;
      if (entry.waiting === 0) this.#release(key, entry);
    }
  }

  /** Resolves when loads that were given up have ended. */
  settled(): Promise<void> {
    return this.#background.settled();
  }

  #start(key: string, load: StorageLoader): Entry {
    const abort = new AbortController();
    const forget = () => {
      if (this.#entries.get(key) === entry) this.#entries.delete(key);
    };
    const entry: Entry = { loading: this.#background.track(load(abort.signal, forget)), waiting: 0, abort };
    this.#entries.set(key, entry);
    entry.loading.then((shared) => {
      const hold = shared.pin();
      if (abort.signal.aborted) void this.#background.track(hold.release());
      else entry.loaded = { shared, hold };
    }, forget);
    return entry;
  }

  /** Nobody waits for the load any more: whoever got the storage has a pin of its own. */
  #release(key: string, entry: Entry): void {
    if (entry.loaded !== undefined) {
      void this.#background.track(entry.loaded.hold.release());
      return;
    }
    entry.abort.abort();
    if (this.#entries.get(key) === entry) this.#entries.delete(key);
  }
}
