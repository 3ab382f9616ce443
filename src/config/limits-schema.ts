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
}).prefault({});
