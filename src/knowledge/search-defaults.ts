import { type Option, type RankingOptions, rankingOptions } from '../../lib/basics.js';
import type { FusionMethod, SearchMode } from '../../lib/internal.js';
import type { Calibrations } from './calibrate.js';

/** What searches in a storage use where they say nothing: `search` in the config of a knowledge base. */
export interface SearchDefaults extends RankingOptions {
  mode: SearchMode;
  topK: number;
  fusion: FusionMethod;
  /** `minBest` of searches in a mode. */
  minBestIn?: { readonly [Mode in SearchMode]?: number | undefined } | undefined;
  /** Corrections of the relevance of hits. */
  relevance?: Calibrations | undefined;
}

const defaults = (of: (option: Option) => unknown) =>
  Object.fromEntries(
    Object.entries<Option>(rankingOptions).flatMap(([name, option]) =>
      of(option) === undefined ? [] : [[name, of(option)]],
    ),
  );

/** The defaults of inline storages of frames, and of configs where they say nothing. */
export const usualDefaults = defaults(({ usual }) => usual) as unknown as SearchDefaults;

/** The best ones measured: those of storages that the library makes. Commands write them into configs. */
export const bestDefaults: SearchDefaults = { ...usualDefaults, ...defaults(({ best }) => best) };
