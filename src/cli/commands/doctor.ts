import type { Command } from 'commander';
import type { DoctorFlags } from '../doctor/doctor.js';

export function addDoctor(program: Command): void {
  program
    .command('doctor')
    .description('Find problems that keep lorekeep from working on this machine, and say how to fix them.')
    .option('--config <path>', 'the server config (default: as for serve)')
    .option('--json', 'one JSON result on stdout')
    .addHelpText(
      'after',
      '\nExit status: 0 nothing failed (there may be warnings), 1 something did, 2 wrong command line.',
    )
    .action(async (flags: DoctorFlags) => {
      const { doctor } = await import('../doctor/doctor.js');
      await doctor(flags);
    });
}
