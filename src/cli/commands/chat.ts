import { type Command, Option } from 'commander';
import { integer } from '../arguments.js';
import type { ChatFlags } from '../chat/chat.js';
import { exitStatusHelp } from '../exit-status.js';
import { addModelFlags } from '../flags/model.js';
import { addServerFlags } from '../flags/server.js';

export function addChat(program: Command): void {
  const command = program
    .command('chat')
    .description('Talk with an agent, in this process or on a server.')
    .usage('[options] [folder|kb.json...]')
    .argument('[place...]', 'the agent answers from them, as for ask (default: a server, without knowledge)');
  addModelFlags(addServerFlags(command))
    .addOption(
      new Option('--graph <file>', 'the graph of the agent; it calls the storage "kb"').conflicts([
        'model',
        'system',
        'topK',
      ]),
    )
    .option(
      '--model <name>',
      'the language model, as for ask (default: the first one of the catalog whose file is present)',
    )
    .option('--embedding-model <name>', 'embedding model of a folder that is indexed (default: as for index)')
    .option('--system <text>', 'a Mustache template of the system text, or @FILE')
    .option('--top-k <n>', 'maximum number of records in a prompt, 1 to 1000', integer(1, 1000))
    .option('--history <file>', 'continue the conversation in this file, and save it there')
    .option('--json', 'one JSON result per turn, a line each')
    .addHelpText('after', chatHelp)
    .action(async (words: string[], flags: ChatFlags) => {
      const { chat } = await import('../chat/chat.js');
      await chat(words, flags);
    });
}

const chatHelp = `
In the conversation:
  /stats   tokens and times so far
  /help    this list
  /quit    ends it, as does Ctrl-D
  Ctrl-C   cancels the reply; without one, ends the conversation
Lines of a pipe are answered one after the other.
${exitStatusHelp}`;
