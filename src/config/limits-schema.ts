import { fieldFacts, integer, object } from './field-types.js';

const extension = { extension: true } as const;

/** What clients may make the server wait for and hold. */
export const limitsSchema = object({
  drain_timeout_ms: integer(0, 3_600_000)
    .default(10_000)
    .describe('How long turns under way may go on after SIGINT or SIGTERM, in ms; then they are cancelled.')
    .register(fieldFacts, extension),
  frame_timeout_ms: integer(100, 3_600_000)
    .default(30_000)
    .describe(
      'How long a client may take to send the rest of a frame that it has begun, in ms; then it is dropped.',
    )
    .register(fieldFacts, extension),
  unread_timeout_ms: integer(100, 3_600_000)
    .default(60_000)
    .describe('How long a client may leave replies unread when too many wait, in ms; then it is dropped.')
    .register(fieldFacts, extension),
  max_connections: integer(1, 1_000_000)
    .default(4096)
    .describe('Most connections at once; one more is told so (6003) and closed.')
    .register(fieldFacts, extension),
  max_connections_per_address: integer(1, 1_000_000)
    .default(1024)
    .describe('Most connections at once from one address.')
    .register(fieldFacts, extension),
  max_sessions_per_connection: integer(1, 1_000_000)
    .default(10_000)
    .describe('Most sessions at once of one connection.')
    .register(fieldFacts, extension),
  idle_connection_timeout_ms: integer(0, 2_147_483_647)
    .default(600_000)
    .describe(
      'How long a connection without a session may send nothing, in ms; then it is closed (6004). 0: for ever.',
    )
    .register(fieldFacts, extension),
  memory_wait_ms: integer(10, 3_600_000)
    .default(2000)
    .describe(
      'How long clients wait for a server whose memory is full, in ms; then its largest consumer is closed (6002).',
    )
    .register(fieldFacts, extension),
}).prefault({});
