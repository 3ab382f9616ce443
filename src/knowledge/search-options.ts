import {
  type Option,
  type Options,
  type RankingOptions,
  rankingOptions,
  refuseIneffective,
  searchOptions,
} from '../../lib/basics.js';
import {
  checkHighlight,
  fusionMethod,
  LorekeepError,
  type SearchMode,
  type StorageSearchOptions,
  searchModes,
} from '../../lib/internal.js';
import { checkOptionNames, type OptionNames } from './option-names.js';
import type { RerankOptions } from './rerank.js';
import type { ResultOptions } from './result-options.js';
import type { SearchDefaults } from './search-defaults.js';

export interface KnowledgeSearchOptions
  extends Omit<StorageSearchOptions, 'text' | 'calibration'>,
    ResultOptions {
  /** The query. A dense search with `vector` or `similarTo` does not use it: it may then be empty. */
  text: string;
  /** Sorts the hits with a reranker: docs/concepts/relevance.md. */
  rerank?: RerankOptions | undefined;
}

/** The options with the defaults of the storage. */
export type CompleteOptions = KnowledgeSearchOptions & { mode: SearchMode; topK: number };

type Subject = Omit<KnowledgeSearchOptions, keyof typeof searchOptions>;

const subject: OptionNames<Subject> = {
  text: true,
  vector: true,
  highlight: true,
  filter: true,
  variables: true,
  rerank: true,
  similarTo: true,
  signal: true,
};

const known = { ...searchOptions, ...subject };

/**
 * Checks the names of the options and whether they have an effect in the mode, and fills in the defaults that have one.
 * @throws INVALID_ARGUMENT for an unknown option, with the nearest name; for an option without effect
 */
export function completeOptions(
  options: KnowledgeSearchOptions,
  mode: SearchMode,
  defaults: SearchDefaults,
): CompleteOptions {
  checkOptionNames(options, known, 'a search');
  checkInside(options, objects, '');
  if (typeof options.text !== 'string') {
    throw new LorekeepError('INVALID_ARGUMENT', "text: the query's text is expected", { field: 'text' });
  }
  checkHighlight(options.highlight);
  if (!searchModes.includes(mode)) return { ...options, mode, topK: options.topK ?? defaults.topK };
  refuseIneffective(mode, options);
  const usual = defaultsIn(mode, defaults);
  const complete: Record<string, unknown> = { ...usual, ...options, mode };
  for (const [name, option] of ranking) {
    const stated = usual[name];
    if (stated !== undefined) complete[name] = filled(option, complete[name], stated);
  }
  if (options.minBest !== undefined && options.minByLeg === undefined) complete.minByLeg = undefined;
  if (mode === 'hybrid') {
    const { rrf, scores, fusion } = options;
    const stated = rrf === undefined && scores === undefined ? defaults.fusion : undefined;
    complete.fusion = fusionMethod({ fusion: fusion ?? stated, rrf, scores });
    const other = complete.fusion === 'rrf' ? 'scores' : 'rrf';
    if (complete[other] !== undefined) complete[other] = undefined;
  }
  return complete as unknown as CompleteOptions;
}

const ranking = Object.entries<Option>(rankingOptions);

/** Every name: JavaScript copies options fastest over the names that are there. */
const blank = Object.fromEntries(Object.keys(known).map((name) => [name, undefined]));

/** By storage and mode: a search is short, and most state no options. */
const kept = new WeakMap<SearchDefaults, { [Mode in SearchMode]?: Record<string, unknown> }>();

/** Returns the defaults that a mode uses. */
function defaultsIn(mode: SearchMode, defaults: SearchDefaults): Record<string, unknown> {
  const all = kept.get(defaults) ?? {};
  if (all[mode] !== undefined) return all[mode];
  kept.set(defaults, all);
  const used = ranking
    .filter(([, { modes }]) => modes?.includes(mode) ?? true)
    .map(([name]) => [name, defaults[name as keyof RankingOptions]])
    .filter(([, value]) => value !== undefined);
  const minBest = defaults.minBestIn?.[mode] ?? defaults.minBest;
  const own = { ...blank, ...Object.fromEntries(used), ...(minBest !== undefined && { minBest }) };
  all[mode] = own;
  return own;
}

const objectsIn = (options: Options) =>
  Object.entries(options).filter(([, { fields }]) => fields !== undefined);
const objects = objectsIn(searchOptions);

/** Checks the names of the fields of objects. */
function checkInside(given: object, options: typeof objects, prefix: string): void {
  for (const [name, { fields = {} }] of options) {
    const inner = (given as Record<string, object | undefined>)[name];
    if (inner === undefined) continue;
    checkOptionNames(inner, fields, 'a search', `${prefix}${name}.`);
    checkInside(inner, objectsIn(fields), `${prefix}${name}.`);
  }
}

/** Returns the given value, or the usual one; of an object, each field. */
function filled({ fields }: Option, given: unknown, usual: unknown): unknown {
  if (given === undefined) return usual;
  if (fields === undefined || given === usual || usual === undefined) return given;
  const pairs = Object.entries(fields).map(([name, option]) => {
    const [own, other] = [given, usual].map((of) => (of as Record<string, unknown>)[name]);
    return [name, filled(option, own, other)];
  });
  return Object.fromEntries(pairs.filter(([, value]) => value !== undefined));
}
