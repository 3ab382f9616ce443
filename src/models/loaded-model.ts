import type { EmbeddingModel, ModelFacts } from '../../lib/internal.js';
import { type ModelFusion, modelFusion } from '../search/model-fusion.js';
import type { ModelSlot } from './model-slot.js';
import type { CatalogEntry } from './schema.js';

/**
 * An embedding model with its catalog entry. It stays in memory while it is embedding, and while it is held unless another
 * model needs the room; the next text loads it again.
 */
export class LoadedModel {
  readonly dimension: number;
  readonly #entry: CatalogEntry;
  readonly #facts: ModelFacts;
  /** Undefined for a model that is always in memory. */
  readonly #slot: ModelSlot<EmbeddingModel> | undefined;
  readonly #native: EmbeddingModel | undefined;

  constructor(model: EmbeddingModel, entry: CatalogEntry, slot?: ModelSlot<EmbeddingModel>) {
    this.#native = slot === undefined ? model : undefined;
    this.#facts = model.facts;
    this.dimension = model.dimension;
    this.#entry = entry;
    this.#slot = slot;
  }

  /** The model. Precondition: it is in use, and inMemory() has been awaited since. */
  get model(): EmbeddingModel {
    const model = this.#slot?.current ?? this.#native;
    if (model === undefined) throw new Error(`model ${this.name}: used without use()`);
    return model;
  }

  /** Facts about the model, available even while it is unloaded. */
  get facts(): ModelFacts {
    return this.#facts;
  }

  /** Whether the model is loaded. */
  get isInMemory(): boolean {
    return this.#slot === undefined || this.#slot.current !== undefined;
  }

  /** Bytes that it takes of the budget of models. */
  get bytes(): number {
    return this.#slot?.bytes ?? 0;
  }

  /** Keeps the model from being unloaded for idleness until the result is called, which is idempotent. */
  hold(): () => void {
    return this.#slot?.hold() ?? (() => {});
  }

  /** Keeps the model in memory until the result is called, which is idempotent. Await inMemory() after it. */
  use(): () => void {
    return this.#slot?.use() ?? (() => {});
  }

  /** Loads the model if it was unloaded; concurrent callers share one load. @throws ModelLoadError */
  async inMemory(): Promise<EmbeddingModel> {
    return this.#slot?.inMemory() ?? this.model;
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
    const { fusion } = this.#entry;
    return fusion && modelFusion(fusion);
  }
}
