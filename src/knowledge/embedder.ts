import {
  EmbeddingModel,
  type EmbedResult,
  LorekeepError,
  type ModelFacts,
  type ProgressOptions,
} from '../../lib/internal.js';

export interface EmbedOptions {
  /** Kind of the texts: some models embed queries and documents differently. */
  kind: 'query' | 'document';
  /** Aborted when the caller no longer wants the vectors. */
  signal?: AbortSignal | undefined;
}

/** Your own way to embed texts: a service, or a model of another library. */
export interface Embedder {
  /** Returns one vector of `dimension` numbers per text, of any length but not zero, in one array or one by one. */
  embed(
    texts: readonly string[],
    options: EmbedOptions,
  ): Promise<Float32Array | readonly (Float32Array | readonly number[])[]>;
  /** Numbers per vector. */
  readonly dimension: number;
  /** Identifies the vectors: change it when texts get other ones, so that files with the old ones are built again. */
  readonly fingerprint: string;
  /** Maximum number of texts of one call. Default 256. */
  readonly batchSize?: number | undefined;
}

/** The part of a model that a knowledge base uses. */
export interface TextEmbedder {
  readonly dimension: number;
  readonly facts: Pick<ModelFacts, 'fingerprint' | 'dimension' | 'contextSize'> &
    Partial<Pick<ModelFacts, 'architecture'>>;
  embedSettled(
    texts: readonly string[],
    options?: ProgressOptions & { kind?: EmbedOptions['kind']; truncate?: boolean | undefined },
  ): Promise<EmbedResult>;
  /** Told that stored vectors are not of the model that its server computes. */
  disown?(): void;
}

const defaultBatch = 256;

/** Largest dimension of an index. */
const maxNumbers = 65_536;

/** Presents an embedder as a model. */
export class OwnEmbedder implements TextEmbedder {
  readonly dimension: number;
  readonly facts: TextEmbedder['facts'];
  readonly #embedder: Embedder;

  /** @throws INVALID_ARGUMENT */
  constructor(embedder: Embedder) {
    const { dimension, fingerprint, batchSize = defaultBatch } = embedder;
    const isCount = (value: unknown, most: number) =>
      Number.isInteger(value) && (value as number) >= 1 && (value as number) <= most;
    if (!isCount(dimension, maxNumbers)) throw refuse('dimension', `an integer from 1 to ${maxNumbers}`);
    if (typeof fingerprint !== 'string' || fingerprint === '')
      throw refuse('fingerprint', 'a string that is not empty');
    if (!isCount(batchSize, Number.MAX_SAFE_INTEGER)) throw refuse('batchSize', 'an integer of at least 1');
    this.#embedder = embedder;
    this.dimension = dimension;
    this.facts = { fingerprint, dimension, contextSize: 0 };
  }

  /** @throws errors of the embedder; INVALID_ARGUMENT, DIMENSION_MISMATCH for its result */
  async embedSettled(
    texts: readonly string[],
    { signal, onProgress, kind = 'document' }: ProgressOptions & { kind?: EmbedOptions['kind'] } = {},
  ): Promise<EmbedResult> {
    const { batchSize = defaultBatch } = this.#embedder;
    const vectors = new Float32Array(texts.length * this.dimension);
    let batches = 0;
    for (let begin = 0; begin < texts.length; begin += batchSize) {
      signal?.throwIfAborted();
      const batch = texts.slice(begin, begin + batchSize);
      const made = await this.#embedder.embed(batch, { kind, signal });
      vectors.set(this.#rows(made, batch.length), begin * this.dimension);
      batches++;
      onProgress?.((begin + batch.length) / texts.length);
    }
    return { vectors, errors: [], tokens: 0, batches };
  }

  #rows(made: Awaited<ReturnType<Embedder['embed']>>, texts: number): Float32Array {
    const { dimension } = this;
    const rows = made instanceof Float32Array ? made : joined(made, dimension);
    if (rows.length !== texts * dimension) {
      const reason = `${texts} vectors of ${dimension} numbers are expected, not ${rows.length} numbers`;
      throw LorekeepError.about('DIMENSION_MISMATCH', { field: 'model.embed', reason });
    }
    const wrong = rows.findIndex((value) => !Number.isFinite(value));
    if (wrong >= 0) {
      const reason = `vector ${Math.floor(wrong / dimension)} of a batch has a value that is not a finite number`;
      throw LorekeepError.about('INVALID_ARGUMENT', { field: 'model.embed', reason });
    }
    return rows;
  }
}

function joined(vectors: readonly (Float32Array | readonly number[])[], dimension: number): Float32Array {
  if (!Array.isArray(vectors)) {
    const reason = 'a Float32Array or an array of vectors is expected';
    throw LorekeepError.about('INVALID_ARGUMENT', { field: 'model.embed', reason });
  }
  const rows = new Float32Array(vectors.length * dimension);
  for (const [index, vector] of vectors.entries()) {
    if (vector?.length !== dimension) {
      const reason = `${dimension} numbers per vector are expected, not ${vector?.length}`;
      throw LorekeepError.about('DIMENSION_MISMATCH', { field: 'model.embed', reason });
    }
    rows.set(vector, index * dimension);
  }
  return rows;
}

/** For storages of given vectors: knows the dimension and cannot embed. */
export class NoEmbedder implements TextEmbedder {
  readonly dimension: number;
  readonly facts: TextEmbedder['facts'];

  constructor(dimension: number) {
    this.dimension = dimension;
    this.facts = { fingerprint: '', dimension, contextSize: 0 };
  }

  async embedSettled(): Promise<never> {
    const reason = 'this storage has no model; give the embedding of the query, or search in lexical mode';
    throw LorekeepError.about('INVALID_ARGUMENT', { field: 'vector', reason });
  }
}

/** Whether a value is an embedder of one's own. */
export function isEmbedder(value: unknown): value is Embedder {
  const { embed, dimension } = (value ?? {}) as Partial<Embedder>;
  return typeof embed === 'function' && dimension !== undefined && !(value instanceof EmbeddingModel);
}

function refuse(field: string, expected: string): LorekeepError {
  return LorekeepError.about('INVALID_ARGUMENT', {
    field: `model.${field}`,
    reason: `${expected} is expected`,
  });
}
