import { z } from 'zod';
import { boundedArray } from '../../../base/schema/bounded.js';
import { wellFormed } from '../../../base/schema/well-formed.js';
import { longestSecret, memoryKinds, memoryScopes } from '../../../protocol/memories.js';
import type { NodeSchema } from '../../node-schema.js';

const template = (shortest = 1) => z.string().min(shortest).max(16_384);
/** Short values that records keep. */
const shortTemplate = () => z.string().min(1).max(1024);

export const schema = {
  type: 'remember',
  params: z.strictObject({
    storage: z
      .string()
      .describe(
        'Name of the storage in the session, which the node makes. `retrieve` nodes and requests use it as any other.',
      ),
    embedding_model: z.string().min(1).describe('Catalog name of the embedding model.'),
    scope: z
      .enum(memoryScopes)
      .default('session')
      .describe(
        '`session`: ends with the session. `agent` and `name` last; their secret opens them again. `name` needs `name`, too.',
      ),
    name: z
      .string()
      .min(1)
      .max(128)
      .refine(wellFormed, 'half of a surrogate pair is no character')
      .optional()
      .describe('With scope `name`: the name of the memory. It opens nothing without the secret.'),
    secret: z
      .string()
      .min(1)
      .max(longestSecret)
      .optional()
      .describe(
        'Opens a memory that lasts: from the CreateAgentResponse that made it. Default: makes a new memory.',
      ),
    kinds: boundedArray(z.enum(memoryKinds), 1, memoryKinds.length)
      .default(['said'])
      .describe(
        '`said`: the message, and the replies of nodes before this one. `decided`: the action that a reply asked for. `observed`: the result of the action of the turn before.',
      ),
    speakers: boundedArray(z.enum(['user', 'agent']), 1, 2)
      .default(['user', 'agent'])
      .describe('Whose words are remembered as `said`.'),
    questions: z
      .boolean()
      .default(false)
      .describe(
        'Whether what is said is also remembered if it ends with a question mark. A question would be the nearest record of its repetition.',
      ),
    template: template()
      .default('{{text}}')
      .describe(
        'Mustache template of the text to remember, for each statement: its `text`, `kind` and `speaker`, and the names of `query`. Blank: the statement is not remembered.',
      ),
    condition: template()
      .optional()
      .describe('Mustache template with the same names. Blank: the statement is not remembered.'),
    speaker: shortTemplate()
      .optional()
      .describe('Mustache template of the name of who sends the message. Default: `user`.'),
    subject: shortTemplate()
      .optional()
      .describe(
        'Mustache template of what a statement is about. A later statement about the same subject succeeds the earlier ones.',
      ),
    on_conflict: z
      .enum(['keep', 'replace'])
      .default('keep')
      .describe(
        'Earlier statements about the subject: `keep` gives them the time of their end, `until`. `replace` removes them.',
      ),
    importance: z
      .number()
      .min(0)
      .max(1)
      .default(0.5)
      .describe('Importance of what is remembered, for the option `importance` of searches.'),
    merge_similarity: z
      .number()
      .min(0.8)
      .max(1)
      .default(0.97)
      .describe(
        'Least cosine of two statements that are merged. 1: only statements with the same normalised text are.',
      ),
    confirm_ms: z
      .int()
      .min(1000)
      .max(600_000)
      .default(60_000)
      .describe('Milliseconds that an action `forget` waits for the confirmation of the client.'),
  }),
  report: {
    remembered: z.int().optional().describe('Number of statements remembered.'),
    merged: z.int().optional().describe('Number of these that the memory had already.'),
    memory_version: z.int().optional().describe('Version of the storage afterwards.'),
  },
  components: [],
  engine: undefined,
} as const satisfies NodeSchema;

export type RememberParams = z.output<typeof schema.params>;
