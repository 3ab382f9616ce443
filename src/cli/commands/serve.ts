import type { Command } from 'commander';
import { addConfigFlags, configFlagValues } from '../config-flags.js';

export function addServe(program: Command): void {
  addConfigFlags(program.command('serve', { isDefault: true }))
    .description('Listen until SIGINT or SIGTERM.')
    .addHelpText(
      'after',
      '\nEach flag is also an environment variable, named in brackets. A flag beats its variable, which beats the file.' +
        '\n\nExit status: 0 stopped by a signal, 1 could not start, 2 unknown flag, 128 + signal on a second signal.',
    )
    .action(async (_: unknown, command: Command) => {
      const { serve } = await import('../serve.js');
      await serve(configFlagValues(command));
    });
}
