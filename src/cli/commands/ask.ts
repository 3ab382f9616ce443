import { type Command, Option } from 'commander';
import type { AskFlags } from '../ask/ask.js';
import { exitStatusHelp } from '../exit-status.js';
import { addModelFlags } from '../flags/model.js';
import { addRetrievalFlags } from '../flags/retrieval.js';
import { addServerFlags } from '../flags/server.js';

export function addAsk(program: Command): void {
  const graph = new Option(
    '--graph <file>',
    'graph of an agent that answers; it calls the storage "kb" and sets the search options',
  );
  const command = program
    .command('ask')
    .description('Ask your folders and knowledge bases, in this process or on a server.')
    .usage('[options] <folder|kb.json...> [question]')
    .argument(
      '<place...>',
      "folders and knowledge bases here, or a path in a server's storage root; then the question (default: each line of the terminal or of stdin is one)",
    );
  addServerFlags(command).addOption(graph);
  const before = command.options.length;
  addRetrievalFlags(command)
    .option('--generate', 'let a language model answer from the hits, with citations')
    .option(
      '--model <name>',
      'the same with this language model: a name of the catalog, or a file (default: the first one of the catalog whose file is present)',
    );
  const search = command.options.slice(before).map((option) => option.attributeName());
  graph.conflicts(search.filter((name) => name !== 'variables'));
  addModelFlags(command)
    .option('--embedding-model <name>', 'embedding model of a folder that is indexed (default: as for index)')
    .option('--json', 'one JSON result per question, a line each')
    .addHelpText('after', askHelp)
    .action(async (words: string[], flags: AskFlags) => {
      const { ask } = await import('../ask/ask.js');
      await ask(words, flags);
    });
}

const askHelp = `
Examples:
  lorekeep ask ./docs ./notes "who services the telescope?"
  lorekeep ask ./docs "who services the telescope?" --model talker.gguf
  lorekeep ask kb.json "who services the telescope?" --port 9100

A folder is indexed first, as far as it has changed. Without a language model the answer is made of sentences of the
records. Sources stand under every answer. --host and --port ask a server, and so does a path that does not exist
here; a server shows the hits, or generates with --generate. Ctrl-D ends a conversation.
${exitStatusHelp}`;
