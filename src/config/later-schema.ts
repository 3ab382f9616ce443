import { boolean, choice, fieldFacts, integer, list, nonEmptyText, object, text } from './field-types.js';

/** Fields of what later versions bring. They are checked and documented now, so that a config file keeps its meaning. */

const telemetry = { later: 'telemetry' } as const;
const monitor = { later: 'the monitor' } as const;

const sinkSchema = object({
  kind: choice('analytics')
    .default('analytics')
    .describe('An analytics ingest sink.')
    .register(fieldFacts, telemetry),
  enabled: boolean().default(true).describe('Switch of this sink.').register(fieldFacts, telemetry),
  endpoint: text()
    .default('')
    .describe('URL that takes the events; empty: none are sent.')
    .register(fieldFacts, telemetry),
  project_api_key: text().default('').describe('API key of the project.').register(fieldFacts, telemetry),
  batch_max_records: integer(1, 100_000)
    .default(50)
    .describe('Most events of a batch.')
    .register(fieldFacts, telemetry),
  batch_max_ms: integer(1, 3_600_000)
    .default(2000)
    .describe('Longest wait of a batch, in ms.')
    .register(fieldFacts, telemetry),
  queue_capacity: integer(1, 10_000_000)
    .default(5000)
    .describe('Events held; the oldest go first when there are more.')
    .register(fieldFacts, telemetry),
  shutdown_flush_ms: integer(0, 600_000)
    .default(5000)
    .describe('How long the end of the server waits for the queue, in ms.')
    .register(fieldFacts, telemetry),
});

export const telemetrySchema = object({
  enabled: boolean()
    .default(true)
    .describe('Master switch.')
    .register(fieldFacts, { ...telemetry, holdsFor: [false] }),
  include_user_content: boolean()
    .default(false)
    .describe('Whether turn events carry what users and characters say.')
    .register(fieldFacts, telemetry),
  sinks: list(sinkSchema)
    .prefault([{}])
    .describe('Where events go; an empty array: nowhere.')
    .register(fieldFacts, { ...telemetry, computedDefault: 'one sink, all defaults' }),
}).prefault({});

export const monitorSchema = object({
  enabled: boolean()
    .default(false)
    .describe('Turns the sidecar on.')
    .register(fieldFacts, { ...monitor, holdsFor: [false] }),
  bind: nonEmptyText()
    .default('127.0.0.1')
    .describe('Address that the monitor listens on.')
    .register(fieldFacts, monitor),
  port: integer(0, 65_535).default(9101).describe('HTTP port of the monitor.').register(fieldFacts, monitor),
  turn_ring_size: integer(0, 1_000_000)
    .default(200)
    .describe('Recent turns kept.')
    .register(fieldFacts, monitor),
  memory_tick_interval_ms: integer(0, 86_400_000)
    .default(0)
    .describe('Interval of memory samples, in ms; 0: none.')
    .register(fieldFacts, monitor),
  allow_remote: boolean()
    .default(false)
    .describe('Whether clients that are not on loopback may read it.')
    .register(fieldFacts, monitor),
}).prefault({});

export const crashDumpSchema = object({
  enabled: boolean()
    .default(true)
    .describe('Write a minidump on a fatal crash.')
    .register(fieldFacts, { later: 'crash dumps', holdsFor: [false] }),
  dir: text()
    .default('')
    .describe('Where dumps go; empty: `logs_dir`, or the folder of the package without one.')
    .register(fieldFacts, { path: true, flag: '--crash-dump-dir <path>', later: 'crash dumps' }),
}).prefault({});

export const debugCommandsSchema = object({
  enabled: boolean()
    .default(false)
    .describe('Enables DebugCommandRequest; never in production builds.')
    .register(fieldFacts, { flag: '--enable-debug-commands', later: 'debug commands', holdsFor: [false] }),
}).prefault({});
