import { boolean, choice, fieldFacts, integer, list, object, text } from './field-types.js';

const sinkSchema = object({
  kind: choice('analytics').default('analytics').describe('An analytics ingest sink.'),
  enabled: boolean().default(true).describe('Enables this sink.'),
  endpoint: text()
    .default('')
    .describe('URL of the ingest server, http or https; empty: no events are sent.'),
  project_api_key: text().default('').describe('API key of the project; empty: no events are sent.'),
  batch_max_records: integer(1, 100_000).default(50).describe('Maximum number of events in a batch.'),
  batch_max_ms: integer(1, 3_600_000).default(2000).describe('Maximum age of a batch, in ms.'),
  queue_capacity: integer(1, 10_000_000)
    .default(5000)
    .describe('Maximum number of queued events; the oldest are dropped first.'),
  shutdown_flush_ms: integer(0, 600_000)
    .default(5000)
    .describe('Time to flush the queue at shutdown, in ms.'),
});

export const telemetrySchema = object({
  enabled: boolean()
    .default(true)
    .describe('Master switch. Without a sink that has an endpoint and a key nothing is sent.'),
  include_user_content: boolean().default(false).describe('Adds user and character texts to turn events.'),
  sinks: list(sinkSchema)
    .prefault([{}])
    .describe('Destinations of events; empty: none.')
    .register(fieldFacts, { computedDefault: 'one sink, all defaults' }),
}).prefault({});
