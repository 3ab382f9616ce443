import type { Command } from 'commander';
import type { TelemetryFlags } from '../telemetry/telemetry.js';

export function addTelemetry(program: Command): void {
  const telemetry = program
    .command('telemetry')
    .description('Show what telemetry sends and where, and switch it off.');
  const subcommand = (name: string, description: string) =>
    telemetry
      .command(name)
      .description(description)
      .option('--config <path>', 'the server config (default: as for serve)');
  subcommand('status', 'Print every sink, and why it sends or does not.')
    .option('--json', 'one JSON result on stdout')
    .action(async (flags: TelemetryFlags) => {
      const { telemetryStatus } = await import('../telemetry/telemetry.js');
      await telemetryStatus(flags);
    });
  subcommand('show', 'Print the exact body of a request with the event of a sample turn.').action(
    async (flags: TelemetryFlags) => {
      const { telemetryShow } = await import('../telemetry/telemetry.js');
      await telemetryShow(flags);
    },
  );
  subcommand('off', 'Set telemetry.enabled to false in the server config.').action(
    async (flags: TelemetryFlags) => {
      const { telemetryOff } = await import('../telemetry/off.js');
      await telemetryOff(flags);
    },
  );
}
