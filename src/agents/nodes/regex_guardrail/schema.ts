import { z } from 'zod';
import { nodeIdSchema } from '../../../protocol/graph.js';
import type { NodeSchema } from '../../node-schema.js';
import { stringStorage } from '../string-storage.js';

/** A pattern found in the user's message, at its first match. */
const guardrailMatch = z.object({
  _type: z.literal('guardrail_match'),
  node: z.string().describe('Id of the guardrail node.'),
  pattern: z.string().describe('The pattern as written in its file.'),
  line: z.int().describe('Line of the pattern in the file, from 1.'),
  match: z.string().describe('The matching text, cut to 256 characters.'),
  start: z.int().describe('Start of the match in the message, in UTF-16 code units from 0.'),
  end: z.int().describe('End of the match, exclusive.'),
});

export const schema = {
  type: 'regex_guardrail',
  params: z.strictObject({
    string_storage: stringStorage('pattern'),
    on_match: nodeIdSchema
      .optional()
      .describe('Id of the node to continue with after a match. Default: a match changes nothing else.'),
  }),
  report: {
    matches: z.int().optional().describe('Number of patterns that matched.'),
  },
  components: [guardrailMatch],
  engine: undefined,
} as const satisfies NodeSchema;

export type GuardrailMatch = z.output<typeof guardrailMatch>;
