import type { Command } from 'commander';
import { exitStatusHelp } from '../exit-status.js';
import { addModelFlags } from '../flags/model.js';
import type { VerifyFlags } from '../verify/verify.js';

export function addVerify(program: Command): void {
  const command = program
    .command('verify')
    .description('Compare embedding models with their checksums and with reference vectors.')
    .argument('[models...]', 'names in the catalog (default: every embedding model with a file)');
  addModelFlags(command)
    .option('--json', 'one JSON result on stdout')
    .addHelpText('after', `\n${exitStatusHelp} A model that differs is a failure.`)
    .action(async (names: string[], flags: VerifyFlags) => {
      const { verify } = await import('../verify/verify.js');
      await verify(names, flags);
    });
}
