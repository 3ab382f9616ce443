import type { Command } from 'commander';
import { exitStatusHelp } from '../exit-status.js';
import { addModelFlags } from '../flags/model.js';
import type { PushFlags, TransferFlags } from '../transfer/transfer.js';

/** Adds the commands that move knowledge bases between files and databases. */
export function addTransferCommands(program: Command): void {
  const push = program
    .command('push')
    .description('Write a knowledge base in files into a database.')
    .argument('<kb.json>', 'config of the knowledge base in files')
    .argument('<engine.json>', 'config with "engine" that names the table');
  addModelFlags(push)
    .option('--replace', 'replace the records that the table has')
    .option('--json', 'one JSON result on stdout')
    .addHelpText('after', `\n${connections}\n${exitStatusHelp}`)
    .action(async (from: string, to: string, flags: PushFlags) => {
      await (await import('../transfer/transfer.js')).push(from, to, flags);
    });
  const pull = program
    .command('pull')
    .description('Write a knowledge base in a database into files.')
    .argument('<engine.json>', 'config with "engine" that names the table')
    .argument('<kb.json>', 'config to write, with records and indexes beside it');
  addModelFlags(pull)
    .option('--json', 'one JSON result on stdout')
    .addHelpText('after', `\n${connections}\n${exitStatusHelp}`)
    .action(async (from: string, to: string, flags: TransferFlags) => {
      await (await import('../transfer/transfer.js')).pull(from, to, flags);
    });
}

const connections =
  'Connections are those of the server config that --config or LOREKEEP_CONFIG names: docs/guides/postgres.md.';
