import { z } from 'zod';
import { requestIdSchema } from '../../protocol/frames.js';

/** The type of the request of debug commands, which other servers do not know. */
export const debugRequestType = 'DebugCommandRequest';

export const debugRequestSchema = z.strictObject({
  type: z.literal(debugRequestType),
  id: requestIdSchema,
  session_id: z.string(),
  command: z.string(),
  args: z.record(z.string(), z.unknown()).default({}),
});

/** Its reply, apart from `reply_to`. */
export interface DebugCommandResponse {
  type: 'DebugCommandResponse';
  result: unknown;
}
