import { z } from 'zod';

/** Diagnostics of models in frames. */

export const finishSchema = z.enum(['stop', 'stop_string', 'length', 'context', 'cancelled', 'deadline']);

export const usageSchema = z.object({
  prompt: z.int().describe('Tokens of the prompts.'),
  cached: z.int().describe('Tokens of the prompts that were not computed again.'),
  completion: z.int().describe('Generated tokens, thinking included.'),
});

export const droppedSchema = z.object({
  history_turns: z.int().describe('Oldest turns of the history left out of the prompt.'),
  knowledge: z.int().describe('Lowest-ranked knowledge left out of the prompt.'),
});

const tokenLogprobSchema = z.object({
  token: z.string().describe('Its text. A part of a character becomes U+FFFD.'),
  bytes: z.array(z.int()).describe('Its UTF-8. Empty for a control token.'),
  logprob: z.number().describe('Natural logarithm of its probability, at least -9999.'),
});

export const tokenLogprobsSchema = tokenLogprobSchema.extend({
  top_logprobs: z
    .array(tokenLogprobSchema)
    .describe('The most likely tokens in its place, the likeliest first. It may be one of them.'),
});

export const dryRunSchema = z.object({
  node: z.string().describe('Id of the `generate` node.'),
  tokens: z
    .object({
      system: z.int().describe('The system text.'),
      history: z.int().describe('Earlier turns.'),
      knowledge: z
        .int()
        .describe('Records. 0 with placement `template`: they are part of the text around them.'),
      prompt: z.int().describe('The last user message, without knowledge.'),
      template: z.int().describe("The chat template's own tokens."),
      total: z.int().describe('Sum of the above: the whole prompt.'),
      reserved: z.int().describe('Tokens kept for the reply.'),
      context: z.int().describe("The node's context."),
    })
    .describe('Tokens of the parts of the prompt.'),
  dropped: droppedSchema.describe('Parts that did not fit into the prompt.'),
  messages: z
    .array(
      z.object({
        role: z.enum(['system', 'user', 'assistant']).describe('Who speaks.'),
        content: z.string().describe('The text.'),
      }),
    )
    .optional()
    .describe('Only for agents with `enable_diagnostics`, and with `include_interaction_in_diagnostics`.'),
});

/** Diagnostics of the engine for one node; the node's type adds to it. It never holds text of a prompt, a query or a reply. */
export const engineDiagnosticsSchema = z.looseObject({ kind: z.string().describe('The kind of work.') });

export type TokenLogprobs = z.output<typeof tokenLogprobsSchema>;
export type EngineDiagnostics = z.output<typeof engineDiagnosticsSchema>;
export type Finish = z.output<typeof finishSchema>;
export type Usage = z.output<typeof usageSchema>;
export type DryRun = z.output<typeof dryRunSchema>;
export type Dropped = z.output<typeof droppedSchema>;
