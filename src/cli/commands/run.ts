import { type Command, Option } from 'commander';
import { samplingOptions } from '../../../lib/basics.js';
import { commandName, shellWord } from '../../base/schema/shell-word.js';
import { integer } from '../arguments.js';
import { exitStatusHelp } from '../exit-status.js';
import { oneText } from '../failure.js';
import { addOptionFlags } from '../flags/options.js';
import type { RunFlags } from '../run/run.js';

export function addRun(program: Command): void {
  const command = program
    .command('run')
    .description('Generate text with a language model, without a server.')
    .usage('[options] <model.gguf> [prompt]')
    .argument('<model.gguf>', 'a language model')
    .argument('[prompt...]', 'the message to reply to (default: stdin)')
    .option('--system <text>', 'the system text, or @FILE')
    .option('--raw', "the prompt as it is, without the model's chat template")
    .option('--max-tokens <n>', 'maximum number of tokens of the reply', integer(1, 1_048_576), 512)
    .option(
      '--context-size <n>',
      'context in tokens (default: 8192, or the training context if that is less)',
      integer(16, 1_048_576),
    );
  addOptionFlags(command, samplingOptions)
    .option('--seed <n>', 'seed of the sampling', integer(0, 0xffff_fffe))
    .option('--threads <n>', 'threads; 0: all available processors', integer(0, 1024), 0)
    .addOption(
      new Option('--runtime <runtime>', 'runtime that computes')
        .choices(['auto', 'llama.cpp', 'decoder'])
        .default('auto'),
    )
    .option('--stats', 'print tokens and times on stderr')
    .option('--json', 'one JSON result on stdout')
    .addHelpText('after', `\nCtrl-C ends the reply.\n${exitStatusHelp}`)
    .action(async (model: string, words: string[], flags: RunFlags) => {
      const { run } = await import('../run/run.js');
      await run(model, oneText(words, `${commandName()} run ${shellWord(model)}`), flags);
    });
}
