import type { Command } from 'commander';
import type { DoctorFlags } from '../doctor/doctor.js';
import type { LastCrashFlags } from '../doctor/last-crash.js';
import { UsageError } from '../failure.js';

export function addDoctor(program: Command): void {
  program
    .command('doctor')
    .argument('[file]', "a knowledge base's config: also measures the recall of its searches")
    .description('Find problems that keep lorekeep from working on this machine, and say how to fix them.')
    .option('--config <path>', 'the server config (default: as for serve)')
    .option('--last-crash [dump]', 'explain the newest crash dump of the server, or this one; checks nothing')
    .option('--symbols <folder>', 'with --last-crash: symbol files of the release that crashed')
    .option('--json', 'one JSON result on stdout')
    .addHelpText(
      'after',
      '\nExit status: 0 nothing failed (there may be warnings), 1 something did, 2 wrong command line.',
    )
    .action(async (file: string | undefined, flags: DoctorFlags & Partial<LastCrashFlags>) => {
      const { lastCrash, symbols } = flags;
      if (lastCrash !== undefined) {
        const { explainLastCrash } = await import('../doctor/last-crash.js');
        return explainLastCrash({ ...flags, lastCrash });
      }
      if (symbols !== undefined) throw new UsageError('--symbols: needs --last-crash');
      const { doctor } = await import('../doctor/doctor.js');
      await doctor(file, flags);
    });
}
