import type { Command } from 'commander';
import { Option } from 'commander';
import { integer, number } from '../arguments.js';
import { exitStatusHelp } from '../exit-status.js';
import { addModelFlags, type ModelFlags } from './model-flags.js';

/** How to search, as flags: shared by `search` and `ask`. */
export interface RetrievalFlags {
  mode: 'dense' | 'lexical' | 'hybrid';
  topK: number;
  threshold?: number;
  filter?: string;
  variables?: string;
}

export interface SearchFlags extends RetrievalFlags, ModelFlags {
  explain?: boolean;
  json?: boolean;
}

export function addRetrievalFlags(command: Command): Command {
  return command
    .addOption(
      new Option('--mode <mode>', 'by meaning, by words, or by both')
        .choices(['dense', 'lexical', 'hybrid'])
        .default('hybrid'),
    )
    .option('--top-k <n>', 'most hits, 1 to 1000', integer(1, 1000), 5)
    .option('--threshold <d>', 'largest cosine distance of the dense leg, 0 to 2', number(0, 2))
    .option('--filter <json>', 'which records may be found: a predicate (docs/filters.md), or @FILE')
    .option('--variables <json>', "values of the filter's variables: an object, or @FILE");
}

export function addSearch(program: Command): void {
  const command = program
    .command('search')
    .description('Search a knowledge base without a server.')
    .argument('<kb.json>', 'config of the knowledge base')
    .argument('<text>', 'what to look for');
  addModelFlags(addRetrievalFlags(command))
    .option('--explain', 'also show the plan, the ranks and scores of both legs, and the time')
    .option('--json', 'one JSON result on stdout')
    .addHelpText('after', searchHelp)
    .action(async (file: string, text: string, flags: SearchFlags) => {
      const { search } = await import('../search/search.js');
      await search(file, text, flags);
    });
}

const searchHelp = `
Examples:
  lorekeep search kb.json "how do bees find flowers?"
  lorekeep search kb.json "honey" --mode lexical --top-k 3
  lorekeep search kb.json "honey" --filter '{"==": [{"knowledge": "file"}, "bees.txt"]}'
  lorekeep search kb.json "honey" --filter @filter.json --explain

Matched words are highlighted on a terminal and [bracketed] elsewhere.
${exitStatusHelp}`;
