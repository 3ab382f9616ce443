#!/usr/bin/env node
import { Command, InvalidArgumentError } from 'commander';
import { packageVersion } from '../config/home.js';
import { StartupError } from '../config/startup-error.js';

interface ServeFlags {
  port?: number;
  config?: string;
}

const program = new Command('lorekeep')
  .description('A local agent server that keeps what agents know.')
  .version(packageVersion);

program
  .command('serve', { isDefault: true })
  .description('Listen on 127.0.0.1 until SIGINT or SIGTERM.')
  .option('--port <n>', 'TCP port, 0 for a free one (default: the config file, then 9100)', parsePort)
  .option('--config <path>', 'the config file (default: data/server-config.json in the package)')
  .addHelpText(
    'after',
    '\nExit status: 0 stopped by a signal, 1 could not start, 128 + signal on a second signal.',
  )
  .action(async (flags: ServeFlags) => {
    // Not before it is needed: --help works without the addon, and explains how to get it.
    const { serve } = await import('./serve.js');
    await serve(flags);
  });

try {
  await program.parseAsync();
} catch (error) {
  process.stderr.write(`lorekeep: ${error instanceof StartupError ? error.message : describeCrash(error)}\n`);
  process.exitCode = 1;
}

function parsePort(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535)
    throw new InvalidArgumentError('an integer from 0 to 65535 is expected');
  return port;
}

function describeCrash(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
