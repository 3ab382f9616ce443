import { type Command, Option } from 'commander';
import { ineffectiveOptions } from '../../../lib/basics.js';
import { integer, number } from '../arguments.js';
import { UsageError } from '../failure.js';
import { addLexicalFlags, type LexicalFlags } from './lexical.js';

/** The search flags of `search` and `ask`. */
export interface RetrievalFlags extends LexicalFlags {
  mode: 'dense' | 'lexical' | 'hybrid';
  topK: number;
  threshold?: number;
  fusion?: 'rrf' | 'scores';
  minScore?: number;
  /** Name of a reranker; true: the default one. */
  rerank?: string | true;
  offset?: number;
  groupBy?: string;
  dropDuplicates?: number | true;
  context?: number;
  filter?: string;
  variables?: string;
}

/** Largest distance of near duplicates, as in the library. */
const defaultDistance = 0.05;

export function addRetrievalFlags(command: Command): Command {
  const added = command
    .addOption(
      new Option('--mode <mode>', 'by meaning, by words, or by both')
        .choices(['dense', 'lexical', 'hybrid'])
        .default('hybrid'),
    )
    .option('--top-k <n>', 'maximum number of hits, 1 to 1000', integer(1, 1000), 5)
    .option(
      '--threshold <d>',
      'largest cosine distance of the dense leg, 0 to 2; not with --mode lexical',
      number(0, 2),
    )
    .addOption(
      new Option(
        '--fusion <fusion>',
        "of hybrid mode: by ranks or by scores (default: the knowledge base's, else scores)",
      ).choices(['rrf', 'scores']),
    )
    .option('--min-score <r>', 'minimum relevance of a hit, 0 to 1', number(0, 1))
    .option(
      '--rerank [model]',
      'a reranker sorts the hits: its name (default: the first one of the catalog whose file is present)',
    )
    .option('--offset <n>', 'hits to skip, for the next page', integer(0, 1000))
    .option('--group-by <field>', 'one hit for each value of a field')
    .option(
      '--drop-duplicates [d]',
      'drop hits whose embedding is this near to a better hit (default: 0.05)',
      number(0, 2),
    )
    .option('--context <n>', 'also show this many records before and after each hit, 0 to 10', integer(0, 10))
    .option('--filter <json>', 'a predicate that records must match (docs/reference/filters.md), or @FILE')
    .option('--variables <json>', "values of the filter's variables: an object, or @FILE");
  return addLexicalFlags(added);
}

/** Returns the flags that need no parsing, as options of the library and fields of a request. */
export function searchFields(flags: RetrievalFlags) {
  const { mode, topK, threshold, fusion, minScore, offset, groupBy, dropDuplicates, context } = flags;
  const distance = dropDuplicates === true ? defaultDistance : dropDuplicates;
  return { mode, topK, threshold, fusion, minScore, offset, groupBy, dropDuplicates: distance, context };
}

/** Returns the `rerank` of a request. */
export function rerankRequest({ rerank }: RetrievalFlags): { model?: string } | undefined {
  if (rerank === undefined) return undefined;
  return rerank === true ? {} : { model: rerank };
}

/** @throws UsageError for a flag without effect in the mode, and for variables without a filter or a graph that uses them */
export function requireEffect({
  mode,
  threshold,
  fusion,
  filter,
  variables,
  graph,
}: RetrievalFlags & { graph?: string }): void {
  const [first] = ineffectiveOptions(mode, { threshold, fusion });
  if (first !== undefined) throw new UsageError(`--${first.option}: ${first.reason}`);
  if (variables !== undefined && filter === undefined && graph === undefined)
    throw new UsageError('--variables: it has no effect without --filter');
}
