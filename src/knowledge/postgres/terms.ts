import { queryTokens, type Tokenizer, tokenize, tokensOfDocument } from '../../../lib/internal.js';

/** A term that a query looks for. */
export interface QueryTerm {
  readonly term: string;
  /** Index of the word of the query that it is, or is a variant of; -1: a compound. */
  readonly word: number;
  readonly occurrences: number;
  /** Share of its weight if some record has that word as typed, and if none has. */
  readonly known: number;
  readonly unknown: number;
}

/** Returns the terms of a query: its distinct words first, in order. */
export function queryTerms(text: string, tokenizer: Tokenizer): { terms: QueryTerm[]; words: number } {
  const { words, compounds } = queryTokens(text, tokenizer);
  const counts = new Map<string, number>();
  for (const { term } of words) counts.set(term, (counts.get(term) ?? 0) + 1);
  const distinct = [...counts.keys()];
  const terms = distinct.map((term, word): QueryTerm => {
    return { term, word, occurrences: counts.get(term) as number, known: 1, unknown: 1 };
  });
  const variants = new Map(words.map(({ term, variants = [] }) => [term, variants]));
  for (const [word, typed] of distinct.entries())
    for (const { term, known, unknown } of variants.get(typed) ?? [])
      terms.push({ term, word, occurrences: counts.get(typed) as number, known, unknown });
  for (const { term, occurrences, share } of compounds)
    terms.push({ term, word: -1, occurrences, known: share, unknown: share });
  return { terms, words: distinct.length };
}

/** Returns BM25's weight of a term, without the rounding to 32 bits. */
const weightOf = (documents: number, withTerm: number, occurrences: number) =>
  Math.log1p((documents - withTerm + 0.5) / (withTerm + 0.5)) * 2.2 * occurrences;

/** Returns the largest BM25 score that a record could have. `found`: the records with each term. */
export function bm25Limit(terms: readonly QueryTerm[], found: readonly number[], documents: number): number {
  const most = documentsOfWords(terms, found);
  return terms.reduce((sum, { word, occurrences, known }, index) => {
    const withTerm = found[index] ?? 0;
    if (word < 0) return withTerm === 0 ? sum : sum + known * weightOf(documents, withTerm, occurrences);
    return index === word ? sum + weightOf(documents, most[word] as number, occurrences) : sum;
  }, 0);
}

/** Returns for each word the records with it or its most frequent variant. */
export function documentsOfWords(terms: readonly QueryTerm[], found: readonly number[]): number[] {
  const most: number[] = [];
  for (const [index, { word }] of terms.entries())
    if (word >= 0) most[word] = Math.max(most[word] ?? 0, found[index] ?? 0);
  return most;
}

/** Largest frequency that counts. */
const maxFrequency = 65_535;

export interface DocumentTerms {
  /** Number of words. */
  readonly length: number;
  readonly frequencies: ReadonlyMap<string, number>;
}

/** Returns the terms under which a text is found. */
export function documentTerms(text: string, tokenizer: Tokenizer): DocumentTerms {
  const frequencies = new Map<string, number>();
  for (const term of tokensOfDocument(text, tokenizer))
    frequencies.set(term, Math.min(maxFrequency, (frequencies.get(term) ?? 0) + 1));
  return { length: tokenize(text, tokenizer).length, frequencies };
}
