import { type Command, Option } from 'commander';
import { type CheckFlags, checkedKinds } from '../check/flags.js';
import { addModelFlags } from '../flags/model.js';

export function addCheck(program: Command): void {
  const command = program
    .command('check')
    .description('Find mistakes and damage in a file, and describe it, without changing anything.')
    .argument(
      '[file]',
      "a knowledge base's config, server-config.json, a model catalog, a records file, an index or other file of `build`, or a GGUF model (default: the server's catalog)",
    );
  addModelFlags(command)
    .addOption(
      new Option('--as <kind>', 'kind of a JSON file (default: detected from its content)').choices(
        checkedKinds,
      ),
    )
    .option('--model <name...>', 'of a catalog: check only these models, whose files must be there')
    .option('--recall', 'of a knowledge base: measure the recall of its searches on its own records')
    .option('--against <kb.json>', 'of a knowledge base in a database: compare it with one in files')
    .option('--all', 'list the sections of files, also of the files of a knowledge base')
    .option('--no-verify', 'of an index or model: do not read the whole file to compare checksums')
    .option('--json', 'one JSON result on stdout')
    .addHelpText(
      'after',
      `
Of a knowledge base the config, the records, the model, the index and the text index are checked; of a server config
also the catalog that it names; of a catalog the files of its models, and embedding models by reference vectors.
Exit status: 0 no errors (there may be warnings), 1 errors, 2 wrong command line, 130 interrupted.`,
    )
    .action(async (file: string | undefined, flags: CheckFlags) => {
      const { check } = await import('../check/check.js');
      await check(file, flags);
    });
}
