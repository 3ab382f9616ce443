import type { Command } from 'commander';
import { integer } from '../arguments.js';

/** Largest process id of any system. */
const largestPid = 2 ** 31 - 1;

/** Adds the command. Its flags come from the config's schema, which is slow to load, so they are added only if `args` may need them. */
export async function addServe(program: Command, args: readonly string[]): Promise<void> {
  const command = program
    .command('serve', { isDefault: true })
    .description('Run the server until SIGINT or SIGTERM.');
  if (!mayBeMeant(args)) return;
  const { addConfigFlags, configFlagValues } = await import('../config-flags.js');
  addConfigFlags(command)
    .option(
      '--parent-pid <pid>',
      'for programs that start the server: prints one JSON line with port and access token, logs to stderr, and stops when the process with this pid ends',
      integer(1, largestPid),
    )
    .addHelpText(
      'after',
      '\nEach flag is also an environment variable, named in brackets. A flag beats its variable, which beats the file.' +
        '\n\nExit status: 0 stopped by a signal, with its parent or after a time without sessions, 1 could not\nstart or failed, 2 wrong command line, 128 + signal on a second signal.',
    )
    .action(async ({ parentPid }: { parentPid?: number }) => {
      const { serve } = await import('../serve.js');
      await serve(configFlagValues(command), parentPid);
    });
}

/** Without a command the server starts. */
function mayBeMeant(args: readonly string[]): boolean {
  const [first, second] = args;
  if (first === undefined || first === 'serve') return true;
  if (first === 'help') return second === 'serve';
  return first.startsWith('-') && !['-h', '--help', '-V', '--version'].includes(first);
}
