import { boolean, fieldFacts, integer, nonEmptyText, object, text } from './field-types.js';

/** Fields reserved for later versions. They are validated now so that today's config files keep their meaning. */

const monitor = { later: 'the monitor' } as const;

export const monitorSchema = object({
  enabled: boolean()
    .default(false)
    .describe('Enables the monitor.')
    .register(fieldFacts, { ...monitor, holdsFor: [false] }),
  bind: nonEmptyText()
    .default('127.0.0.1')
    .describe('Address that the monitor listens on.')
    .register(fieldFacts, monitor),
  port: integer(0, 65_535).default(9101).describe('HTTP port of the monitor.').register(fieldFacts, monitor),
  turn_ring_size: integer(0, 1_000_000)
    .default(200)
    .describe('Number of recent turns kept.')
    .register(fieldFacts, monitor),
  memory_tick_interval_ms: integer(0, 86_400_000)
    .default(0)
    .describe('Interval of memory samples, in ms; 0: none.')
    .register(fieldFacts, monitor),
  allow_remote: boolean()
    .default(false)
    .describe('Allows access from other machines.')
    .register(fieldFacts, monitor),
}).prefault({});

export const crashDumpSchema = object({
  enabled: boolean()
    .default(true)
    .describe('Write a minidump on a fatal crash.')
    .register(fieldFacts, { later: 'crash dumps', holdsFor: [false] }),
  dir: text()
    .default('')
    .describe('Folder of the dumps; empty: `logs_dir`, else the folder of the package.')
    .register(fieldFacts, { path: true, flag: '--crash-dump-dir <path>', later: 'crash dumps' }),
}).prefault({});

export const debugCommandsSchema = object({
  enabled: boolean()
    .default(false)
    .describe('Enables DebugCommandRequest; not for production.')
    .register(fieldFacts, { flag: '--enable-debug-commands', later: 'debug commands', holdsFor: [false] }),
}).prefault({});
