import type { EmbeddingModel, EmbedResult, ItemError } from '../../lib/index.js';
import type { ModelFusion } from '../fusion/model-fusion.js';
import { type ServerError, serverError } from '../protocol/errors.js';
import type { CatalogEntry } from './schema.js';

/** An embedding model together with what the catalog knows about it. */
export class LoadedModel {
  readonly model: EmbeddingModel;
  readonly #entry: CatalogEntry;

  constructor(model: EmbeddingModel, entry: CatalogEntry) {
    this.model = model;
    this.#entry = entry;
  }

  get name(): string {
    return this.#entry.name;
  }

  get dimension(): number {
    return this.model.dimension;
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

  /** One row of length 1. @throws TextError; AbortError */
  async embedQuery(text: string, signal: AbortSignal): Promise<Float32Array> {
    return (await this.embedQueryCounted(text, signal)).vectors;
  }

  /** As embedQuery(), with the tokens and batches that it took. */
  embedQueryCounted(text: string, signal: AbortSignal): Promise<EmbedResult> {
    return this.#embed([this.queryPrefix + text], signal);
  }

  /**
   * Rows of length 1, row-major, one per text. Queries of others get in between its batches.
   * @throws TextError for the first text that fails; AbortError
   */
  async embedDocuments(texts: readonly string[], signal: AbortSignal): Promise<Float32Array> {
    const prefix = this.documentPrefix;
    const prefixed = prefix === '' ? texts : texts.map((text) => prefix + text);
    return (await this.#embed(prefixed, signal)).vectors;
  }

  close(): Promise<void> {
    return this.model.close();
  }

  async #embed(texts: readonly string[], signal: AbortSignal): Promise<EmbedResult> {
    const result = await this.model.embedSettled(texts, { signal });
    if (result.errors[0] !== undefined) throw new TextError(result.errors[0]);
    return result;
  }
}

/** A text that the model cannot embed. */
export class TextError extends Error {
  override readonly name = 'TextError';
  /** Position in the texts given, why, how many tokens it has and how many the model takes. */
  readonly item: ItemError;

  constructor(item: ItemError) {
    super(item.message);
    this.item = item;
  }

  /** The error for a query, where there is one text only. */
  toServerError(): ServerError {
    const { code, tokens, limit, message } = this.item;
    return serverError(errorCodes[code], message, { tokens, limit }, { cause: this });
  }
}

const errorCodes = { TEXT_TOO_LONG: 5002, INVALID_ARGUMENT: 5004, MODEL_INVALID: 5005 } as const;
