import { type Command, Option } from 'commander';
import { commandName, shellWord } from '../../base/schema/shell-word.js';
import { host, integer } from '../arguments.js';
import type { AskFlags } from '../ask/ask.js';
import { exitStatusHelp } from '../exit-status.js';
import { oneText } from '../failure.js';
import { addRetrievalFlags } from '../flags/retrieval.js';

export function addAsk(program: Command): void {
  const graph = new Option(
    '--graph <file>',
    'graph of an agent that answers; it calls the storage "kb" and sets the search options',
  );
  const command = program
    .command('ask')
    .description('Ask a running server about a knowledge base.')
    .usage('[options] <kb.json> [question]')
    .argument(
      '<kb.json>',
      "a path in the server's storage root, or a file here if the server is on this machine",
    )
    .argument('[question...]', 'default: each line of the terminal or of stdin is a question')
    .option('--host <name>', 'host of the server', host, '127.0.0.1')
    .option('--port <n>', "port of the server (default: the server config's, then 9100)", integer(1, 65_535))
    .option(
      '--access-token-file <path>',
      "a file with the server's access token (default: LOREKEEP_ACCESS_TOKEN, then the config of a server on this machine)",
    )
    .addOption(graph);
  const before = command.options.length;
  addRetrievalFlags(command)
    .option('--generate', 'let a language model of the server answer from the hits, with citations')
    .option(
      '--model <name>',
      "the same with this language model (default: the first one of the server's catalog whose file is present)",
    );
  const search = command.options.slice(before).map((option) => option.attributeName());
  graph.conflicts(search.filter((name) => name !== 'variables'));
  command
    .option('--json', 'one JSON result per question, a line each')
    .addHelpText('after', `\nCtrl-D ends a conversation.\n${exitStatusHelp}`)
    .action(async (kb: string, words: string[], flags: AskFlags) => {
      const { ask } = await import('../ask/ask.js');
      await ask(kb, oneText(words, `${commandName()} ask ${shellWord(kb)}`), flags);
    });
}
