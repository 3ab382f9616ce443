import type { EmbeddingModel, ModelFacts } from '../../lib/index.js';
import type { ModelFusion } from '../fusion/model-fusion.js';
import { IdleTimer } from '../lifecycle/idle-timer.js';
import type { CatalogEntry } from './schema.js';

/** How an idle model is unloaded and loaded again. */
export interface ModelLife {
  /** Loads the file again. */
  reload(): Promise<EmbeddingModel>;
  /** Returns the error for a model that cannot be loaded again: the catalog is closed, or the file was replaced. */
  refuse(why: 'CLOSED' | 'CHANGED'): Error;
  /** Idle time in ms before the model is unloaded; 0: never. */
  idleMs: number;
  /** Called after the idle model was unloaded. */
  onUnloaded(): void;
  /** Called when the model file turns out to be replaced: this object is then unusable. */
  onChanged(): void;
}

/**
 * An embedding model with its catalog entry. It stays in memory while it is held or embedding; afterwards it may be
 * unloaded, and the next text loads it again.
 */
export class LoadedModel {
  readonly dimension: number;
  readonly #entry: CatalogEntry;
  readonly #facts: ModelFacts;
  readonly #life: ModelLife | undefined;
  readonly #idle: IdleTimer;
  #native: EmbeddingModel | undefined;
  #reloading: Promise<EmbeddingModel> | undefined;
  #unloading: Promise<void> = Promise.resolve();
  #closed = false;

  constructor(model: EmbeddingModel, entry: CatalogEntry, life?: ModelLife) {
    this.#native = model;
    this.#facts = model.facts;
    this.dimension = model.dimension;
    this.#entry = entry;
    this.#life = life;
    this.#idle = new IdleTimer(life?.idleMs ?? 0, () => this.#unload());
  }

  /** The model. Precondition: it is held, and inMemory() has been awaited since. */
  get model(): EmbeddingModel {
    if (this.#native === undefined) throw new Error(`model ${this.name}: used without being held`);
    return this.#native;
  }

  /** Facts about the model, available even while it is unloaded. */
  get facts(): ModelFacts {
    return this.#facts;
  }

  /** Whether the model is loaded. */
  get isInMemory(): boolean {
    return this.#native !== undefined;
  }

  /** Keeps the model from being unloaded until the result is called, which is idempotent. */
  hold(): () => void {
    return this.#idle.hold();
  }

  /** Loads the model if it was unloaded; concurrent callers share one load. @throws ModelLoadError */
  async inMemory(): Promise<EmbeddingModel> {
    if (this.#native !== undefined) return this.#native;
    this.#reloading ??= this.#reload().finally(() => {
      this.#reloading = undefined;
    });
    return this.#reloading;
  }

  get name(): string {
    return this.#entry.name;
  }

  get queryPrefix(): string {
    return this.#entry.query_prefix;
  }

  get documentPrefix(): string {
    return this.#entry.document_prefix;
  }

  /** The catalog's fusion settings for the model. */
  get fusion(): ModelFusion | undefined {
    return this.#entry.fusion;
  }

  /** Frees the model after its pending embeddings. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#idle.stop();
    await this.#reloading?.catch(() => {});
    await this.#unloading;
    await this.#native?.close();
  }

  #unload(): void {
    const model = this.#native;
    if (model === undefined || this.#closed) return;
    this.#native = undefined;
    this.#unloading = model.close();
    this.#life?.onUnloaded();
  }

  async #reload(): Promise<EmbeddingModel> {
    const life = this.#life;
    if (life === undefined || this.#closed) {
      throw life?.refuse('CLOSED') ?? new Error(`model ${this.name}: used after close()`);
    }
    await this.#unloading;
    const model = await life.reload();
    if (model.facts.fingerprint !== this.#facts.fingerprint) {
      await model.close();
      life.onChanged();
      throw life.refuse('CHANGED');
    }
    this.#native = model;
    return model;
  }
}
