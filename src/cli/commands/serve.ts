import { renameSync, writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import { integer } from '../arguments.js';
import { UsageError } from '../failure.js';

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
    .option(
      '--ready-file <path>',
      'with --parent-pid, for programs that cannot read its output: writes that line, or why the server did not start, into this file instead of printing it',
    )
    .addHelpText(
      'after',
      '\nEach flag is also an environment variable, named in brackets. A flag beats its variable, which beats the file.' +
        '\n\nExit status: 0 stopped by a signal, with its parent or after a time without sessions, 1 could not\nstart or failed, 2 wrong command line, 128 + signal on a second signal.',
    )
    .action(async ({ parentPid, readyFile }: { parentPid?: number; readyFile?: string }) => {
      if (readyFile !== undefined && parentPid === undefined)
        throw new UsageError('--ready-file needs --parent-pid');
      const { serve } = await import('../serve.js');
      const tell = readyFile === undefined ? undefined : (line: object) => writeReady(readyFile, line);
      try {
        await serve(configFlagValues(command), parentPid, tell);
      } catch (error) {
        tell?.({ error: (error as Error).message });
        throw error;
      }
    });
}

/** Writes a line into a file that its owner alone can read, and that is whole when it is there. */
function writeReady(file: string, line: object): void {
  const partial = `${file}.${process.pid}`;
  writeFileSync(partial, `${JSON.stringify(line)}\n`, { flag: 'wx', mode: 0o600 });
  renameSync(partial, file);
}

/** Without a command the server starts. */
function mayBeMeant(args: readonly string[]): boolean {
  const [first, second] = args;
  if (first === undefined || first === 'serve') return true;
  if (first === 'help') return second === 'serve';
  return first.startsWith('-') && !['-h', '--help', '-V', '--version'].includes(first);
}
