import type { Command } from 'commander';

/** The flags that say where to find the embedding model of a knowledge base. */
export interface ModelFlags {
  catalog?: string;
  config?: string;
}

export function addModelFlags(command: Command): Command {
  return command
    .option('--catalog <path>', "the model catalog (default: the server's)")
    .option('--config <path>', 'the server config that names the catalog (default: as for serve)');
}
