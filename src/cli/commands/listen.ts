import { type Command, Option } from 'commander';
import { integer } from '../arguments.js';
import { exitStatusHelp } from '../exit-status.js';
import { addServerFlags } from '../flags/server.js';
import type { ListenFlags } from '../listen/listen.js';
import { addSpeechFlags } from './transcribe.js';

export function addListen(program: Command): void {
  const command = program
    .command('listen')
    .description('Write down what a microphone hears, or talk with an agent, until Ctrl-C.')
    .usage('[options] [folder|kb.json...]')
    .argument('[place...]', 'an agent answers from them, as for chat (default: the text is written down)')
    .option('--device <name>', 'the microphone, as arecord or ffmpeg names it (default: that of the system)')
    .option('--input <file>', 'a file instead of a microphone');
  addServerFlags(addSpeechFlags(command))
    .option('--min-silence <ms>', 'a pause that ends a piece of speech (default: 400)', integer(32, 10_000))
    .option('--graph <file>', 'the graph of the agent; it calls the storage "kb"')
    .option('--language-model <name>', 'the language model of the agent, as --model of chat')
    .option('--embedding-model <name>', 'embedding model of a folder that is indexed (default: as for index)')
    .addOption(
      new Option('--end-of-turn <rule>', 'what ends a turn: a pause, or one after a whole sentence').choices([
        'silence',
        'sentence',
      ]),
    )
    .option('--json', 'one JSON object per piece of speech, or per turn')
    .addHelpText('after', `\n${exitStatusHelp}`)
    .action(async (words: string[], flags: ListenFlags) => {
      const { listen } = await import('../listen/listen.js');
      await listen(words, flags);
    });
}
