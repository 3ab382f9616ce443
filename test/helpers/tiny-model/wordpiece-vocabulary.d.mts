/** The special tokens of a BERT vocabulary, in the order of their ids. */
export declare const specialTokens: readonly ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]'];
/** One entry of a WordPiece vocabulary. */
export interface Piece {
  text: string;
  /** Whether it starts a word; pieces that do not continue one ("##" in BERT's own files). */
  start: boolean;
  kind: 'word' | 'prefix' | 'infix' | 'character';
  /** How often the texts have the word, or words with this part. */
  count: number;
}
export interface WordpieceVocabulary {
  /** In the order of their ids, which begin after the special tokens. */
  pieces: Piece[];
  /** Words in the texts, repetitions included. */
  words: number;
}
export interface VocabularyLimits {
  words?: number;
  prefixes?: number;
  infixes?: number;
}
/**
 * A vocabulary of the texts' words, frequent parts of words for the words that it does not know, and every single
 * character, so that any text made of known characters has tokens. Deterministic: same texts, same vocabulary.
 */
export declare function buildVocabulary(
  texts: Iterable<string>,
  limits?: VocabularyLimits,
): WordpieceVocabulary;
