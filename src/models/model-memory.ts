import { AnyLorekeepError, onAbort } from '../../lib/basics.js';

/** Bytes by device: `CPU`, or the name of a GPU. */
export type MemoryNeed = Readonly<Record<string, number>>;

/** An admitted model, as the budget sees it. */
export interface Resident {
  /** Whether the model computes now, so that it cannot leave. */
  busy(): boolean;
  /** Unloads the model and releases its lease. */
  evict(): Promise<void>;
}

/** A model's part of the budget. */
export interface MemoryLease {
  readonly need: MemoryNeed;
  /** On all devices. */
  readonly bytes: number;
  /** The model is in memory from now on; `actual` replaces the estimate. */
  loaded(actual?: MemoryNeed): void;
  /**
   * The model has moved to another device, or left memory to be loaded again. Idle models leave if it takes more room than
   * there is.
   */
  moved(need: MemoryNeed): void;
  /**
   * Waits for room for a model that has left memory and is about to be loaded again. Call the result after the load, and
   * moved() with the need of the loaded model.
   * @throws ModelTooLargeError; the signal's reason
   */
  room(need: MemoryNeed, signal?: AbortSignal): Promise<() => void>;
  /** The model's last work has ended. */
  idle(): void;
  /** Idempotent. */
  release(): void;
}

export interface ModelMemoryOptions {
  /**
   * Returns the bytes that all models may take on a device; undefined: unlimited. `loaded`: bytes of the models in memory;
   * `quiet`: whether no model is being loaded or unloaded.
   */
  limit(device: string, loaded: number, quiet: boolean): number | undefined;
  /** For tests. */
  now?: () => number;
}

/** Models and limit of a device. */
export interface DeviceUse {
  readonly device: string;
  readonly used: number;
  readonly limit: number | undefined;
}

/** A model stays for this many times the time of its loading, so that loading takes at most a third of the time. */
const staysPerLoad = 2;
const longestStayMs = 10_000;

/** A model and the budget that can never hold it. */
export class ModelTooLargeError extends AnyLorekeepError {
  override readonly name = 'ModelTooLargeError';

  constructor(model: string, device: string, need: number, limit: number) {
    const mib = (bytes: number) => Math.ceil(bytes / 1024 / 1024);
    const place = device === 'CPU' ? 'memory' : `memory of ${device}`;
    const reason = `it needs ${mib(need)} MiB of ${place}, and models may take ${mib(limit)} MiB`;
    super('OUT_OF_MEMORY', `model ${JSON.stringify(model)}: ${reason}`, {
      model,
      reason,
      device,
      need,
      limit,
    });
  }
}

/** Returns the same bytes, all in main memory. */
export function onCpu(need: MemoryNeed): MemoryNeed {
  return { CPU: Object.values(need).reduce((sum, bytes) => sum + bytes, 0) };
}

interface Entry {
  readonly resident: Resident;
  need: MemoryNeed;
  lastUsed: number;
  /** When it may leave; Infinity while it is being loaded. */
  mayLeave: number;
}

interface Claim {
  readonly model: string;
  readonly need: MemoryNeed;
  /** Takes the room. */
  readonly grant: () => void;
  readonly refuse: (error: unknown) => void;
}

/**
 * The memory that embedding, generating and reranking models share. A model that needs room waits until the least recently
 * used models have left. Computing models stay, and so do models that were loaded just now. Waiting models take turns;
 * a model that fits into the free memory passes the others.
 */
export class ModelMemory {
  readonly #options: ModelMemoryOptions;
  readonly #now: () => number;
  readonly #entries = new Set<Entry>();
  readonly #claims: Claim[] = [];
  #evicting = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: ModelMemoryOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  /** Bytes of models, by device. */
  get use(): DeviceUse[] {
    const devices = new Set(['CPU', ...[...this.#entries].flatMap(({ need }) => Object.keys(need))]);
    return [...devices].map((device) => ({ device, used: this.used(device), limit: this.#limit(device) }));
  }

  /** Models that wait for room. */
  get waiting(): number {
    return this.#claims.filter(({ need }) => Object.values(need).some((bytes) => bytes > 0)).length;
  }

  /** Returns the need on the CPU alone if a GPU could not hold its part even without other models. */
  placeable(need: MemoryNeed): MemoryNeed {
    const tooLarge = Object.entries(need).some(([device, bytes]) => {
      const limit = device === 'CPU' ? undefined : this.#limit(device);
      return limit !== undefined && bytes > limit;
    });
    return tooLarge ? onCpu(need) : need;
  }

  /** Waits for room for a model. @throws ModelTooLargeError if it does not fit even alone; the signal's reason */
  async admit(
    model: string,
    need: MemoryNeed,
    resident: Resident,
    signal?: AbortSignal | undefined,
  ): Promise<MemoryLease> {
    const entry: Entry = { resident, need, lastUsed: 0, mayLeave: Number.POSITIVE_INFINITY };
    const take = () => {
      entry.lastUsed = this.#now();
      this.#entries.add(entry);
    };
    await this.#claim(model, need, take, signal);
    return this.#lease(model, entry);
  }

  /** Waits until `need` fits, and calls `take` then. */
  #claim(model: string, need: MemoryNeed, take: () => void, signal?: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const settled = onAbort(signal, () => {
        this.#claims.splice(this.#claims.indexOf(claim), 1);
        reject(signal?.reason);
        this.#pump();
      });
      const claim: Claim = {
        model,
        need,
        grant: () => {
          settled();
          take();
          resolve();
        },
        refuse: (error) => {
          settled();
          reject(error);
        },
      };
      this.#claims.push(claim);
      this.#pump();
    });
  }

  /** Grants the claims that fit, and makes room for the first claim that does not. */
  #pump(): void {
    for (const claim of [...this.#claims]) {
      const refusal = this.#refusal(claim);
      const fits = refusal === undefined && this.#shortOf(claim.need) === undefined;
      if (refusal === undefined && !fits) continue;
      this.#claims.splice(this.#claims.indexOf(claim), 1);
      if (refusal !== undefined) claim.refuse(refusal);
      else claim.grant();
    }
    clearTimeout(this.#timer);
    const [first] = this.#claims;
    if (first !== undefined && !this.#evicting) this.#makeRoom(first);
  }

  #makeRoom({ need }: Claim): void {
    const device = this.#shortOf(need);
    if (device === undefined) return;
    const now = this.#now();
    const candidates = [...this.#entries].filter(
      (entry) => (entry.need[device] ?? 0) > 0 && Number.isFinite(entry.mayLeave) && !entry.resident.busy(),
    );
    const ready = candidates.filter(({ mayLeave }) => mayLeave <= now);
    if (ready.length > 0) {
      const leaving = ready.reduce((oldest, each) => (each.lastUsed < oldest.lastUsed ? each : oldest));
      this.#evicting = true;
      void leaving.resident
        .evict()
        .catch(() => {})
        .finally(() => {
          this.#evicting = false;
          this.#pump();
        });
      return;
    }
    const soonest = Math.min(...candidates.map(({ mayLeave }) => mayLeave - now));
    if (Number.isFinite(soonest))
      this.#timer = setTimeout(() => this.#pump(), Math.max(1, Math.ceil(soonest)));
  }

  /** While a model is being loaded, the amount of free memory is not known. */
  #refusal({ model, need }: Claim): ModelTooLargeError | undefined {
    if (this.#evicting || [...this.#entries].some(({ mayLeave }) => mayLeave === Number.POSITIVE_INFINITY))
      return undefined;
    for (const [device, bytes] of Object.entries(need)) {
      const limit = this.#limit(device);
      if (limit !== undefined && bytes > limit) return new ModelTooLargeError(model, device, bytes, limit);
    }
    return undefined;
  }

  /** Returns the first device that has no room. */
  #shortOf(need: MemoryNeed): string | undefined {
    return Object.keys(need).find((device) => {
      const limit = this.#limit(device);
      return limit !== undefined && this.used(device) + (need[device] ?? 0) > limit;
    });
  }

  #limit(device: string): number | undefined {
    const settled = [...this.#entries].filter(({ mayLeave }) => Number.isFinite(mayLeave));
    return this.#options.limit(
      device,
      settled.reduce((sum, { need }) => sum + (need[device] ?? 0), 0),
      settled.length === this.#entries.size && !this.#evicting,
    );
  }

  /** Bytes of a device that models take. */
  used(device: string): number {
    let sum = 0;
    for (const { need } of this.#entries) sum += need[device] ?? 0;
    return sum;
  }

  /** Unloads idle models until the devices of a model that has moved there hold no more than they may. */
  #makeLess(model: string, moved: MemoryNeed): void {
    const nothingMore = Object.fromEntries(Object.keys(moved).map((device) => [device, 0]));
    if (this.#shortOf(nothingMore) === undefined) return;
    // Refused where not even nothing fits.
    this.#claim(model, nothingMore, () => {}).catch(() => {});
  }

  #lease(model: string, entry: Entry): MemoryLease {
    let started = entry.lastUsed;
    const stay = () => {
      const now = this.#now();
      entry.lastUsed = now;
      entry.mayLeave = now + Math.min(longestStayMs, staysPerLoad * (now - started));
      this.#pump();
    };
    return {
      get need() {
        return entry.need;
      },
      get bytes() {
        return Object.values(entry.need).reduce((sum, bytes) => sum + bytes, 0);
      },
      loaded: (actual) => {
        entry.need = actual ?? entry.need;
        stay();
      },
      moved: (moved) => {
        if (entry.mayLeave === Number.POSITIVE_INFINITY) return; // being loaded: nobody knows yet
        entry.need = moved;
        this.#makeLess(model, moved);
        this.#pump();
      },
      room: async (need, waiting) => {
        const take = () => {
          started = this.#now();
          entry.need = need;
          entry.mayLeave = Number.POSITIVE_INFINITY;
        };
        await this.#claim(model, need, take, waiting);
        return stay;
      },
      idle: () => {
        entry.lastUsed = this.#now();
        this.#pump();
      },
      release: () => {
        if (this.#entries.delete(entry)) this.#pump();
      },
    };
  }
}
