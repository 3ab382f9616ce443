import { choiceArgument, hitsArgument, stringArgument, threadsArgument } from '../boundary/arguments.js';
import { binding } from '../boundary/binding.js';
import { LorekeepError, translateError } from '../boundary/errors.js';
import { countHeld } from '../boundary/event-loop-share.js';
import { Handle } from '../boundary/handle.js';
import { textResult as head, indexHit } from '../boundary/layout.gen.js';
import type { NativeQueryTokens, NativeTextIndex } from '../boundary/native.js';
import { type CallOptions, callNative, describe, toArena } from '../boundary/native-call.js';
import type { Records } from './records.js';
import { readHits, resultNumbers } from './result-numbers.js';
import type { SaveIndexOptions } from './vector-index.js';

/**
 * "basic": Unicode casefold, split at every character that is not a letter or a number.
 * "enhanced": the same, then drops English stopwords and strips common suffixes.
 * "multilingual": also compatibility folding; overlapping pairs of characters for scripts without spaces between words
 * (Chinese, Japanese, Thai, Lao, Khmer, Myanmar) and for Korean; marks stay in words; diacritics may be omitted; words
 * match if their first five letters do; "C++", "node.js", "1.4.2", paths and identifiers are found whole and by part.
 */
export type Tokenizer = (typeof tokenizers)[number];

const tokenizers = ['basic', 'enhanced', 'multilingual'] as const;

/** The best one measured on English collections: docs/measurements. Knowledge base configs and the protocol default to "basic". */
const defaultTokenizer = 'enhanced';

export interface TextIndexOptions {
  /** Default "enhanced". */
  tokenizer?: Tokenizer | undefined;
  /** Building threads; 0 (default): all that the process may use. */
  threads?: number | undefined;
}

export interface LoadTextIndexOptions extends CallOptions {
  /** Required properties of the file. Default: any. */
  expected?: { tokenizer: Tokenizer; documents: number; fingerprint: string } | undefined;
  /**
   * Check all posting lists now, about 10 ns per posting, instead of each at its first use. Checksums detect damage in
   * either case; this detects forged files. Default false.
   */
  complete?: boolean | undefined;
}

export interface TextSearchOptions extends CallOptions {
  /** Hits, 1 to 10,000, default 10. Fewer come back only when fewer texts contain any of the words. */
  k?: number | undefined;
  /** Ordinals of the texts that may be found, in any order. Default: all. */
  filter?: Uint32Array | undefined;
}

export interface TextHits {
  /** Text numbers, best first; equal scores in text order. */
  ordinals: Uint32Array;
  /** Okapi BM25 scores (k1 1.2, b 0.75), greater than 0. */
  scores: Float32Array;
  /** The words of the tokenized query. If empty, nothing can be found. */
  terms: string[];
  /** Texts whose score was computed; the others could not reach the top k. */
  scored: number;
}

export interface TokenizerFit {
  /** Texts without a word, which are never found. */
  emptyTexts: number;
  /**
   * Share of distinct words, 0 to 1, estimated from a sample, in scripts that "basic" and "enhanced" split wrongly; 0 for
   * "multilingual".
   */
  unsuitedWords: number;
}

export function tokenizerArgument(value: Tokenizer | undefined): Tokenizer {
  return choiceArgument('tokenizer', value, defaultTokenizer, tokenizers);
}

/** @internal Returns all tokens under which an index stores a text: its words, and others that make no length. */
export const tokensOfDocument = (text: string, tokenizer: Tokenizer): string[] =>
  binding.tokenize(text, tokenizer, 'document');

/** @internal Returns the terms by which a query finds texts. */
export const queryTokens = (text: string, tokenizer: Tokenizer): NativeQueryTokens =>
  binding.tokenize(text, tokenizer, 'query');

/** Returns the words under which an index would store a text. Invalid UTF-16 becomes U+FFFD, which separates words. */
export function tokenize(text: string, tokenizer: Tokenizer = defaultTokenizer): string[] {
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

/** Texts searched by words with Okapi BM25. Immutable once built; stores the words, not the texts. */
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
   * Opens a file written by save(), memory-mapped. Checksums are checked now, the structure of each posting list at its
   * first use: with a forged file, search() then throws CORRUPT.
   * @throws NOT_FOUND, IO, CORRUPT, UNSUPPORTED (another format version, or a mismatch with `expected`; `detail.mismatch`
   * is "version", "tokenizer", "analysis", "documents" or "fingerprint").
   */
  static async load(path: string, options: LoadTextIndexOptions = {}): Promise<TextIndex> {
    const file = stringArgument('path', path);
    return callNative(
      options.signal,
      async (cancel) =>
        new TextIndex(await binding.loadTextIndex(file, options.expected, options.complete ?? false, cancel)),
    );
  }

  /** Indexes the texts of records without copying them. @throws OUT_OF_MEMORY, CANCELLED. */
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

  /** Number of texts. */
  get size(): number {
    return this.read((native) => native.size);
  }

  /** Number of distinct words. */
  get terms(): number {
    return this.read((native) => native.terms);
  }

  get tokenizer(): Tokenizer {
    return this.read((native) => native.tokenizer as Tokenizer);
  }

  /** Returns how well the tokenizer suits the texts. @throws CLOSED */
  tokenizerFit(): TokenizerFit {
    return this.read(() => this.handle.tokenizerFit());
  }

  /** Memory in bytes, mapped files included. */
  get memoryBytes(): number {
    return this.read((native) => native.memoryBytes);
  }

  /** Returns the k best texts for the words of `query`. @throws INVALID_ARGUMENT, CLOSED, CANCELLED. */
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

  /** Searches on this thread. Returns undefined if the search takes too long for it. */
  #searchNow(query: string, k: number): TextHits | undefined {
    const numbers = resultNumbers(head.numbers + indexHit.numbers * k);
    const terms = this.read((native) => native.searchNow(query, k, numbers));
    countHeld(numbers[head.held] as number);
    return terms && textHits(numbers, terms);
  }

  /**
   * Writes the index next to `path` and renames it into place. @throws INVALID_ARGUMENT (`path` is a file that is not a text
   * index), IO, CLOSED, CANCELLED.
   */
  async save(path: string, options: SaveIndexOptions = {}): Promise<void> {
    const file = stringArgument('path', path);
    return this.run(options.signal, (native, cancel) =>
      native.save(file, options.fingerprint, cancel, options.owner),
    );
  }
}
