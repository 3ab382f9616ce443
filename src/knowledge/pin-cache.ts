import { PendingWork } from '../base/waiting/pending-work.js';
import { untilAborted } from '../base/waiting/until-aborted.js';
import { type Holdable, Holders, type Pin } from './pin.js';

/** A cached value: it has a size in bytes and is closed once no request can get it. */
export interface Cacheable extends Holdable {
  readonly bytes: number;
  close(): Promise<void>;
}

/** Pinned: at least one pin is held. OnDemand: none is, and the entry may be evicted. */
export type EntryState = 'Loading' | 'Pinned' | 'OnDemand';

export interface EntryFacts {
  /** The name shared by all versions. */
  name: string;
  state: EntryState;
  pins: number;
  /** 0 while loading. */
  bytes: number;
}

interface Loaded<T extends Cacheable> {
  readonly value: T;
  readonly bytes: number;
  readonly holders: Holders<T>;
}

interface Entry<T extends Cacheable> {
  key: string;
  readonly name: string;
  loading: Promise<Loaded<T>>;
  /** Absent while it is loading, and once it is evicted. */
  loaded?: Loaded<T>;
  /** Number of requests waiting for the load. */
  waiting: number;
  /** A later version of the same name was requested, so this one will not be requested again. */
  outdated: boolean;
  readonly abort: AbortController;
  /** Later loads have higher numbers. */
  readonly started: number;
}

/**
 * Immutable values by key. Requests for a value that is being loaded share the load; a load without waiting requests is
 * aborted. An unpinned value stays for the next request (OnDemand). While all values together exceed `maxBytes`, unpinned
 * ones are closed, least recently used first. Pinned values are never closed.
 */
export class PinCache<T extends Cacheable> {
  readonly #maxBytes: number;
  readonly #onEvict: (name: string, bytes: number) => void;
  /** Entries that a request can get. */
  readonly #entries = new Map<string, Entry<T>>();
  /** OnDemand entries, least recently used first. */
  readonly #idle = new Set<Entry<T>>();
  readonly #pending = new PendingWork();
  #bytes = 0;
  #closing = false;
  #starts = 0;

  /** `onEvict` is called for every value that is closed. */
  constructor(maxBytes: number, onEvict: (name: string, bytes: number) => void = () => {}) {
    this.#maxBytes = maxBytes;
    this.#onEvict = onEvict;
  }

  /** Entries that a request can get: loading, Pinned and OnDemand. */
  get size(): number {
    return this.#entries.size;
  }

  /** Bytes of all open values, including outdated ones that are still pinned. */
  get bytes(): number {
    return this.#bytes;
  }

  entries(): EntryFacts[];
  /** `more`: further facts of a value that is loaded. */
  entries<More extends object>(more: (value: T) => More): (EntryFacts & Partial<More>)[];
  entries(more: (value: T) => object = () => ({})): EntryFacts[] {
    return [...this.#entries.values()].map(({ name, loaded }) => {
      const pins = loaded?.holders.count ?? 0;
      const state = loaded === undefined ? 'Loading' : pins > 0 ? 'Pinned' : 'OnDemand';
      return { name, state, pins, bytes: loaded?.bytes ?? 0, ...(loaded && more(loaded.value)) };
    });
  }

  /** Returns a pin on the loaded value of that name, the latest version if there are several. */
  findByName(name: string): Pin<T> | undefined {
    const entry = [...this.#entries.values()].findLast(
      (one) => one.name === name && one.loaded !== undefined,
    );
    return entry?.loaded && this.#pin(entry, entry.loaded);
  }

  /** Returns a pin on the value of `key` if it is loaded. */
  find(key: string): Pin<T> | undefined {
    const entry = this.#entries.get(key);
    return entry?.loaded && this.#pin(entry, entry.loaded);
  }

  /**
   * Returns a pin on the value of `key`, a version of `name`. Once it is loaded, other versions of that name stay only while
   * they are pinned.
   * @throws errors of `load`, after which the next request tries again; the signal's reason
   */
  async acquire(
    key: string,
    name: string,
    load: (signal: AbortSignal) => Promise<T>,
    signal: AbortSignal,
  ): Promise<Pin<T>> {
    signal.throwIfAborted();
    const entry = this.#entries.get(key) ?? this.#start(key, name, load);
    if (entry.loaded !== undefined) return this.#pin(entry, entry.loaded);
    entry.waiting++;
    try {
      return this.#pin(entry, await untilAborted(entry.loading, signal));
    } finally {
      entry.waiting--;
      if (entry.waiting === 0) this.#settle(entry);
    }
  }

  /** Gives a value another key, unless it is gone or that key is taken. */
  rename(from: string, to: string): void {
    const entry = this.#entries.get(from);
    if (entry === undefined || this.#entries.has(to)) return;
    this.#entries.delete(from);
    entry.key = to;
    this.#entries.set(to, entry);
  }

  /** Closes the unpinned values, or those of one name. Returns their number. */
  async evictIdle(name?: string): Promise<number> {
    const idle = [...this.#idle].filter((entry) => name === undefined || entry.name === name);
    await Promise.all(idle.map((entry) => this.#evict(entry)));
    return idle.length;
  }

  /** Closes OnDemand values now and pinned ones when they are released. */
  async close(): Promise<void> {
    this.#closing = true;
    for (const entry of this.#idle) this.#evict(entry);
    await this.#pending.settled();
  }

  #start(key: string, name: string, load: (signal: AbortSignal) => Promise<T>): Entry<T> {
    const abort = new AbortController();
    const entry: Entry<T> = {
      key,
      name,
      abort,
      started: this.#starts++,
      waiting: 0,
      outdated: false,
      loading: load(abort.signal).then((value) => ({
        value,
        bytes: value.bytes,
        holders: new Holders(value, () => this.#settle(entry)),
      })),
    };
    this.#entries.set(key, entry);
    const keep = (loaded: Loaded<T>) => {
      entry.loaded = loaded;
      this.#bytes += loaded.bytes;
      this.#outdate(name);
      if (entry.waiting === 0) this.#settle(entry);
      this.#shrink();
    };
    this.#pending.track(entry.loading.then(keep, () => this.#forget(entry)));
    return entry;
  }

  #pin(entry: Entry<T>, { holders }: Loaded<T>): Pin<T> {
    this.#idle.delete(entry);
    return holders.pin();
  }

  /** Keeps, closes or aborts an entry that may have lost its last pin. */
  async #settle(entry: Entry<T>): Promise<void> {
    if (entry.waiting > 0) return;
    if (entry.loaded === undefined) {
      this.#forget(entry);
      entry.abort.abort();
      return;
    }
    if (entry.loaded.holders.count > 0) return;
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

  /** Marks all loaded versions but the one whose load started last. */
  #outdate(name: string): void {
    const loaded = [...this.#entries.values()].filter((one) => one.name === name && one.loaded !== undefined);
    const latest = Math.max(...loaded.map(({ started }) => started));
    for (const entry of loaded) {
      if (entry.started === latest) continue;
      entry.outdated = true;
      if (this.#idle.has(entry)) this.#evict(entry);
    }
  }

  async #evict(entry: Entry<T>): Promise<void> {
    const { loaded, name } = entry;
    if (loaded === undefined) return;
    const { value, bytes } = loaded;
    delete entry.loaded;
    this.#idle.delete(entry);
    this.#forget(entry);
    this.#bytes -= bytes;
    this.#onEvict(name, bytes);
    await this.#pending.track(value.close());
  }

  #forget(entry: Entry<T>): void {
    if (this.#entries.get(entry.key) === entry) this.#entries.delete(entry.key);
  }
}
