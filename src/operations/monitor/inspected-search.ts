import { ineffectiveOptions } from '../../../lib/basics.js';
import { LorekeepError, type StorageHit } from '../../../lib/internal.js';
import { nextSlice } from '../../base/waiting/next-slice.js';
import type { KnowledgeSearchOptions, SearchableStorage, SearchOutcome } from '../../knowledge/index.js';
import { usualDefaults } from '../../knowledge/search-defaults.js';
import type { PreparedOptions } from '../../knowledge/searchable.js';

/** Hits that are searched for a record: the most that a search gives. */
export const deepestRank = 1000;

/** Most `candidates` of a search. */
const maxCandidates = 10_000;

/** With the storage's defaults, so that each can be left out. */
export type InspectedOptions = PreparedOptions &
  Pick<KnowledgeSearchOptions, 'text' | 'variables' | 'signal'>;

/** The best hits of one leg. */
export interface Leg {
  hits: readonly StorageHit[];
  /** Why the leg alone found nothing. */
  problem?: string;
}

/** Options that choose hits from the ranking. */
const unchosen = { offset: undefined, groupBy: undefined, groupSize: undefined, dropDuplicates: undefined };

/** Options that drop hits by their relevance. */
const undropped = { minScore: undefined, minBest: undefined, minByLeg: undefined };

/** Runs a search on a thread of the operators' share. */
export type Compute = <T>(work: () => Promise<T>) => Promise<T>;

/** A search that can be repeated with other options. */
export class InspectedSearch {
  readonly storage: SearchableStorage;
  readonly options: InspectedOptions;
  readonly #compute: Compute;

  constructor(storage: SearchableStorage, options: InspectedOptions, compute: Compute) {
    this.storage = storage;
    this.options = options;
    this.#compute = compute;
  }

  /** Options of the search that have no effect in another mode, or without a filter, are left out. */
  run(changes: Partial<InspectedOptions> = {}): Promise<SearchOutcome> {
    const options = { ...this.options, ...changes };
    const without = ineffectiveOptions(options.mode, options).map(({ option }) => [option, undefined]);
    const variables = options.filter === undefined ? undefined : options.variables;
    const query = { ...options, variables, ...Object.fromEntries(without) };
    return this.#compute(() => this.storage.searchInSlices(query, nextSlice, usualDefaults));
  }

  /** The first hits of a leg alone. It may be impossible: a text without words, or longer than the model's context. */
  async leg(mode: 'dense' | 'lexical', depth: number, changes: Partial<InspectedOptions> = {}): Promise<Leg> {
    try {
      const plain = { recency: undefined, importance: undefined };
      const alone = { ...unchosen, ...plain, ...undropped, mode, topK: depth };
      return { hits: (await this.run({ ...alone, ...changes })).hits };
    } catch (error) {
      if (!(error instanceof LorekeepError) || error.code === 'CANCELLED') throw error;
      return { hits: [], problem: error.message };
    }
  }

  /** Records of each leg that a hybrid search fuses, as it chooses them by default. */
  get candidates(): number {
    const { topK, rrf, scores } = this.options;
    const ranked = this.#ranksAll ? deepestRank : topK;
    return Math.min(
      maxCandidates,
      Math.max(ranked, rrf?.candidates ?? scores?.candidates ?? Math.max(50, 4 * ranked)),
    );
  }

  /** The ranking that the hits are chosen from, deeper where that does not change it. */
  async ranking(): Promise<readonly StorageHit[]> {
    const { mode, rrf, scores, fusion } = this.options;
    const whole = { ...unchosen, ...undropped };
    if (mode !== 'hybrid') return (await this.run({ ...whole, topK: deepestRank })).hits;
    // More candidates would be another search: records far down in both legs could come first.
    const { candidates } = this;
    const fused =
      fusion === 'scores' ? { scores: { ...scores, candidates } } : { rrf: { ...rrf, candidates } };
    return (await this.run({ ...whole, ...fused, topK: Math.min(deepestRank, candidates) })).hits;
  }

  get #ranksAll(): boolean {
    const { offset, groupBy, dropDuplicates } = this.options;
    return offset !== undefined || groupBy !== undefined || dropDuplicates !== undefined;
  }
}
