import type { Command } from 'commander';
import { integer } from '../arguments.js';
import { exitStatusHelp } from '../exit-status.js';
import { addModelFlags } from '../flags/model.js';
import type { AddFlags, ChangeFlags, ForgetFlags, ListFlags } from '../records/records.js';

const baseArgument = ['<kb>', 'config of the knowledge base, or an indexed folder'] as const;

/** Adds the commands that read and change the records of a knowledge base. */
export function addRecordCommands(program: Command): void {
  addCommand(program, 'add', 'Add records to a knowledge base.', [
    '[file...]',
    'JSON files of records; - for stdin',
  ])
    .option('--id <id>', 'id of a single record')
    .option('--text <text>', 'text of a single record')
    .option('--metadata <json>', 'metadata of a single record: JSON, or @FILE')
    .option('--replace', 'the records exist, and are replaced')
    .option('--upsert', 'records that exist are replaced')
    .option(
      '--if-version <n>',
      'only if the knowledge base has this version',
      integer(0, Number.MAX_SAFE_INTEGER),
    )
    .addHelpText('after', addHelp)
    .action(async (base: string, files: string[], flags: AddFlags) => {
      await (await import('../records/records.js')).add(base, files, flags);
    });
  addCommand(program, 'remove', 'Remove records from a knowledge base.', ['<id...>', 'ids of the records'])
    .option(
      '--if-version <n>',
      'only if the knowledge base has this version',
      integer(0, Number.MAX_SAFE_INTEGER),
    )
    .action(async (base: string, ids: string[], flags: ChangeFlags) => {
      await (await import('../records/records.js')).remove(base, ids, flags);
    });
  addCommand(program, 'get', 'Show records of a knowledge base.', ['<id...>', 'ids of the records']).action(
    async (base: string, ids: string[], flags: ChangeFlags) => {
      await (await import('../records/records.js')).get(base, ids, flags);
    },
  );
  addCommand(program, 'list', 'List the records of a knowledge base.')
    .option('--filter <json>', 'only records that match: JSON, or @FILE')
    .option('--limit <n>', 'most records', integer(1, 10_000), 100)
    .option('--offset <n>', 'records to skip', integer(0, 2 ** 32 - 1), 0)
    .action(async (base: string, flags: ListFlags) => {
      await (await import('../records/records.js')).list(base, flags);
    });
  addCommand(program, 'merge', 'Write the changes of a knowledge base into its files.').action(
    async (base: string, flags: ChangeFlags) => {
      await (await import('../records/records.js')).merge(base, flags);
    },
  );
  addKeeping(program);
}

function addKeeping(program: Command): void {
  addCommand(program, 'forget', 'Remove records from every file of a knowledge base.', [
    '<id...>',
    'ids of the records',
  ])
    .option('--verify', 'search the bytes of the folders for the texts')
    .option('--histories', 'also remove the turns that quote the texts from the histories of agents')
    .action(async (base: string, ids: string[], flags: ForgetFlags) => {
      await (await import('../records/records.js')).forget(base, ids, flags);
    });
  addCommand(program, 'backup', 'Copy a knowledge base, also while it is served.', [
    '<folder>',
    'a new folder',
  ]).action(async (base: string, folder: string, flags: ChangeFlags) => {
    await (await import('../records/records.js')).backup(base, folder, flags);
  });
}

function addCommand(
  program: Command,
  name: string,
  description: string,
  more?: readonly [name: string, description: string],
): Command {
  const command = program
    .command(name)
    .description(description)
    .argument(...baseArgument);
  if (more !== undefined) command.argument(...more);
  return addModelFlags(command)
    .option('--json', 'JSON on stdout')
    .addHelpText('after', `\n${exitStatusHelp}`);
}

const addHelp = `
Examples:
  lorekeep add kb.json more.json
  lorekeep add kb.json --id opening --text "The museum opens at ten." --upsert
  other-program | lorekeep add kb.json -`;
