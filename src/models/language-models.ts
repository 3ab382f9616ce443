import { setTimeout as delay } from 'node:timers/promises';
import {
  LanguageModel,
  type LanguageModelNumbers,
  type LanguageModelOptions as LanguageModelSettings,
  type PrefixPart,
} from '../../lib/internal.js';
import type { LocatedVariant } from './catalog.js';
import type { Lease } from './lease.js';
import { onCpu } from './model-memory.js';
import { languageModelNeed } from './model-need.js';
import { RemoteLanguageModel } from './remote/language-model.js';
import { remoteNeed } from './remote/need.js';
import { openServer } from './remote/open-remote.js';
import type { Residency } from './residency.js';
import type { Resident } from './resident.js';
import type { CatalogEntry, Placement } from './schema.js';
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
  placement: Placement;
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

/** A holder's claim on a language model, which may leave memory meanwhile. */
export interface LanguageModelPin {
  /** Catalog name. */
  readonly name: string;
  /** Facts of the model when it was pinned. */
  readonly facts: TextModel['facts'];
  /** Context that the holder may use, in tokens. */
  readonly contextSize: number;
  /**
   * Loads the model if it is not in memory, and keeps it there.
   * @throws ModelLoadError; the signal's reason
   */
  lease(signal?: AbortSignal): Promise<Lease<TextModel>>;
  /** Gives the claim up. Idempotent. */
  release(): void;
}

/** A model with one context size. */
interface Known {
  readonly name: string;
  /** The context that was asked for. */
  readonly contextSize: number;
  readonly resident: Resident<TextModel>;
}

/** The language models of a catalog. Each is loaded at its first use and shared. */
export class LanguageModels {
  readonly #residency: Residency;
  readonly #options: LanguageModelsOptions;
  #known: Known[] = [];
  #reading: Promise<readonly LanguageModelState[]> | undefined;
  #latestStates: readonly LanguageModelState[] = [];

  constructor(residency: Residency, options: LanguageModelsOptions) {
    this.#residency = residency;
    this.#options = options;
  }

  /**
   * Loads a model, or shares a loaded model with a context of that size or more. `contextSize`: default that of the
   * catalog, else `defaultContext`; at most the model's own. After a failed load, the next call tries again.
   * @throws UnknownModelError, ModelLoadError
   */
  async pin(name: string | undefined, contextSize?: number): Promise<LanguageModelPin> {
    const { catalog } = this.#residency;
    const entry = findModel(catalog, 'llm', name);
    const located = catalog.locate(entry);
    const usual = located.variant.context_size ?? this.#options.defaultContext;
    const wanted = contextSize ?? usual;
    this.#known = this.#known.filter(({ resident }) => resident.isUsed);
    const known = this.#known.find((one) => one.name === entry.name && one.contextSize >= wanted);
    const { resident } = known ?? this.#add(entry, located, Math.max(wanted, usual));
    const release = resident.hold();
    try {
      using lease = await resident.lease();
      const { facts } = lease.model;
      return {
        name: entry.name,
        facts,
        contextSize: Math.min(wanted, facts.contextSize),
        lease: (signal) => resident.lease(signal),
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

  /** Removes prompts and replies that have one of the texts from the KV caches. Never rejects: a model that fails has lost its cache. */
  async forget(texts: readonly string[]): Promise<void> {
    if (texts.length === 0) return;
    const forgetting = this.#present.map(({ resident }) =>
      resident.read(async (model) => model.forget?.(texts)),
    );
    await Promise.allSettled(forgetting);
  }

  get #present(): Known[] {
    return this.#known.filter(({ resident }) => resident.loaded !== undefined);
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
    const states = this.#present.map(async ({ name, contextSize, resident }) => {
      const none = () => undefined;
      const asked = await resident.read((model) =>
        Promise.all([model.numbers?.().catch(none), model.prefixes?.().catch(none)]),
      );
      return { name, contextSize, numbers: asked?.[0], prefixes: asked?.[1] };
    });
    this.#latestStates = await Promise.all(states);
    return this.#latestStates;
  }

  #add(entry: CatalogEntry, located: LocatedVariant, contextSize: number): Known {
    const { idleMs, load = LanguageModel.load, defaultContext: _, ...compute } = this.#options;
    const settings = { ...compute, contextSize };
    const { log } = this.#residency;
    const resident = this.#residency.resident<TextModel>({
      entry,
      located,
      idleMs,
      open: async ({ path, variant: { remote, context_size } }, placement, signal) => {
        if (remote !== undefined)
          return new RemoteLanguageModel(
            await openServer(this.#residency.catalog, entry.name, remote),
            Math.min(contextSize, context_size ?? contextSize),
          );
        const model = await load(path, { ...settings, placement, signal });
        const { placementNote: reason, tokenizerNote, templateNote } = model.facts;
        if (reason) log.info({ model: entry.name, reason }, 'model is not on the GPU');
        if (tokenizerNote) log.info({ model: entry.name, reason: tokenizerNote }, 'tokens may be wrong');
        if (templateNote) log.info({ model: entry.name, reason: templateNote }, 'messages may fail');
        return model;
      },
      need: async ({ path, variant: { remote } }, placement) =>
        remote === undefined ? languageModelNeed(path, { ...settings, placement }) : remoteNeed(remote),
      taken: ({ facts: { device } }, need) => (device === 'CPU' ? onCpu(need) : need),
    });
    const known = { name: entry.name, contextSize, resident };
    this.#known.push(known);
    return known;
  }
}
