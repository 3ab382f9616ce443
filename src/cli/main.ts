#!/usr/bin/env node
import { Command } from 'commander';
import { packageVersion } from '../config/home.js';
import { StartupError } from '../config/startup-error.js';
import { addConfigFlags, configFlagValues } from './config-flags.js';

const program = new Command('lorekeep')
  .description('A local agent server that keeps what agents know.')
  .version(packageVersion);

addConfigFlags(program.command('serve', { isDefault: true }))
  .description('Listen until SIGINT or SIGTERM.')
  .addHelpText(
    'after',
    '\nEach flag is also an environment variable, named in brackets. A flag beats its variable, which beats the file.' +
      '\n\nExit status: 0 stopped by a signal, 1 could not start, 128 + signal on a second signal.',
  )
  .action(async (_: unknown, command: Command) => {
    // Not before it is needed: --help works without the addon, and explains how to get it.
    const { serve } = await import('./serve.js');
    await serve(configFlagValues(command));
  });

try {
  await program.parseAsync();
} catch (error) {
  process.stderr.write(`lorekeep: ${error instanceof StartupError ? error.message : describeCrash(error)}\n`);
  process.exitCode = 1;
}

function describeCrash(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
