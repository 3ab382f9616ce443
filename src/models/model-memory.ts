import { AnyLorekeepError, onAbort } from '../../lib/basics.js';

/** Bytes by device: `CPU`, or the name of a GPU. */
export type MemoryNeed = Readonly<Record<string, number>>;

/** An admitted model, as the budget sees it. */
export interface Evictable {
  /** Whether the model is leased, so that it cannot leave. */
  busy(): boolean;
  /** Unloads the model and releases its share. */
  evict(): Promise<void>;
}

/** A model's part of the budget. */
export interface MemoryShare {
  /** On all devices. */
  readonly bytes: number;
  /** The model is in memory from now on; `actual` replaces the estimate. */
  loaded(actual?: MemoryNeed): void;
  /** The model's last lease has ended. */
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
  readonly resident: Evictable;
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
  readonly #entries = new Set<Entry>();
  readonly #claims: Claim[] = [];
  #evicting = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: ModelMemoryOptions) {
    this.#options = options;
  }

  /** Bytes of models, by device. */
  get use(): DeviceUse[] {
    const devices = new Set(['CPU', ...[...this.#entries].flatMap(({ need }) => Object.keys(need))]);
    return [...devices].map((device) => ({ device, used: this.used(device), limit: this.#limit(device) }));
  }

  /** Models that wait for room. */
  get waiting(): number {
    return this.#claims.length;
  }

  /** Whether each GPU could hold its part if there were no other models. */
  couldHold(need: MemoryNeed): boolean {
    return Object.entries(need).every(([device, bytes]) => {
      const limit = device === 'CPU' ? undefined : this.#limit(device);
      return limit === undefined || bytes <= limit;
    });
  }

  /** Waits for room for a model. @throws ModelTooLargeError if it does not fit even alone; the signal's reason */
  admit(
    model: string,
    need: MemoryNeed,
    resident: Evictable,
    signal?: AbortSignal | undefined,
  ): Promise<MemoryShare> {
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
          const now = performance.now();
          const entry = { resident, need, lastUsed: now, mayLeave: Number.POSITIVE_INFINITY };
          this.#entries.add(entry);
          resolve(this.#share(entry, now));
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
    const now = performance.now();
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

  #share(entry: Entry, started: number): MemoryShare {
    return {
      get bytes() {
        return Object.values(entry.need).reduce((sum, bytes) => sum + bytes, 0);
      },
      loaded: (actual) => {
        entry.need = actual ?? entry.need;
        const now = performance.now();
        entry.lastUsed = now;
        entry.mayLeave = now + Math.min(longestStayMs, staysPerLoad * (now - started));
        this.#pump();
      },
      idle: () => {
        entry.lastUsed = performance.now();
        this.#pump();
      },
      release: () => {
        if (this.#entries.delete(entry)) this.#pump();
      },
    };
  }
}
