import type { Catalog } from './catalog.js';
import type { ModelMemory } from './model-memory.js';
import { Displaced, type ModelLog } from './open-model.js';
import type { Opener, OwnedModel } from './opener.js';
import { type LoadedFacts, type Owner, Resident } from './resident.js';

export interface ResidencyOptions {
  log: ModelLog;
  /** The budget of all models. Default: none. */
  memory?: ModelMemory | undefined;
}

/**
 * The owner of all models of a catalog that are in memory. It loads a model for its first lease, unloads it when it was idle
 * for long or when another one needs the room, takes it off the GPU when others need the video memory, and loads it again
 * when its GPU was lost. Each Resident is the life of one model.
 */
export class Residency implements Owner {
  readonly catalog: Catalog;
  readonly log: ModelLog;
  readonly memory: ModelMemory | undefined;
  /** Models in memory, or being loaded or unloaded. */
  readonly #residents = new Set<Resident>();
  readonly #closing = new AbortController();
  #displacing = new AbortController();
  #gpuAllowed = true;

  constructor(catalog: Catalog, { log, memory }: ResidencyOptions) {
    this.catalog = catalog;
    this.log = log;
    this.memory = memory;
  }

  /** Returns a model that is not loaded yet. Its first lease loads it. */
  resident<Model extends OwnedModel>(opener: Opener<Model>): Resident<Model> {
    return new Resident(this, opener);
  }

  /** The models that are in memory. */
  get inMemory(): LoadedFacts[] {
    return [...this.#residents].flatMap(({ loaded }) => loaded ?? []);
  }

  get gpuAllowed(): boolean {
    return this.#gpuAllowed;
  }

  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  get displacing(): AbortSignal {
    return this.#displacing.signal;
  }

  track(resident: Resident, isNeeded: boolean): void {
    if (isNeeded) this.#residents.add(resident);
    else this.#residents.delete(resident);
  }

  /**
   * Frees the video memory, or lets models use it again: models that left return with their next unshared lease.
   * Resolves when the memory is free. Calls of models on the GPU fail with DEVICE_LOST and `detail.released`; loads onto it
   * begin again on the CPU.
   */
  async allowGpu(allowed: boolean): Promise<void> {
    this.#gpuAllowed = allowed;
    if (allowed) return;
    const ending = this.#displacing;
    this.#displacing = new AbortController();
    ending.abort(new Displaced('others need the video memory'));
    await Promise.all([...this.#residents].map((resident) => resident.leaveGpu()));
  }

  /** Unloads a model that is in memory. Returns false while requests use it; undefined if it is not in memory. */
  async unload(name: string): Promise<boolean | undefined> {
    return [...this.#residents].find(({ loaded }) => loaded?.name === name)?.unload();
  }

  /** Refuses new leases, and frees the models after their pending calls. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all([...this.#residents].map((resident) => resident.close()));
  }
}
