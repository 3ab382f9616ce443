import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { calibrationOptions, type RankingFields, rankingOptions } from '../../lib/basics.js';
import type { Calibration } from '../../lib/internal.js';
import { configFields, frameFields } from '../search/option-fields.js';
import { fromFields, toFields } from '../search/option-names.js';
import { bestDefaults, type SearchDefaults, usualDefaults } from './search-defaults.js';

const calibrationOf = (mode: string) =>
  z
    .strictObject(frameFields<Calibration>(calibrationOptions))
    .optional()
    .describe(`Of ${mode} searches. Default: no correction.`);

const ranking = configFields<RankingFields & { ef_search?: number | undefined }>(rankingOptions);
const { min_best } = ranking;

const fields = {
  ...ranking,
  min_best: z
    .union([min_best.unwrap(), z.strictObject({ dense: min_best, lexical: min_best, hybrid: min_best })])
    .optional()
    .describe(`${rankingOptions.minBest.text} One number, or one for each mode: modes estimate differently.`),
  relevance: z
    .strictObject({
      dense: calibrationOf('dense'),
      lexical: calibrationOf('lexical'),
      hybrid: calibrationOf('hybrid'),
    })
    .optional()
    .describe(
      'Corrects the relevance of hits, as lorekeep eval prints it for questions that you have judged: docs/concepts/relevance.md.',
    ),
};

/** `search` of a config: what searches use where they say nothing. */
export const searchConfigSchema = z.strictObject(fields);

type SearchConfig = z.output<typeof searchConfigSchema>;

const earlier = <Name extends keyof typeof fields>(name: Name): (typeof fields)[Name] =>
  fields[name].describe(`Earlier place of \`search.${name}\`.`) as (typeof fields)[Name];

/** Fields of configs that were written before there was `search`. */
export const earlierFields = {
  fusion: earlier('fusion'),
  lexical: earlier('lexical'),
  relevance: earlier('relevance'),
};
export const earlierEf = earlier('ef_search');

interface Stated {
  fusion?: SearchConfig['fusion'];
  lexical?: SearchConfig['lexical'];
  relevance?: SearchConfig['relevance'];
  hnsw?: { ef_search?: number | undefined } | undefined;
  search?: SearchConfig | undefined;
}

/** Returns the defaults that a config states in both places, and the problem with each. */
export function statedTwice({ search = {}, hnsw, ...config }: Stated): { path: string[]; message: string }[] {
  const earlier: Readonly<Record<string, unknown>> = { ...config, ef_search: hnsw?.ef_search };
  return [...Object.keys(earlierFields), 'ef_search']
    .filter((name) => earlier[name] !== undefined && search[name as keyof typeof search] !== undefined)
    .map((name) => ({
      path: name === 'ef_search' ? ['hnsw', name] : [name],
      message: `search.${name} states the same default; keep search.${name} alone`,
    }));
}

/** Returns a config whose defaults of searches are all in `search`. */
export function withSearch<Config extends Stated>(config: Config): Config {
  const { fusion, lexical, relevance, hnsw, search, ...rest } = config;
  const { ef_search, ...build } = hnsw ?? {};
  const stated = Object.entries({ fusion, lexical, relevance, ef_search, ...search });
  return {
    ...rest,
    ...(hnsw && { hnsw: build }),
    search: Object.fromEntries(stated.filter(([, value]) => value !== undefined)),
  } as Config;
}

/** Returns the defaults of searches in a knowledge base. */
export function searchDefaults({ relevance, min_best, ...search }: SearchConfig = {}): SearchDefaults {
  const { rrf, scores } = search;
  const implied = rrf === undefined && scores !== undefined ? { fusion: 'scores' as const } : undefined;
  const minBest = typeof min_best === 'object' ? undefined : min_best;
  const minBestIn = typeof min_best === 'object' ? min_best : undefined;
  return {
    ...usualDefaults,
    ...implied,
    ...fromFields(rankingOptions, search),
    minBest,
    minBestIn,
    relevance,
  };
}

/** Returns the defaults as `search` of a config. */
export function searchConfig({ relevance, minBestIn, ...defaults }: SearchDefaults): object {
  return {
    ...toFields(rankingOptions, defaults),
    ...(minBestIn && { min_best: minBestIn }),
    ...(relevance && { relevance }),
  };
}

/** The best defaults measured. */
const bestSearch = searchConfig(bestDefaults);

/**
 * Returns the search that commands write into configs. `unfit`: the model does not know the language of many texts; `learned`: limits of
 * this knowledge base.
 */
export function writtenSearch({
  unfit = false,
  learned,
}: {
  unfit?: boolean;
  learned?: object | undefined;
} = {}): object {
  return { ...bestSearch, ...(unfit && { mode: 'lexical' }), ...learned };
}

/** Returns the defaults that a user has set: those of a config that differ from what a command wrote, earlier versions `min_best` alone. */
export function ownSearch(present: object, written: object = { min_best: 0.04 }): object {
  const before: Readonly<Record<string, unknown>> = { ...written };
  return Object.fromEntries(
    Object.entries(present).filter(([name, value]) => !isDeepStrictEqual(value, before[name])),
  );
}
