import type { Command } from 'commander';
import { host, integer } from '../arguments.js';

/** The flags that name a server. */
export function addServerFlags(command: Command): Command {
  return command
    .option('--host <name>', 'ask a server on this host (default with --port: 127.0.0.1)', host)
    .option(
      '--port <n>',
      "ask a server on this port (default with --host: the server config's, then 9100)",
      integer(1, 65_535),
    )
    .option(
      '--access-token-file <path>',
      "a file with the server's access token (default: LOREKEEP_ACCESS_TOKEN, then the config of a server on this machine)",
    );
}
