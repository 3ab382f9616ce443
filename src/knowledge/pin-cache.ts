import { Background } from '../lifecycle/background.js';
import { untilAborted } from '../lifecycle/until-aborted.js';

/** What a cache keeps: it weighs bytes, and is closed once nobody can get it any more. */
export interface Cacheable {
  readonly bytes: number;
  close(): Promise<void>;
}

/** One holder's claim. The value stays open until every pin on it is released, and longer if the cache keeps it. */
export interface Pin<T> {
  readonly value: T;
  /** Another claim on the same value. Precondition: this one is not released. */
  again(): Pin<T>;
  /** Gives the claim up; resolves when what had to be closed for it is closed. Once is enough, twice is fine. */
  release(): Promise<void>;
}

/** Pinned: somebody holds it. OnDemand: nobody does, and it may be evicted. */
export type EntryState = 'Loading' | 'Pinned' | 'OnDemand';

export interface EntryFacts {
  /** What its versions have in common. */
  name: string;
  state: EntryState;
  pins: number;
  /** 0 while it is loading. */
  bytes: number;
}

interface Entry<T> {
  readonly key: string;
  readonly name: string;
  loading: Promise<T>;
  value?: T;
  bytes: number;
  pins: number;
  /** Requests that wait for the load. */
  waiting: number;
  /** A later version of the same name was asked for: nobody will ask for this one again. */
  outdated: boolean;
  readonly abort: AbortController;
}

/**
 * Immutable values by key, one of each: requests for one that is being loaded share that load, and a load that nobody waits
 * for any more is given up. A value that nobody holds is kept for the next request (OnDemand); while all values together
 * weigh more than `maxBytes`, those are closed, the least recently used first. Held values are never closed.
 */
export class PinCache<T extends Cacheable> {
  readonly #maxBytes: number;
  readonly #onEvict: (name: string, bytes: number) => void;
  /** Entries that a request can get. */
  readonly #entries = new Map<string, Entry<T>>();
  /** OnDemand entries, the least recently used first. */
  readonly #idle = new Set<Entry<T>>();
  readonly #background = new Background();
  #bytes = 0;
  #closing = false;

  /** `onEvict` is told of every value that is closed. */
  constructor(maxBytes: number, onEvict: (name: string, bytes: number) => void = () => {}) {
    this.#maxBytes = maxBytes;
    this.#onEvict = onEvict;
  }

  /** Entries that a request can get: loading, Pinned and OnDemand. */
  get size(): number {
    return this.#entries.size;
  }

  /** Weight of all values that are not closed, outdated ones that are still held among them. */
  get bytes(): number {
    return this.#bytes;
  }

  entries(): EntryFacts[] {
    return [...this.#entries.values()].map(({ name, value, pins, bytes }) => ({
      name,
      state: value === undefined ? 'Loading' : pins > 0 ? 'Pinned' : 'OnDemand',
      pins,
      bytes,
    }));
  }

  /**
   * A pin on the value of `key`, a version of `name`; other versions of that name are kept only as long as they are held.
   * @throws what `load` throws, in which case the next request tries again; the signal's reason
   */
  async acquire(
    key: string,
    name: string,
    load: (signal: AbortSignal) => Promise<T>,
    signal: AbortSignal,
  ): Promise<Pin<T>> {
    signal.throwIfAborted();
    const entry = this.#entries.get(key) ?? this.#start(key, name, load);
    if (entry.value !== undefined) return this.#pin(entry, entry.value);
    entry.waiting++;
    try {
      return this.#pin(entry, await untilAborted(entry.loading, signal));
    } finally {
      entry.waiting--;
      if (entry.waiting === 0) this.#settle(entry);
    }
  }

  /** Keeps nothing any more: OnDemand values are closed now, held ones when they are released. */
  async close(): Promise<void> {
    this.#closing = true;
    for (const entry of this.#idle) this.#evict(entry);
    await this.#background.settled();
  }

  #start(key: string, name: string, load: (signal: AbortSignal) => Promise<T>): Entry<T> {
    this.#outdate(name);
    const abort = new AbortController();
    const entry: Entry<T> = {
      key,
      name,
      abort,
      bytes: 0,
      pins: 0,
      waiting: 0,
      outdated: false,
      loading: load(abort.signal),
    };
    this.#entries.set(key, entry);
    const loaded = (value: T) => {
      entry.value = value;
      entry.bytes = value.bytes;
      this.#bytes += entry.bytes;
      if (entry.waiting === 0) this.#settle(entry);
      this.#shrink();
    };
    this.#background.track(entry.loading.then(loaded, () => this.#forget(entry)));
    return entry;
  }

  #pin(entry: Entry<T>, value: T): Pin<T> {
    entry.pins++;
    this.#idle.delete(entry);
    let held = true;
    return {
      value,
      again: () => this.#pin(entry, value),
      release: async () => {
        if (!held) return;
        held = false;
        entry.pins--;
        await this.#settle(entry);
      },
    };
  }

  /** Decides what becomes of an entry that may have lost its last holder. */
  async #settle(entry: Entry<T>): Promise<void> {
    if (entry.pins > 0 || entry.waiting > 0) return;
    if (entry.value === undefined) {
      this.#forget(entry);
      entry.abort.abort();
      return;
    }
    if (this.#closing || entry.outdated || this.#entries.get(entry.key) !== entry) return this.#evict(entry);
    this.#idle.add(entry);
    await this.#shrink();
  }

  async #shrink(): Promise<void> {
    const closing: Promise<void>[] = [];
    for (const entry of this.#idle) {
      if (this.#bytes <= this.#maxBytes) break;
      closing.push(this.#evict(entry));
    }
    await Promise.all(closing);
  }

  #outdate(name: string): void {
    for (const entry of this.#entries.values()) {
      if (entry.name !== name) continue;
      entry.outdated = true;
      if (this.#idle.has(entry)) this.#evict(entry);
    }
  }

  async #evict(entry: Entry<T>): Promise<void> {
    const { value, name, bytes } = entry;
    if (value === undefined) return;
    delete entry.value;
    this.#idle.delete(entry);
    this.#forget(entry);
    this.#bytes -= bytes;
    this.#onEvict(name, bytes);
    await this.#background.track(value.close());
  }

  #forget(entry: Entry<T>): void {
    if (this.#entries.get(entry.key) === entry) this.#entries.delete(entry.key);
  }
}
