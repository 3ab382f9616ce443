import type { EmbeddingModel, ModelFacts } from '../../lib/index.js';
import type { ModelFusion } from '../fusion/model-fusion.js';
import { IdleTimer } from '../lifecycle/idle-timer.js';
import type { CatalogEntry } from './schema.js';

/** How a model that nothing uses is unloaded, and comes back. */
export interface ModelLife {
  /** Loads the file again. */
  reload(): Promise<EmbeddingModel>;
  /** The error for a model that cannot be loaded again, because nothing is any more or its file is another one. */
  refuse(why: 'CLOSED' | 'CHANGED'): Error;
  /** How long it stays when nothing uses it, in ms; 0: for ever. */
  idleMs: number;
  /** Told when it was unloaded because nothing used it. */
  onUnloaded(): void;
  /** Told when its file is another one than before: this object cannot be used any more. */
  onChanged(): void;
}

/**
 * An embedding model together with what the catalog knows about it. It stays in memory while it is held and while it
 * embeds; after that it may be unloaded, and the next text loads it again.
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

  /** The model itself. Precondition: it has been held, and in memory(), since. */
  get model(): EmbeddingModel {
    if (this.#native === undefined) throw new Error(`model ${this.name}: used without being held`);
    return this.#native;
  }

  /** What is known of it, in memory or not. */
  get facts(): ModelFacts {
    return this.#facts;
  }

  /** Whether it takes memory. */
  get isInMemory(): boolean {
    return this.#native !== undefined;
  }

  /** It is not unloaded until the result is called; calling that twice is fine. */
  hold(): () => void {
    return this.#idle.hold();
  }

  /** Loads it when it was unloaded; many callers share one load. @throws ModelLoadFailed */
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

  /** Fusion that suits the model, from the catalog. */
  get fusion(): ModelFusion | undefined {
    return this.#entry.fusion;
  }

  /** Waits for what it embeds. */
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
