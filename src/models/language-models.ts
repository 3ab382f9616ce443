import { setTimeout as delay } from 'node:timers/promises';
import {
  type CallOptions,
  type ChatMessage,
  type GenerateRequest,
  type Generation,
  LanguageModel,
  type LanguageModelNumbers,
  type LanguageModelOptions as LanguageModelSettings,
  type PrefixPart,
  type RenderedPrompt,
  type RenderOptions,
} from '../../lib/internal.js';
import { untilAborted } from '../base/waiting/until-aborted.js';
import type { Catalog, LocatedVariant } from './catalog.js';
import { GpuLoads } from './gpu-loads.js';
import { type ModelMemory, onCpu } from './model-memory.js';
import { languageModelNeed } from './model-need.js';
import { ModelSlot } from './model-slot.js';
import { loadFailure, type ModelLog, openModel, refusal, unloadedMessages } from './open-model.js';
import { PlacedModel, type PlacedModelOptions, type Placement } from './placed-model.js';
import type { CatalogEntry, ModelVariant } from './schema.js';
import type { TextModel } from './text-model.js';
import { findModel } from './unknown-model.js';

/** How a language model's file is loaded. */
export interface LoadOptions {
  contextSize: number;
  /** Decoding threads; 0: all that the process may use. */
  threads: number;
  /** Threads that process prompts; 0: all. */
  batchThreads: number;
  /** Maximum number of prompt tokens per step. */
  batchSize: number;
  placement: ModelVariant['placement'];
  /** On a GPU: keeps the KV cache there, too. */
  offloadKqv: boolean;
  /** Runtime on the CPU. */
  runtime: LanguageModelSettings['runtime'];
  /** Cells of the KV cache, shared by all requests; 0: contextSize. */
  kvCells: number;
  /** Numbers of the KV cache. */
  kvCacheType: LanguageModelSettings['kvCacheType'];
  signal: AbortSignal;
}

export interface LanguageModelsOptions {
  /** Context in tokens where neither the node nor the catalog says one. */
  defaultContext: number;
  threads: number;
  batchThreads: number;
  batchSize: number;
  offloadKqv: boolean;
  runtime: LanguageModelSettings['runtime'];
  kvCells: number;
  kvCacheType: LanguageModelSettings['kvCacheType'];
  /** How long an unused model stays in memory, in ms; 0: until close(). */
  idleMs: number;
  log: ModelLog;
  /** The budget that all models share. Default: none. */
  memory?: ModelMemory | undefined;
  /** Default: the library's. */
  load?: ((path: string, options: LoadOptions) => Promise<TextModel>) | undefined;
}

/** Longest wait for the states of the models, in ms. */
const longestReadMs = 250;

/** A language model in memory. */
export interface LanguageModelState {
  name: string;
  contextSize: number;
  /** Undefined for a runtime that has no cells. */
  numbers?: LanguageModelNumbers | undefined;
  /** Each part before the parts that continue it. */
  prefixes?: PrefixPart[] | undefined;
}

/** A holder's claim on a language model. */
export interface LanguageModelPin {
  /** Catalog name. */
  readonly name: string;
  /** Works while the model is entered; its facts always. */
  readonly model: TextModel;
  /** Context that the holder may use, in tokens. */
  readonly contextSize: number;
  /**
   * Loads the model if another took its place, and keeps it in memory until the result is called, which is idempotent.
   * @throws ModelLoadError, ModelTooLargeError; the signal's reason
   */
  enter(signal?: AbortSignal): Promise<() => void>;
  /** Gives the claim up. Idempotent. */
  release(): void;
}

/** A model with one context size. */
interface Loaded {
  readonly name: string;
  /** The context that was asked for. */
  readonly contextSize: number;
  readonly slot: ModelSlot<TextModel>;
  readonly model: TextModel;
  pins: number;
}

/** A language model in memory, for the monitor. */
export interface LoadedLanguageModel {
  readonly name: string;
  readonly bytes: number;
  readonly contextSize: number;
  readonly device: string;
}

/** The language models of a catalog. Each is loaded at its first use and shared; close() frees them all. */
export class LanguageModels {
  readonly #catalog: Catalog;
  readonly #options: LanguageModelsOptions;
  readonly #closing = new AbortController();
  readonly #loaded = new Set<Loaded>();
  #reading: Promise<readonly LanguageModelState[]> | undefined;
  #latestStates: readonly LanguageModelState[] = [];
  /** Loaded models that are on a GPU, or were. */
  readonly #placed = new Set<PlacedModel>();
  readonly #gpu = new GpuLoads();

  constructor(catalog: Catalog, options: LanguageModelsOptions) {
    this.#catalog = catalog;
    this.#options = options;
  }

  /** Those that are in memory. */
  get inMemory(): LoadedLanguageModel[] {
    return this.#present.map(({ name, slot, model }) => {
      const { contextSize, device } = (slot.current ?? model).facts;
      return { name, bytes: slot.bytes, contextSize, device };
    });
  }

  get #present(): Loaded[] {
    return [...this.#loaded].filter(({ slot: { current } }) => current !== undefined && !hasLeft(current));
  }

  /** Returns the catalog entry of a name, or of the default model. @throws UnknownModelError */
  entry(name: string | undefined): CatalogEntry {
    return findModel(this.#catalog, 'llm', name);
  }

  /**
   * Loads a model, or shares a loaded model with a context of that size or more. `contextSize`: default that of the
   * catalog, else `defaultContext`; at most the model's own. After a failed load, the next call tries again.
   * @throws UnknownModelError, ModelLoadError
   */
  async pin(name: string | undefined, contextSize?: number): Promise<LanguageModelPin> {
    const entry = this.entry(name);
    if (this.#closing.signal.aborted) throw refusal(this.#catalog.file, entry.name, 'CLOSED');
    const located = this.#catalog.locate(entry);
    const usual = located.variant.context_size ?? this.#options.defaultContext;
    const wanted = contextSize ?? usual;
    const known = [...this.#loaded].find(
      (loaded) => loaded.name === entry.name && loaded.contextSize >= wanted,
    );
    const loaded = known ?? this.#add(entry, located, Math.max(wanted, usual));
    const letGo = loaded.slot.hold();
    let pinned = true;
    const release = () => {
      if (!pinned) return;
      pinned = false;
      loaded.pins--;
      letGo();
      if (loaded.pins === 0 && loaded.slot.facts === undefined) this.#loaded.delete(loaded);
    };
    loaded.pins++;
    try {
      const model = await this.#inMemory(loaded);
      return {
        name: entry.name,
        model: loaded.model,
        contextSize: Math.min(wanted, model.facts.contextSize),
        enter: (signal) => this.#enter(loaded, signal),
        release,
      };
    } catch (error) {
      release();
      throw error;
    }
  }

  /**
   * The loaded models with the state of their KV caches. A state waits for a step of inference: callers share one reading, and get
   * the latest one if it takes long.
   */
  async states(): Promise<readonly LanguageModelState[]> {
    this.#reading ??= this.#readStates().finally(() => {
      this.#reading = undefined;
    });
    const done = new AbortController();
    const late = delay(longestReadMs, undefined, { signal: done.signal, ref: false }).then(
      () => this.#knownStates(),
      () => [],
    );
    try {
      return await Promise.race([this.#reading, late]);
    } finally {
      done.abort();
    }
  }

  #knownStates(): readonly LanguageModelState[] {
    return this.#present.map(
      ({ name, contextSize }) =>
        this.#latestStates.find((state) => state.name === name && state.contextSize === contextSize) ?? {
          name,
          contextSize,
        },
    );
  }

  async #readStates(): Promise<readonly LanguageModelState[]> {
    const states = this.#present.map(async ({ name, contextSize, slot: { current } }) => {
      const none = () => undefined;
      const asked = [current?.numbers?.().catch(none), current?.prefixes?.().catch(none)] as const;
      const [numbers, prefixes] = await Promise.all(asked);
      return { name, contextSize, numbers, prefixes };
    });
    this.#latestStates = await Promise.all(states);
    return this.#latestStates;
  }

  /** Frees the models after their pending generations are cancelled. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all([...this.#loaded].map(({ slot }) => slot.close()));
    this.#loaded.clear();
  }

  async #enter(loaded: Loaded, signal: AbortSignal | undefined): Promise<() => void> {
    const leave = loaded.slot.use();
    try {
      const loading = this.#inMemory(loaded);
      await (signal === undefined ? loading : untilAborted(loading, signal));
      return leave;
    } catch (error) {
      leave();
      throw error;
    }
  }

  async #inMemory({ slot, name }: Loaded): Promise<TextModel> {
    try {
      return await slot.inMemory();
    } catch (error) {
      throw loadFailure(this.#catalog.file, name, error);
    }
  }

  #add(entry: CatalogEntry, located: LocatedVariant, contextSize: number): Loaded {
    const { name } = entry;
    const { idleMs, log, memory, threads, batchThreads, batchSize, offloadKqv } = this.#options;
    const { runtime, kvCells, kvCacheType } = this.#options;
    const { placement } = located.variant;
    const compute = { threads, batchThreads, batchSize, offloadKqv, runtime, kvCells, kvCacheType };
    const settings = { ...compute, contextSize, placement };
    const catalog = this.#catalog;
    const needAt = async (wanted: Placement = 'auto') => {
      const need = await languageModelNeed(located.path, { ...settings, placement: wanted });
      // The engine moves a model that a GPU cannot hold to the CPU, unless the catalog insists.
      return wanted === 'vram' ? need : (memory?.placeable(need) ?? need);
    };
    const reloads = {
      room: async (wanted: Placement, signal: AbortSignal) =>
        slot.room(await needAt(wanted).catch(() => ({})), signal),
      onMove: () => slot.account(),
    };
    const slot: ModelSlot<TextModel> = new ModelSlot<TextModel>({
      name,
      idleMs,
      memory,
      gpu: this.#gpu,
      load: (signal) =>
        openModel({ catalog, entry, located, log, signal }, (path) =>
          this.#load(name, path, { ...settings, signal }, reloads),
        ),
      need: () => needAt(this.#allowed(placement)),
      taken: (model, need) => {
        if (hasLeft(model)) return {};
        return model.facts.device === 'CPU' ? onCpu(need) : need;
      },
      refuse: (why) => refusal(catalog.file, name, why),
      onUnloaded: (why) => {
        log.info({ model: name }, unloadedMessages[why]);
        if (why === 'idle') this.#loaded.delete(loaded);
      },
      onChanged: () => this.#loaded.delete(loaded),
    });
    const loaded: Loaded = { name, contextSize, slot, model: new SlotTextModel(slot), pins: 0 };
    this.#loaded.add(loaded);
    return loaded;
  }

  /** Loads a file. A model on a GPU may leave it later. */
  async #load(
    name: string,
    path: string,
    options: LoadOptions,
    reloads: Pick<PlacedModelOptions, 'room' | 'onMove'>,
  ): Promise<TextModel> {
    const { load = LanguageModel.load, log } = this.#options;
    const { placement = 'auto', signal: ends } = options;
    const loadAt = (placement: Placement, signal: AbortSignal) =>
      load(path, { ...options, placement, signal });
    const model = await loadAt(this.#allowed(placement), ends);
    const { device, placementNote } = model.facts;
    if (placementNote) log.info({ model: name, reason: placementNote }, 'model is not on the GPU');
    if (device === 'CPU') return model;
    const onClose = () => this.#placed.delete(placed);
    const placed = new PlacedModel(model, { name, placement, load: loadAt, log, onClose, ...reloads });
    this.#placed.add(placed);
    return placed;
  }

  #allowed(placement: Placement = 'auto'): Placement {
    return this.#gpu.allowed ? placement : 'ram';
  }

  /**
   * Frees the video memory of every model, or lets models use it again. Resolves when it is free. Running requests on a
   * GPU fail with DEVICE_LOST.
   */
  async allowGpu(allowed: boolean): Promise<void> {
    if (allowed) {
      this.#gpu.allow();
      for (const model of this.#placed) model.returnToGpu();
    } else {
      const leaving = [...this.#placed].map((model) => model.leaveGpu());
      await Promise.all([this.#gpu.displace(), ...leaving]);
    }
  }
}

/** Whether a model has left its GPU and is loaded again by its next request. */
const hasLeft = (model: TextModel) => model instanceof PlacedModel && !model.isInMemory;

/** A language model that may leave memory. Precondition of the methods: it is in use. */
class SlotTextModel implements TextModel {
  readonly #slot: ModelSlot<TextModel>;

  constructor(slot: ModelSlot<TextModel>) {
    this.#slot = slot;
  }

  get facts(): TextModel['facts'] {
    const { facts } = this.#slot;
    if (facts === undefined) throw new Error(`model ${this.#slot.name}: used before it was loaded`);
    return facts;
  }

  countTokens(text: string, options?: CallOptions): Promise<number> {
    return this.#current.countTokens(text, options);
  }

  render(messages: readonly ChatMessage[], options?: RenderOptions): Promise<RenderedPrompt> {
    return this.#current.render(messages, options);
  }

  generate(request: GenerateRequest, options?: { signal?: AbortSignal }): Generation {
    return this.#current.generate(request, options);
  }

  /** The slot closes the model. */
  async close(): Promise<void> {}

  get #current(): TextModel {
    const { current } = this.#slot;
    if (current === undefined) throw new Error(`model ${this.#slot.name}: used without use()`);
    return current;
  }
}
