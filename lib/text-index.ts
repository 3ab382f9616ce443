import { choiceArgument, hitsArgument, stringArgument, threadsArgument } from './arguments.js';
import { binding } from './binding.js';
import { LorekeepError, translateError } from './errors.js';
import { countHeld } from './event-loop-share.js';
import { Handle } from './handle.js';
import { textResult as head, indexHit } from './layout.gen.js';
import type { NativeTextIndex } from './native.js';
import { type CallOptions, callNative, describe, toArena } from './native-call.js';
import type { Records } from './records.js';
import { readHits, resultNumbers } from './result-numbers.js';
import type { SaveIndexOptions } from './vector-index.js';

/**
 * "basic": Unicode casefold, split on everything that is not a letter or a number.
 * "enhanced": the same, then English stopwords are dropped and a light suffix strip is applied.
 * "multilingual": compatibility folding too; overlapping pairs of characters where a script puts no spaces between words
 * (Chinese, Japanese, Thai, Lao, Khmer, Myanmar) and in Korean; marks stay in words; diacritics need not be typed; words
 * that begin with the same five letters find each other.
 */
export type Tokenizer = 'basic' | 'enhanced' | 'multilingual';

const tokenizers: readonly Tokenizer[] = ['basic', 'enhanced', 'multilingual'];

export interface TextIndexOptions {
  /** Default "basic". */
  tokenizer?: Tokenizer | undefined;
  /** Threads that build, 0 (default): all that the process may use. */
  threads?: number | undefined;
}

export interface LoadTextIndexOptions extends CallOptions {
  /** What the file must have been made from. Default: anything. */
  expected?: { tokenizer: Tokenizer; documents: number; fingerprint: string } | undefined;
  /**
   * Check all postings now, about 10 ns each, instead of a word's when it is first asked for. Damage is found in either
   * case, by checksums; this finds a file that was forged. Default false.
   */
  complete?: boolean | undefined;
}

export interface TextSearchOptions extends CallOptions {
  /** Hits, 1 to 10,000, default 10. Fewer come back only when fewer texts hold any of the words. */
  k?: number | undefined;
  /** Ordinals of the texts that may be found, in any order. Default: all. */
  filter?: Uint32Array | undefined;
}

export interface TextHits {
  /** Text numbers, best first; equal scores in text order. */
  ordinals: Uint32Array;
  /** Okapi BM25 scores (k1 1.2, b 0.75), greater than 0. */
  scores: Float32Array;
  /** The query's words after the tokenizer. Empty: the query had none, and nothing can be found. */
  terms: string[];
  /** Texts whose score was computed; the rest was skipped because it could not reach the top k. */
  scored: number;
}

export interface TokenizerFit {
  /** Texts without a single word, which are never found. */
  emptyTexts: number;
  /**
   * Share of the different words, 0 to 1, estimated from a sample, that are of scripts which "basic" and "enhanced" do not
   * take apart rightly; 0 for "multilingual".
   */
  unsuitedWords: number;
}

export function tokenizerArgument(value: Tokenizer | undefined): Tokenizer {
  return choiceArgument('tokenizer', value, 'basic', tokenizers);
}

/** The words that an index would make of a text. Invalid UTF-16 becomes U+FFFD, which separates words. */
export function tokenize(text: string, tokenizer: Tokenizer = 'basic'): string[] {
  if (typeof text !== 'string') {
    throw new LorekeepError('INVALID_ARGUMENT', `text: a string is expected, not ${describe(text)}`);
  }
  try {
    return binding.tokenize(text, tokenizerArgument(tokenizer));
  } catch (error) {
    throw translateError(error);
  }
}

function textHits(numbers: Float64Array, terms: string[]): TextHits {
  const { ordinals, values } = readHits(numbers, head.numbers, numbers[head.hits] as number);
  return { ordinals, scores: values, terms, scored: numbers[head.scored] as number };
}

/** Texts, searched by their words with Okapi BM25. Immutable once built; holds the words, not the texts. */
export class TextIndex extends Handle<NativeTextIndex> {
  /**
   * Indexes `texts`; a text's number is its position. Empty texts are allowed and never found.
   * @throws INVALID_ARGUMENT, OUT_OF_MEMORY, CANCELLED.
   */
  static async build(
    texts: readonly string[],
    options: TextIndexOptions & CallOptions = {},
  ): Promise<TextIndex> {
    const tokenizer = tokenizerArgument(options.tokenizer);
    const threads = threadsArgument(options.threads);
    const arena = await toArena(texts, 'texts', options.signal);
    return callNative(
      options.signal,
      async (cancel) => new TextIndex(await binding.buildTextIndex(arena, tokenizer, threads, cancel)),
    );
  }

  /**
   * Opens a file written by save(). It is memory-mapped; its checksums are checked now, and what a word's postings say of
   * themselves when the word is first asked for: search() then throws CORRUPT, if the file was forged.
   * @throws NOT_FOUND, IO, CORRUPT, UNSUPPORTED (another format version, or not what is expected; `detail.mismatch` says
   * which: "version", "tokenizer", "analysis", "documents" or "fingerprint").
   */
  static async load(path: string, options: LoadTextIndexOptions = {}): Promise<TextIndex> {
    const file = stringArgument('path', path);
    return callNative(
      options.signal,
      async (cancel) =>
        new TextIndex(await binding.loadTextIndex(file, options.expected, options.complete ?? false, cancel)),
    );
  }

  /** Indexes the texts of records where they are. @throws OUT_OF_MEMORY, CANCELLED. */
  static async fromRecords(
    records: Records,
    options: TextIndexOptions & CallOptions = {},
  ): Promise<TextIndex> {
    const tokenizer = tokenizerArgument(options.tokenizer);
    const threads = threadsArgument(options.threads);
    return callNative(
      options.signal,
      async (cancel) => new TextIndex(await binding.indexRecords(records.handle, tokenizer, threads, cancel)),
    );
  }

  /** Texts. */
  get size(): number {
    return this.read((native) => native.size);
  }

  /** Different words. */
  get terms(): number {
    return this.read((native) => native.terms);
  }

  get tokenizer(): Tokenizer {
    return this.read((native) => native.tokenizer as Tokenizer);
  }

  /** Whether the tokenizer suits the texts. @throws CLOSED */
  tokenizerFit(): TokenizerFit {
    return this.handle.tokenizerFit();
  }

  /** Bytes held, mapped files included. */
  get memoryBytes(): number {
    return this.read((native) => native.memoryBytes);
  }

  /** The k best texts for the words of `query`. @throws INVALID_ARGUMENT, CLOSED, CANCELLED. */
  async search(query: string, options: TextSearchOptions = {}): Promise<TextHits> {
    const k = hitsArgument(options.k);
    if (typeof query !== 'string') {
      throw new LorekeepError('INVALID_ARGUMENT', `query: a string is expected, not ${describe(query)}`);
    }
    const { signal, filter } = options;
    const now = filter === undefined ? () => this.#searchNow(query, k) : undefined;
    return this.runSearch(signal, now, async (native, cancel) =>
      textHits(...(await native.search(query, k, filter, cancel))),
    );
  }

  /** The hits of a search that is short enough to be done on this thread. */
  #searchNow(query: string, k: number): TextHits | undefined {
    const numbers = resultNumbers(head.numbers + indexHit.numbers * k);
    const terms = this.read((native) => native.searchNow(query, k, numbers));
    countHeld(numbers[head.held] as number);
    return terms && textHits(numbers, terms);
  }

  /**
   * Writes the index beside `path` and renames it into place. @throws INVALID_ARGUMENT (another file than a text index is
   * there), IO, CLOSED, CANCELLED.
   */
  async save(path: string, options: SaveIndexOptions = {}): Promise<void> {
    const file = stringArgument('path', path);
    return this.run(options.signal, (native, cancel) =>
      native.save(file, options.fingerprint, cancel, options.owner),
    );
  }
}
