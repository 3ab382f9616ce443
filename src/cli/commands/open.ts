import type { Command } from 'commander';
import { integer } from '../arguments.js';
import { exitStatusHelp } from '../exit-status.js';
import { addModelFlags } from '../flags/model.js';
import type { PageFlags } from '../open/open.js';

export function addOpen(program: Command): void {
  const command = program
    .command('open')
    .description('Open a page in the browser that searches and asks your folders and knowledge bases.')
    .usage('[options] <folder|kb.json...>')
    .argument('<place...>', 'folders and knowledge bases on this machine')
    .option('--no-open', 'print how to open the page instead of opening the browser')
    .option('--http-port <n>', 'port of the page (default: any free port)', integer(0, 65_535))
    .option(
      '--model <name>',
      'language model that answers unless another one is chosen: a name of the catalog, or a file',
    );
  addModelFlags(command)
    .option('--embedding-model <name>', 'embedding model of a folder that is indexed (default: as for index)')
    .addHelpText('after', openHelp)
    .action(async (words: string[], flags: PageFlags) => {
      const { openPage } = await import('../open/open.js');
      await openPage(words, flags);
    });
}

const openHelp = `
Examples:
  lorekeep open ./docs
  lorekeep open ./docs ./notes kb.json

The page is served to this machine only, and a folder is indexed while it is open, as far as it has changed. Ctrl-C
ends it. Enter opens the page again, for example in another browser window.
${exitStatusHelp}`;
