import { IdleTimer } from '../base/waiting/idle-timer.js';
import type { GpuLoads } from './gpu-loads.js';
import type { MemoryLease, MemoryNeed, ModelMemory } from './model-memory.js';

/** The need of a file that cannot be read: its load says why. */
const nothing: MemoryNeed = {};

/** A model of the library. */
export interface SlotModel {
  readonly facts: { readonly fingerprint: string };
  close(): Promise<void>;
}

/** How a model is loaded, and loaded again after it was unloaded. */
export interface SlotOptions<Model extends SlotModel> {
  /** Catalog name. */
  readonly name: string;
  readonly load: (signal: AbortSignal) => Promise<Model>;
  /** The budget that the model takes its memory from. Default: none. */
  readonly memory?: ModelMemory | undefined;
  /** Ends loads that take video memory when others need it. Default: none end. */
  readonly gpu?: GpuLoads | undefined;
  /** Estimates the model's memory. Called only with `memory`. */
  readonly need?: (() => Promise<MemoryNeed>) | undefined;
  /** Returns the memory that a loaded model takes now. Default: the result of `need`. */
  readonly taken?: ((model: Model, need: MemoryNeed) => MemoryNeed) | undefined;
  /** Returns the error for a model that cannot be loaded again: the catalog is closed, or the file was replaced. */
  readonly refuse: (why: 'CLOSED' | 'CHANGED') => Error;
  /** Idle time in ms before the model is unloaded; 0: never. */
  readonly idleMs: number;
  readonly onUnloaded: (why: 'idle' | 'room') => void;
  /** Called when the model file turns out to be replaced: the slot is then unusable. */
  readonly onChanged: () => void;
}

/**
 * A model that may leave memory while it computes nothing, and is loaded again at its next use. Holders keep it from being
 * unloaded for idleness; only running computations keep it when another model needs the memory.
 */
export class ModelSlot<Model extends SlotModel> {
  readonly name: string;
  readonly #options: SlotOptions<Model>;
  readonly #idle: IdleTimer;
  #model: Model | undefined;
  #facts: Model['facts'] | undefined;
  #loading: Promise<Model> | undefined;
  #unloading: Promise<void> = Promise.resolve();
  #lease: MemoryLease | undefined;
  /** The claim with which the model was admitted. */
  #admitted: MemoryNeed = nothing;
  #users = 0;
  readonly #closing = new AbortController();

  constructor(options: SlotOptions<Model>) {
    this.name = options.name;
    this.#options = options;
    this.#idle = new IdleTimer(options.idleMs, () => this.#unload('idle'));
  }

  /** The model, if it is in memory. */
  get current(): Model | undefined {
    return this.#model;
  }

  /** Bytes that it takes of the budget, on all devices. */
  get bytes(): number {
    return this.#lease?.bytes ?? 0;
  }

  /** Facts of the model, also while it is unloaded. Undefined until the first load has ended. */
  get facts(): Model['facts'] | undefined {
    return this.#facts;
  }

  /** Keeps the model from being unloaded for idleness until the result is called, which is idempotent. */
  hold(): () => void {
    return this.#idle.hold();
  }

  /** Marks the model as computing until the result is called, which is idempotent. Await inMemory() after it. */
  use(): () => void {
    const letGo = this.#idle.hold();
    this.#users++;
    let using = true;
    return () => {
      if (!using) return;
      using = false;
      this.#users--;
      // A model loses its GPU only by computing there.
      if (Object.keys(this.#lease?.need ?? nothing).some((device) => device !== 'CPU')) this.account();
      if (this.#users === 0) this.#lease?.idle();
      letGo();
    };
  }

  /** Updates the model's memory in the budget: after losing or leaving a GPU it is on another device. */
  account(): void {
    const [model, lease] = [this.#model, this.#lease];
    if (model === undefined || lease === undefined) return;
    const taken = this.#options.taken?.(model, this.#admitted) ?? this.#admitted;
    const devices = new Set([...Object.keys(taken), ...Object.keys(lease.need)]);
    if ([...devices].some((device) => taken[device] !== lease.need[device])) lease.moved(taken);
  }

  /**
   * Waits for room for a model that has left memory and loads itself again. Call the result after the load.
   * @throws ModelTooLargeError; the signal's reason
   */
  async room(need: MemoryNeed, signal: AbortSignal): Promise<() => void> {
    const lease = this.#lease;
    if (lease === undefined) return () => {};
    const loaded = await lease.room(need, signal);
    this.#admitted = need;
    return () => {
      loaded();
      this.account();
    };
  }

  /** Loads the model if it is not in memory; concurrent callers share one load. */
  async inMemory(): Promise<Model> {
    if (this.#model !== undefined) return this.#model;
    if (this.#closing.signal.aborted) throw this.#options.refuse('CLOSED');
    this.#loading ??= this.#load().finally(() => {
      this.#loading = undefined;
    });
    return this.#loading;
  }

  /** Unloads the model if nobody computes with it. */
  unloadUnused(): Promise<void> {
    return this.#unload('room');
  }

  /** Frees the model after its pending work. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#idle.stop();
    await this.#loading?.catch(() => {});
    await this.#unloading;
    await this.#model?.close();
    this.#lease?.release();
  }

  async #load(): Promise<Model> {
    const { gpu, refuse } = this.#options;
    const { signal } = this.#closing;
    // It is idle only when it is loaded.
    const letGo = this.#idle.hold();
    try {
      await this.#unloading;
      return await (gpu?.run(signal, (ends) => this.#admitAndLoad(ends)) ?? this.#admitAndLoad(signal));
    } catch (error) {
      throw signal.aborted ? refuse('CLOSED') : error;
    } finally {
      letGo();
    }
  }

  async #admitAndLoad(signal: AbortSignal): Promise<Model> {
    let lease: MemoryLease | undefined;
    try {
      lease = await this.#admit(signal);
      const model = await this.#options.load(signal);
      await this.#check(model, signal);
      this.#admitted = lease?.need ?? nothing;
      lease?.loaded(this.#options.taken?.(model, this.#admitted));
      this.#lease = lease;
      this.#model = model;
      return model;
    } catch (error) {
      lease?.release();
      throw error;
    }
  }

  async #admit(signal: AbortSignal): Promise<MemoryLease | undefined> {
    const { memory, need, name } = this.#options;
    if (memory === undefined || need === undefined) return undefined;
    const resident = {
      busy: () => this.#users > 0,
      evict: () => this.#unload('room'),
    };
    return memory.admit(name, await need().catch(() => nothing), resident, signal);
  }

  async #check(model: Model, signal: AbortSignal): Promise<void> {
    this.#facts ??= model.facts;
    const { aborted } = signal;
    if (model.facts.fingerprint === this.#facts.fingerprint && !aborted) return;
    await model.close();
    if (aborted) throw signal.reason;
    this.#options.onChanged();
    throw this.#options.refuse('CHANGED');
  }

  #unload(why: 'idle' | 'room'): Promise<void> {
    const model = this.#model;
    if (model === undefined || this.#closing.signal.aborted || this.#users > 0) return this.#unloading;
    const lease = this.#lease;
    this.#model = undefined;
    this.#lease = undefined;
    this.#unloading = model.close().finally(() => lease?.release());
    this.#options.gpu?.unloading(this.#unloading);
    this.#options.onUnloaded(why);
    return this.#unloading;
  }
}
