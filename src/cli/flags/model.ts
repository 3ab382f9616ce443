import type { Command } from 'commander';

/** Where a command finds the embedding model that a knowledge base names. */
export interface ModelFlags {
  catalog?: string;
  config?: string;
}

export function addModelFlags(command: Command): Command {
  return command
    .option('--catalog <path>', "the model catalog (default: the server's)")
    .option('--config <path>', 'the server config that names the catalog (default: as for serve)');
}
