import { boolean, choice, fieldFacts, integer, list, nonEmptyText, object, text } from './field-types.js';

/** Fields reserved for later versions. They are validated now so that today's config files keep their meaning. */

const telemetry = { later: 'telemetry' } as const;
const monitor = { later: 'the monitor' } as const;

const sinkSchema = object({
  kind: choice('analytics')
    .default('analytics')
    .describe('An analytics ingest sink.')
    .register(fieldFacts, telemetry),
  enabled: boolean().default(true).describe('Enables this sink.').register(fieldFacts, telemetry),
  endpoint: text()
    .default('')
    .describe('URL of the ingest endpoint; empty: no events are sent.')
    .register(fieldFacts, telemetry),
  project_api_key: text().default('').describe('API key of the project.').register(fieldFacts, telemetry),
  batch_max_records: integer(1, 100_000)
    .default(50)
    .describe('Maximum number of events in a batch.')
    .register(fieldFacts, telemetry),
  batch_max_ms: integer(1, 3_600_000)
    .default(2000)
    .describe('Maximum age of a batch, in ms.')
    .register(fieldFacts, telemetry),
  queue_capacity: integer(1, 10_000_000)
    .default(5000)
    .describe('Maximum number of queued events; the oldest are dropped first.')
    .register(fieldFacts, telemetry),
  shutdown_flush_ms: integer(0, 600_000)
    .default(5000)
    .describe('Time to flush the queue at shutdown, in ms.')
    .register(fieldFacts, telemetry),
});

export const telemetrySchema = object({
  enabled: boolean()
    .default(true)
    .describe('Master switch.')
    .register(fieldFacts, { ...telemetry, holdsFor: [false] }),
  include_user_content: boolean()
    .default(false)
    .describe('Adds user and character texts to turn events.')
    .register(fieldFacts, telemetry),
  sinks: list(sinkSchema)
    .prefault([{}])
    .describe('Destinations of events; empty: none.')
    .register(fieldFacts, { ...telemetry, computedDefault: 'one sink, all defaults' }),
}).prefault({});

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
