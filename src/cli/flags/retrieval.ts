import type { Command } from 'commander';
import {
  ineffectiveOptions,
  type RankingOptions,
  type ResultOptions,
  searchOptions,
} from '../../../lib/basics.js';
import { UsageError } from '../failure.js';
import { addLexicalFlags, type LexicalFlags } from './lexical.js';
import { addOptionFlags, flagOf, givenOptions } from './options.js';

/** The search flags of `search` and `ask`. */
export interface RetrievalFlags
  extends LexicalFlags,
    Omit<RankingOptions, 'lexical' | 'feedback'>,
    Omit<ResultOptions, 'dropDuplicates'> {
  dropDuplicates?: number;
  feedback?: number;
  /** Name of a reranker; true: the default one. */
  rerank?: string | true;
  filter?: string;
  variables?: string;
}

export function addRetrievalFlags(command: Command): Command {
  return addLexicalFlags(
    addOptionFlags(command, searchOptions)
      .option(
        '--rerank [model]',
        'a reranker sorts the hits: its name (default: the first one of the catalog whose file is present)',
      )
      .option('--filter <json>', 'a predicate that records must match (docs/reference/filters.md), or @FILE')
      .option('--variables <json>', "values of the filter's variables: an object, or @FILE"),
  );
}

/** Returns the flags that need no parsing, as options of the library and fields of a request. */
export const searchFields = (
  flags: RetrievalFlags,
): Omit<RetrievalFlags, 'rerank' | 'filter' | 'variables' | keyof LexicalFlags> =>
  givenOptions(searchOptions, flags);

/** Returns the `rerank` of a request. */
export function rerankRequest({ rerank }: RetrievalFlags): { model?: string } | undefined {
  if (rerank === undefined) return undefined;
  return rerank === true ? {} : { model: rerank };
}

/** @throws UsageError for a flag without effect in the mode, and for variables without a filter or a graph that uses them */
export function requireEffect(flags: RetrievalFlags & { graph?: string }): void {
  const { mode, filter, variables, graph } = flags;
  const [first] = mode === undefined ? [] : ineffectiveOptions(mode, searchFields(flags));
  if (first !== undefined) throw new UsageError(`${flagOf(first.option)}: ${first.reason}`);
  if (variables !== undefined && filter === undefined && graph === undefined)
    throw new UsageError('--variables: it has no effect without --filter');
}
