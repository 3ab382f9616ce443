import { fieldFacts, integer, object } from './field-types.js';

const extension = { extension: true } as const;

/** Limits on the memory and time that clients may cost the server. */
export const limitsSchema = object({
  drain_timeout_ms: integer(0, 3_600_000)
    .default(10_000)
    .describe('Time for unfinished turns after SIGINT or SIGTERM, in ms; then they are cancelled.')
    .register(fieldFacts, extension),
  frame_timeout_ms: integer(100, 3_600_000)
    .default(30_000)
    .describe('Time from the first byte of a frame to its last, in ms; then the connection is closed (1006).')
    .register(fieldFacts, extension),
  unread_timeout_ms: integer(100, 3_600_000)
    .default(60_000)
    .describe(
      'Time for which more than 1 MiB of replies may stay unread, in ms; then the connection is closed.',
    )
    .register(fieldFacts, extension),
  max_connections: integer(1, 1_000_000)
    .default(4096)
    .describe('Maximum number of connections; further ones are refused (6003).')
    .register(fieldFacts, extension),
  max_connections_per_address: integer(1, 1_000_000)
    .default(1024)
    .describe('Maximum number of connections from one address (6003).')
    .register(fieldFacts, extension),
  max_sessions_per_connection: integer(1, 1_000_000)
    .default(10_000)
    .describe('Maximum number of sessions of one connection (2003).')
    .register(fieldFacts, extension),
  idle_connection_timeout_ms: integer(0, 2_147_483_647)
    .default(600_000)
    .describe(
      'Time for which a connection without a session may be silent, in ms; then it is closed (6004). 0: no limit.',
    )
    .register(fieldFacts, extension),
  memory_wait_ms: integer(10, 3_600_000)
    .default(2000)
    .describe('Time for which clients wait for memory, in ms; then the largest consumer is closed (6002).')
    .register(fieldFacts, extension),
}).prefault({});
