import { tokenize } from '../../../../lib/internal.js';
import { mapInSlices } from '../../../base/waiting/next-slice.js';
import { wordsOfQuestion } from '../../../base/words/words-of-questions.js';
import type { KnowledgeSource } from '../../interaction.js';

/** Fewer records say little about how rare a word is. */
const fewRecords = 10;

/** Returns a scorer for each source, by node. Looking up the words of a long query takes some milliseconds. */
export async function sentenceScorers(
  sources: readonly (readonly [string, KnowledgeSource])[],
): Promise<Map<string, SentenceScorer>> {
  return new Map(
    await mapInSlices(sources, ([node, source]) => [node, new SentenceScorer(source)] as const, 1),
  );
}

/** Scores sentences by the words they share with a query. */
export class SentenceScorer {
  readonly #tokenizer: KnowledgeSource['storage']['tokenizer'];
  readonly #weights = new Map<string, number>();
  readonly #total: number;

  /**
   * Weights each query word by its BM25 idf in the storage. In one of few records, words that say nothing have no weight, and words
   * that no record has count as if one had them: else these would weigh most.
   */
  constructor({ query, storage }: KnowledgeSource) {
    this.#tokenizer = storage.tokenizer;
    const { size } = storage;
    const isSmall = size < fewRecords;
    const empty = new Set(isSmall ? tokenize(wordsOfQuestion(query).join(' '), this.#tokenizer) : []);
    for (const word of tokenize(query, this.#tokenizer)) {
      if (this.#weights.has(word) || empty.has(word)) continue;
      const found = storage.documentFrequency(word);
      const records = isSmall ? Math.max(found, 1) : found;
      this.#weights.set(word, Math.log(1 + (size - records + 0.5) / (records + 0.5)));
    }
    this.#total = [...this.#weights.values()].reduce((sum, weight) => sum + weight, 0);
  }

  /** Returns the share of the query's total weight that the sentence's words cover, 0 to 1. */
  score(sentence: string): number {
    if (this.#total === 0) return 0;
    let found = 0;
    for (const word of new Set(tokenize(sentence, this.#tokenizer))) found += this.#weights.get(word) ?? 0;
    return Math.min(1, found / this.#total);
  }
}
