import type { Command } from 'commander';
import { exitStatusHelp } from '../exit-status.js';
import type { IndexesFlags, RemoveIndexesFlags } from '../indexes/indexes.js';

const run = () => import('../indexes/indexes.js');

export function addIndexes(program: Command): void {
  const indexes = program.command('indexes').description('List and remove the indexes of folders.');
  indexes
    .command('list')
    .description('Print every index of a folder with its state and size.')
    .option('--json', 'one JSON result on stdout')
    .addHelpText('after', `\n${exitStatusHelp}`)
    .action(async (flags: IndexesFlags) => (await run()).listCommand(flags));
  indexes
    .command('remove')
    .description('Remove the indexes of folders. The documents stay.')
    .argument('[folder...]', 'indexed folders, which may be gone')
    .option('--gone', 'the indexes of all folders that are gone')
    .option('--json', 'one JSON result on stdout')
    .addHelpText(
      'after',
      `\nRecords that lorekeep add wrote to an index are removed with it.\n${exitStatusHelp}`,
    )
    .action(async (folders: string[], flags: RemoveIndexesFlags) =>
      (await run()).removeCommand(folders, flags),
    );
}
