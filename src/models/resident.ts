import { LorekeepError } from '../../lib/internal.js';
import { IdleTimer } from '../base/waiting/idle-timer.js';
import { untilAborted } from '../base/waiting/until-aborted.js';
import type { Catalog, LocatedVariant } from './catalog.js';
import type { Lease } from './lease.js';
import type { Evictable, MemoryNeed, MemoryShare, ModelMemory } from './model-memory.js';
import { Displaced, loadFailure, type ModelLog, openModel, refusal } from './open-model.js';
import { type Opener, type OwnedModel, remoteDevice } from './opener.js';
import type { Placement } from './schema.js';

/** What a model asks its owner. */
export interface Owner {
  readonly catalog: Catalog;
  readonly log: ModelLog;
  readonly memory: ModelMemory | undefined;
  /** False while others need the video memory. */
  readonly gpuAllowed: boolean;
  /** Aborted when the owner closes. */
  readonly closing: AbortSignal;
  /** Aborted when loads that may use the GPU shall end and begin again, on the CPU. */
  readonly displacing: AbortSignal;
  /** `isNeeded`: the model is in memory, or is being loaded or unloaded. */
  track(resident: Resident, isNeeded: boolean): void;
}

/** A model in memory. */
export interface LoadedFacts {
  readonly name: string;
  /** Bytes that it takes of the budget, on all devices. */
  readonly bytes: number;
  readonly device: string;
  /** In tokens; 0 for models of speech. */
  readonly contextSize: number;
  /** Of an embedding model. */
  readonly dimension: number | undefined;
}

interface Present<Model> {
  readonly model: Model;
  readonly share: MemoryShare | undefined;
}

/** After this many failures of its GPU, a model stays on the CPU. */
const maxLosses = 2;

const unloaded = {
  idle: 'model unloaded: nothing used it',
  room: 'model unloaded: another needs its memory',
  operator: 'model unloaded: the operator asked for it',
} as const;

/**
 * The life of one model:
 *
 *     absent   --lease-->                          loading   (waits for room in the budget)
 *     loading  --loaded-->                         present
 *     loading  --video memory needed-->            loading   (again, on the CPU)
 *     present  --idle, or room needed, unleased--> leaving
 *     present  --GPU lost, or video memory needed--> leaving (its calls fail with DEVICE_LOST)
 *     leaving  --pending calls have ended-->       absent
 *
 * A lease that comes while the model is leaving waits for the end, and loads it.
 */
export class Resident<Model extends OwnedModel = OwnedModel> implements Evictable {
  readonly name: string;
  readonly #owner: Owner;
  readonly #opener: Opener<Model>;
  readonly #idle: IdleTimer;
  #present: Present<Model> | undefined;
  #loading: Promise<Model> | undefined;
  #leaving: Promise<void> = Promise.resolve();
  /** The load that runs, if it may use the GPU. */
  #onGpu: Promise<unknown> | undefined;
  #leases = 0;
  #losses = 0;
  /** Whether it had to leave the GPU since it was last loaded there. */
  #displaced = false;
  #fingerprint: string | undefined;
  /** Whether its file was replaced: it is refused from then on. */
  #changed = false;

  /** @internal Use Residency.resident(). */
  constructor(owner: Owner, opener: Opener<Model>) {
    this.name = opener.entry.name;
    this.#owner = owner;
    this.#opener = opener;
    this.#idle = new IdleTimer(opener.idleMs, () => void this.#unload('idle'));
  }

  /** Facts of the model, if it is in memory. */
  get loaded(): LoadedFacts | undefined {
    if (this.#present === undefined) return undefined;
    const { contextSize = 0, device = 'CPU', dimension } = this.#present.model.facts;
    return { name: this.name, bytes: this.#present.share?.bytes ?? 0, device, contextSize, dimension };
  }

  /** Whether it is in memory, being loaded, leased or held. */
  get isUsed(): boolean {
    return this.#present !== undefined || this.#idle.held;
  }

  /** Keeps the model from being unloaded for idleness until the result is called, which is idempotent. */
  hold(): () => void {
    return this.#idle.hold();
  }

  /** Loads the model if it is not in memory. Concurrent loads are one. @throws ModelLoadError; the signal's reason */
  async lease(signal: AbortSignal = this.#owner.closing): Promise<Lease<Model>> {
    const letGo = this.#idle.hold();
    this.#leases++;
    let given = true;
    const giveBack = () => {
      if (!given) return;
      given = false;
      this.#leases--;
      this.#noticeLoss();
      if (this.#leases === 0) this.#present?.share?.idle();
      letGo();
    };
    try {
      signal.throwIfAborted();
      return { model: await untilAborted(this.#inMemory(), signal), [Symbol.dispose]: giveBack };
    } catch (error) {
      giveBack();
      if (this.#owner.closing.aborted) throw this.#refusal('CLOSED');
      throw signal.aborted ? signal.reason : loadFailure(this.#owner.catalog.file, this.name, error);
    }
  }

  /** Reads the state of the model, if it is in memory; that is no use of it. */
  read<T>(look: (model: Model) => Promise<T>): Promise<T> | undefined {
    return this.#present && look(this.#present.model);
  }

  busy(): boolean {
    return this.#leases > 0;
  }

  evict(): Promise<void> {
    return this.#unload('room');
  }

  /** Unloads the model. Returns whether it could: not while requests use it. Its next lease loads it again. */
  async unload(): Promise<boolean> {
    if (this.busy()) return false;
    await this.#unload('operator');
    return true;
  }

  /** Resolves when the model takes no video memory. */
  async leaveGpu(): Promise<void> {
    const device = this.loaded?.device ?? 'CPU';
    if (device !== 'CPU' && device !== remoteDevice) {
      this.#displaced = true;
      const message = `model ${this.name} left the GPU because its memory was needed`;
      void this.#leave(new LorekeepError('DEVICE_LOST', message, { device, released: true }));
    }
    await Promise.allSettled([this.#onGpu, this.#leaving]);
  }

  async close(): Promise<void> {
    this.#idle.stop();
    await this.#loading?.catch(() => {});
    await this.#leave();
  }

  async #inMemory(): Promise<Model> {
    this.#noticeLoss();
    if (this.#displaced && this.#mayUseGpu && this.#leases === 1) void this.#leave();
    if (this.#present !== undefined && !this.#owner.closing.aborted) return this.#present.model;
    this.#loading ??= this.#load().finally(() => {
      this.#loading = undefined;
      this.#owner.track(this, this.#present !== undefined);
    });
    return this.#loading;
  }

  get #mayUseGpu(): boolean {
    return this.#owner.gpuAllowed && this.#losses < maxLosses;
  }

  async #load(): Promise<Model> {
    const { closing, log, catalog } = this.#owner;
    const letGo = this.#idle.hold(); // it is idle only when it is loaded
    this.#owner.track(this, true);
    try {
      for (;;) {
        await this.#leaving;
        if (closing.aborted) throw this.#refusal('CLOSED');
        if (this.#changed) throw this.#refusal('CHANGED');
        const located = this.#opener.located ?? catalog.locate(this.#opener.entry);
        const mayUseGpu = this.#mayUseGpu && located.variant.remote === undefined;
        const placement = mayUseGpu ? (located.variant.placement ?? 'auto') : 'ram';
        const loading = this.#loadAt(located, placement);
        if (placement !== 'ram') this.#onGpu = loading;
        try {
          return await loading;
        } catch (error) {
          const again = (this.#losses > 0 || this.#displaced) && !this.#changed && placement !== 'ram';
          if (closing.aborted || !(again || error instanceof Displaced)) throw error;
          if (error instanceof Displaced) continue;
          this.#losses = maxLosses;
          log.error(
            { model: this.name, err: error },
            'model not loaded on the GPU again: it moves to the CPU',
          );
        } finally {
          this.#onGpu = undefined;
        }
      }
    } finally {
      letGo();
    }
  }

  async #loadAt(located: LocatedVariant, placement: Placement): Promise<Model> {
    const { catalog, closing, displacing, log, memory } = this.#owner;
    const { entry } = this.#opener;
    const signal = placement === 'ram' ? closing : AbortSignal.any([closing, displacing]);
    const need = memory === undefined ? {} : await this.#need(located, placement);
    const share = await memory?.admit(this.name, need, this, signal);
    try {
      const model = await openModel({ catalog, entry, located, log, signal }, () =>
        this.#opener.open(located, placement, signal),
      );
      this.#fingerprint ??= model.facts.fingerprint;
      this.#changed = model.facts.fingerprint !== this.#fingerprint;
      if (this.#changed || signal.aborted) {
        await model.close();
        throw signal.aborted ? signal.reason : this.#refusal('CHANGED');
      }
      this.#present = { model, share };
      if (placement !== 'ram') this.#displaced = false;
      share?.loaded(this.#opener.taken?.(model, need));
      return model;
    } catch (error) {
      share?.release();
      throw error;
    }
  }

  /** The need of a file that cannot be read is none: its load says why. */
  async #need(located: LocatedVariant, placement: Placement): Promise<MemoryNeed> {
    try {
      const need = await this.#opener.need(located, placement);
      // The engine moves a model that a GPU cannot hold to the CPU, unless the catalog insists.
      if (placement === 'vram' || this.#owner.memory?.couldHold(need)) return need;
      return await this.#opener.need(located, 'ram');
    } catch {
      return {};
    }
  }

  #refusal(why: 'CLOSED' | 'CHANGED'): Error {
    return refusal(this.#owner.catalog.file, this.name, why);
  }

  /** Its next lease loads the model again. */
  #noticeLoss(): void {
    const lost = this.#present?.model.lost;
    if (lost === undefined) return;
    this.#losses++;
    this.#owner.log.error({ model: this.name, err: lost }, 'GPU lost: the model is loaded again');
    void this.#leave();
  }

  #unload(why: keyof typeof unloaded): Promise<void> {
    if (this.#present === undefined || this.busy()) return this.#leaving;
    this.#owner.log.info({ model: this.name }, unloaded[why]);
    return this.#leave();
  }

  /** Resolves when the memory is free. */
  #leave(failing?: LorekeepError): Promise<void> {
    const present = this.#present;
    if (present === undefined) return this.#leaving;
    this.#present = undefined;
    this.#leaving = present.model.close(failing).finally(() => {
      present.share?.release();
      this.#owner.track(this, this.#loading !== undefined);
    });
    return this.#leaving;
  }
}
