import { integerArgument, stringArgument, threadsArgument } from '../boundary/arguments.js';
import { binding } from '../boundary/binding.js';
import { LorekeepError } from '../boundary/errors.js';
import { Handle } from '../boundary/handle.js';
import type { NativeReranker, RerankerFacts } from '../boundary/native.js';
import {
  type CallOptions,
  callNative,
  describe,
  type ProgressOptions,
  toArena,
} from '../boundary/native-call.js';

export type { RerankerFacts } from '../boundary/native.js';

export interface LoadRerankerOptions extends ProgressOptions {
  /** Longest pair of query and document in tokens. 0 (default): the model's training context, at most 512. */
  contextSize?: number | undefined;
  /** Threads; 0 (default): all that the process may use. */
  threads?: number | undefined;
}

export interface RankOptions extends CallOptions {
  /** Maximum number of documents in the result. Default: all. */
  topK?: number | undefined;
}

export interface Ranking {
  /** Best first; equal scores in the order of the documents. `score` is comparable within one model only. */
  readonly results: readonly { readonly index: number; readonly score: number }[];
  /** Indexes of documents truncated to fit the context with the query, ascending. */
  readonly truncated: readonly number[];
  /** Tokens computed. */
  readonly tokens: number;
}

const maxResults = 1_000_000;

/** A GGUF cross-encoder on the CPU, which scores documents for a query. Calls may overlap. */
export class Reranker extends Handle<NativeReranker> {
  /**
   * Loads a model file after checking it.
   * @throws NOT_FOUND, IO, MODEL_INVALID (not GGUF, truncated, damaged), UNSUPPORTED (no classification head), CANCELLED
   */
  static async load(path: string, options: LoadRerankerOptions = {}): Promise<Reranker> {
    const file = stringArgument('path', path);
    const native = {
      contextSize: integerArgument('contextSize', options.contextSize, 0, 0, 1_048_576),
      threads: threadsArgument(options.threads),
    };
    return callNative(
      options.signal,
      async (cancel) => new Reranker(await binding.loadReranker(file, native, cancel, options.onProgress)),
    );
  }

  get facts(): RerankerFacts {
    return this.read((native) => native.facts);
  }

  /**
   * Scores every document for the query and sorts them. The scores equal the scores of llama-server's `/rerank`; a document's does
   * not depend on the others.
   * @throws INVALID_ARGUMENT (an empty query), TEXT_TOO_LONG (a query that leaves no room for a document), MODEL_INVALID
   * (scores that are not numbers), CANCELLED
   */
  async rank(query: string, documents: readonly string[], options: RankOptions = {}): Promise<Ranking> {
    if (typeof query !== 'string') {
      throw new LorekeepError('INVALID_ARGUMENT', `query: a string is expected, not ${describe(query)}`);
    }
    const topK = integerArgument('topK', options.topK, maxResults, 1, maxResults);
    const { signal } = options;
    return this.run(signal, async (native, cancel) => {
      const arena = await toArena(documents, 'documents', signal);
      const { scores, ...facts } = await native.rank(query, arena, cancel);
      const results = Array.from(scores, (score, index) => ({ index, score }));
      results.sort((a, b) => b.score - a.score || a.index - b.index);
      return { ...facts, results: results.slice(0, topK) };
    });
  }
}
