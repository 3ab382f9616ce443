import type { Command } from 'commander';
import { exitStatusHelp } from '../exit-status.js';
import { addModelFlags } from '../flags/model.js';
import { addRetrievalFlags } from '../flags/retrieval.js';
import type { SearchFlags } from '../search/search.js';

export function addSearch(program: Command): void {
  const command = program
    .command('search')
    .description('Search a knowledge base without a server.')
    .usage('[options] [kb.json|folder] <text>')
    .argument(
      '<text...>',
      'the text to search for, after a config or an indexed folder (default: the knowledge base of this folder)',
    );
  addModelFlags(addRetrievalFlags(command))
    .option('--highlight', 'with --json: also the snippet of each hit, with the matched words')
    .option('--explain', 'also show the plan, the ranks and scores of both legs, and the time')
    .option('--json', 'one JSON result on stdout')
    .addHelpText('after', searchHelp)
    .action(async (given: string[], flags: SearchFlags) => {
      const { search } = await import('../search/search.js');
      await search(given, flags);
    });
}

const searchHelp = `
Examples:
  lorekeep search "how do bees find flowers?"
  lorekeep search kb.json "how do bees find flowers?"
  lorekeep search kb.json "honey" --mode lexical --top-k 3
  lorekeep search kb.json "honey" --filter '{"==": [{"knowledge": "file"}, "bees.txt"]}'
  lorekeep search kb.json "honey" --filter @filter.json --explain
  lorekeep search '+lamp "old keeper" light* -ship' --extended
  lorekeep search "lighthose" --fuzzy --boost title=2

Matched words are highlighted on a terminal and [bracketed] elsewhere.
${exitStatusHelp}`;
