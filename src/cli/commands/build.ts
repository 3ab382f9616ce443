import type { Command } from 'commander';
import type { BuildFlags } from '../build/build.js';
import { exitStatusHelp } from '../exit-status.js';
import { addModelFlags } from '../flags/model.js';

export function addBuild(program: Command): void {
  const command = program
    .command('build')
    .description("Write a knowledge base's index files.")
    .argument('[kb.json]', 'config of the knowledge base', 'kb.json');
  addModelFlags(command)
    .option('--json', 'one JSON result on stdout')
    .addHelpText(
      'after',
      `\nCtrl-C is safe: each file is written beside its place and renamed when it is complete.\n${exitStatusHelp}`,
    )
    .action(async (file: string, flags: BuildFlags) => {
      const { build } = await import('../build/build.js');
      await build(file, flags);
    });
}
