import type { Command } from 'commander';
import { exitStatusHelp } from '../exit-status.js';
import type { InitFlags } from '../init/init.js';

export function addInit(program: Command): void {
  program
    .command('init')
    .description('Write a folder to start from: server config, model catalog, model, sample knowledge base.')
    .argument('<folder>', 'created if absent; existing files are never overwritten')
    .option('--json', 'one JSON result on stdout')
    .addHelpText('after', `\n${exitStatusHelp}`)
    .action(async (folder: string, flags: InitFlags) => {
      const { init } = await import('../init/init.js');
      await init(folder, flags);
    });
}
