import { fieldFacts, integer, object, text } from './field-types.js';

const extension = { extension: true } as const;

/** Where sessions are kept that outlive their server. */
export const sessionStoreSchema = object({
  connection: text()
    .default('')
    .describe(
      'Name of the connection in `connections` whose database keeps the sessions that ask for it; empty: none. docs/guides/many-servers.md.',
    )
    .register(fieldFacts, extension),
  table: text()
    .regex(/^[a-z_][a-z0-9_]{0,62}\.[a-z_][a-z0-9_]{0,47}$/, 'a table as "schema.table" is expected')
    .default('lorekeep.sessions')
    .describe('The table of the sessions. Others beside it begin with its name.')
    .register(fieldFacts, extension),
  expiry_hours: integer(1, 87_600)
    .default(168)
    .describe('Hours after the last turn until a kept session is removed.')
    .register(fieldFacts, extension),
  max_sessions: integer(1, 100_000_000)
    .default(10_000)
    .describe('Maximum number of kept sessions of all servers.')
    .register(fieldFacts, extension),
  max_sessions_per_address: integer(1, 100_000_000)
    .default(1000)
    .describe('Maximum number of kept sessions from one address.')
    .register(fieldFacts, extension),
  max_session_mb: integer(1, 64)
    .default(4)
    .describe('MiB that the graphs and histories of one kept session may take.')
    .register(fieldFacts, extension),
}).prefault({});
