import type { Command } from 'commander';
import { exitStatusHelp } from '../exit-status.js';
import type { InspectFlags } from '../inspect/inspect.js';

export function addInspect(program: Command): void {
  program
    .command('inspect')
    .description('Describe a file: its kind, its content and whether it is intact.')
    .argument('<file>', 'knowledge base config, index, text index, hnswlib file or GGUF model')
    .option('--no-verify', 'do not read the whole file to compare checksums')
    .option('--all', 'also list the sections of the files and the checksums stored in them')
    .option('--json', 'one JSON result on stdout')
    .addHelpText('after', `\n${exitStatusHelp} A file that is damaged is a failure.`)
    .action(async (file: string, flags: InspectFlags) => {
      const { inspect } = await import('../inspect/inspect.js');
      await inspect(file, flags);
    });
}
