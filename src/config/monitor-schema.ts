import { boolean, integer, nonEmptyText, object } from './field-types.js';

export const monitorSchema = object({
  enabled: boolean().default(false).describe('Enables the monitor.'),
  bind: nonEmptyText().default('127.0.0.1').describe('Address that the monitor listens on.'),
  port: integer(0, 65_535).default(9101).describe('HTTP port of the monitor; 0: any free port.'),
  turn_ring_size: integer(0, 1_000_000).default(200).describe('Number of recent turns kept.'),
  memory_tick_interval_ms: integer(0, 86_400_000)
    .default(0)
    .describe('Interval of memory samples, in ms; 0: a sample whenever a page opens.'),
  allow_remote: boolean().default(false).describe('Allows access from other machines.'),
}).prefault({});
