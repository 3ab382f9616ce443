import type { Command } from 'commander';
import type { ModelsFlags } from '../catalog/models.js';
import { addModelFlags } from '../flags/model.js';

const run = () => import('../catalog/models.js');

export function addModels(program: Command): void {
  const models = program
    .command('models')
    .description('List, download and remove the models of the catalog.');
  const subcommand = (name: string, description: string) =>
    addModelFlags(models.command(name).description(description)).option(
      '--json',
      'one JSON result on stdout',
    );
  subcommand('list', 'Print every model with its state, size and licence.').action(
    async (flags: ModelsFlags) => (await run()).listModels(flags),
  );
  subcommand('show', 'Print the catalog entry of a model, and the state of its files.')
    .argument('<name>', 'name in the catalog')
    .action(async (name: string, flags: ModelsFlags) => (await run()).showModel(name, flags));
  subcommand('pull', 'Download a model into models_download_dir and verify it.')
    .argument('<name>', 'name in the catalog')
    .option('--variant <name>', 'the variant (default: the first that can be downloaded)')
    .addHelpText(
      'after',
      `
An interrupted download continues. HF_TOKEN is sent to Hugging Face, HF_ENDPOINT names a mirror, and HTTP_PROXY,
HTTPS_PROXY and NO_PROXY are honoured.`,
    )
    .action(async (name: string, flags: ModelsFlags & { variant?: string }) =>
      (await run()).pullModel(name, flags),
    );
  subcommand('remove', 'Remove the downloaded files of a model.')
    .argument('<name>', 'name in the catalog')
    .action(async (name: string, flags: ModelsFlags) => (await run()).removeModel(name, flags));
  subcommand('prune', 'Remove downloads that the catalog no longer names, and parts of downloads.').action(
    async (flags: ModelsFlags) => (await run()).pruneModels(flags),
  );
}
