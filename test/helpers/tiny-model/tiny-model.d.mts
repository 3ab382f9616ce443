import { type TensorType } from './gguf-writer.mjs';
import { type VocabularyLimits } from './wordpiece-vocabulary.mjs';
export interface TinyModelOptions {
  /** What the model is going to embed, or texts like it: its words become the vocabulary, their frequencies weights. */
  texts: Iterable<string>;
  /** Where the GGUF file goes. Folders are made. */
  path: string;
  /** Numbers per embedding: a multiple of 32 from 32 to 1024. Default 256. */
  dimension?: number;
  /** Longest text in tokens, 8 to 8192. Default 512. */
  contextSize?: number;
  /** Another seed gives other, equally good directions. Default 1. */
  seed?: number;
  /** How the token vectors are stored. Default F16. */
  weightType?: TensorType;
  vocabulary?: VocabularyLimits;
  /** Default WordPiece. */
  tokenizer?: 'wordpiece' | 'unigram';
}
export interface TinyModelFacts {
  path: string;
  /** Tokens in the vocabulary. */
  tokens: number;
  bytes: number;
}
/**
 * Writes a small embedding model that llama.cpp runs: a BERT of one layer whose weights are zero, over vectors that
 * are frequency-weighted random projections of words. The cosine of two texts is the weighted overlap of their words
 * and parts of words. It knows no meanings; it is instant, needs no download and is the same everywhere, for
 * demonstrations, examples and tests. Same options, same bytes.
 */
export declare function createTinyModel(options: TinyModelOptions): Promise<TinyModelFacts>;
