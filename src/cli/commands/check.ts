import { type Command, Option } from 'commander';
import { type CheckFlags, checkedKinds } from '../check/flags.js';
import { addModelFlags } from '../flags/model.js';

export function addCheck(program: Command): void {
  const command = program
    .command('check')
    .description('Find mistakes in a hand-written file, without changing anything.')
    .argument('<file>', 'knowledge base config, server-config.json, model catalog or records file');
  addModelFlags(command)
    .addOption(
      new Option('--as <kind>', 'kind of the file (default: detected from its content)').choices(
        checkedKinds,
      ),
    )
    .option('--json', 'one JSON result on stdout')
    .addHelpText(
      'after',
      `
Of a knowledge base the config, the records, the model, the index and the text index are checked; of a server config
also the catalog that it names.
Exit status: 0 no errors (there may be warnings), 1 errors, 2 wrong command line, 130 interrupted.`,
    )
    .action(async (file: string, flags: CheckFlags) => {
      const { check } = await import('../check/check.js');
      await check(file, flags);
    });
}
