import { type Command, Option } from 'commander';
import { host, integer } from '../arguments.js';
import type { ChatFlags } from '../chat/chat.js';
import { exitStatusHelp } from '../exit-status.js';

export function addChat(program: Command): void {
  program
    .command('chat')
    .description('Talk with an agent of a running server.')
    .argument('[kb.json]', 'a knowledge base that the agent answers from, as for ask')
    .option('--host <name>', 'host of the server', host, '127.0.0.1')
    .option('--port <n>', "port of the server (default: the server config's, then 9100)", integer(1, 65_535))
    .option('--access-token-file <path>', "a file with the server's access token (default: as for ask)")
    .addOption(
      new Option('--graph <file>', 'the graph of the agent; it calls the storage "kb"').conflicts([
        'model',
        'system',
        'topK',
      ]),
    )
    .option(
      '--model <name>',
      "the language model (default: the first one of the server's catalog whose file is present)",
    )
    .option('--system <text>', 'a Mustache template of the system text, or @FILE')
    .option('--top-k <n>', 'maximum number of records in a prompt, 1 to 1000', integer(1, 1000))
    .option('--history <file>', 'continue the conversation in this file, and save it there')
    .option('--json', 'one JSON result per turn, a line each')
    .addHelpText('after', chatHelp)
    .action(async (kb: string | undefined, flags: ChatFlags) => {
      const { chat } = await import('../chat/chat.js');
      await chat(kb, flags);
    });
}

const chatHelp = `
In the conversation:
  /stats   tokens and times so far
  /quit    ends it, as does Ctrl-D
  Ctrl-C   cancels the reply; without one, ends the conversation
Lines of a pipe are answered one after the other.
${exitStatusHelp}`;
