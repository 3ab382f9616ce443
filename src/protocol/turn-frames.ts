import { z } from 'zod';
import { anyComponentSchema, citationSchema, sourceSchema, turnHitSchema } from './components.js';
import {
  dryRunSchema,
  engineDiagnosticsSchema,
  finishSchema,
  tokenLogprobsSchema,
  usageSchema,
} from './engine.js';
import { errorFields, notKept, reply, turn_id } from './fields.js';
import { actionSchema } from './history.js';
import { forgetFields, memoryChangeSchema } from './memories.js';
import { speechTimesSchema, spokenTurnFields } from './speech-frames.js';

/** Diagnostics of a node that ran; the node's type adds to it. */
export const nodeDiagnosticsSchema = z.looseObject({
  node: z.string().describe("The node's id."),
  type: z.string().describe("The node's type."),
  duration_ms: z.number().describe('Time of the node.'),
});

const debugInfoSchema = <Engine extends z.ZodType>(engine: Engine) =>
  z.object({
    nodes: z
      .array(
        z.object({
          node: z.string().describe("The node's id."),
          type: z.string().describe("The node's type."),
          diagnostics: z
            .object({ engine: engine.describe('Numbers of the engine.') })
            .describe('Diagnostics of the node.'),
        }),
      )
      .describe('The nodes that used an engine, in order.'),
  });

/** TurnComplete, by the schemas of a node's diagnostics, of a component, and of the engine's diagnostics. */
export function turnCompleteSchema<
  Node extends z.ZodType,
  Component extends z.ZodType,
  Engine extends z.ZodType,
>(node: Node, component: Component, engine: Engine) {
  const diagnostics = z.object({
    queued_ms: z.number().describe('Time waiting for earlier turns of the agent.'),
    duration_ms: z.number().describe('Time from the first node to the end.'),
    between_ms: z
      .number()
      .describe(
        'The part of `duration_ms` outside the nodes that ran: turns of other clients, a failed node.',
      ),
    nodes: z.array(node).describe('The nodes that ran, in order.'),
    skipped: z.array(z.string()).describe('Ids of the skipped nodes, in order.'),
    versions: z
      .record(z.string(), z.int())
      .describe('Version of each storage that was searched, by its name in the graph: for `as_of`.'),
    speech: speechTimesSchema.optional().describe('Of a turn that was spoken: the times before it.'),
    interaction: z.array(component).optional().describe('Only with `include_interaction_in_diagnostics`.'),
  });
  return z.object({
    type: z.literal('TurnComplete'),
    turn_id,
    status: z.enum(['completed', 'cancelled', 'failed']).describe('How the turn ended.'),
    text: z.string().describe('The whole reply; empty if no node replied.'),
    citations: z
      .array(citationSchema)
      .optional()
      .describe('The parts of the text that are quoted or refer to records; absent if there are none.'),
    sources: z
      .array(sourceSchema)
      .optional()
      .describe(
        'The records that entered the prompts of `generate` nodes, and that `quote` nodes quote; absent if there are none.',
      ),
    hits: z
      .array(turnHitSchema)
      .optional()
      .describe(
        'Hits of the `retrieve` nodes that ran, in their order: of all nodes with `hits` in the TurnRequest, else of nodes with `emit`. Absent if none is asked for.',
      ),
    hits_omitted: z
      .int()
      .optional()
      .describe('Number of hits left out because the frame would exceed `max_frame_mb`.'),
    finish: finishSchema
      .optional()
      .describe('Why the last `generate` node stopped; `length` and `context`: its reply is cut.'),
    usage: usageSchema.optional().describe('Tokens of all `generate` nodes of the turn.'),
    action: actionSchema
      .extend({ node: z.string().describe('Id of the node.') })
      .optional()
      .describe('The action that the client should carry out.'),
    memory: z
      .array(memoryChangeSchema)
      .optional()
      .describe('What the turn remembered and forgot, in order; absent if nothing.'),
    dry_run: z.array(dryRunSchema).optional().describe('The prompts of a turn with `dry_run`.'),
    error: z.object(errorFields).optional().describe('Reason of a failed turn.'),
    not_kept: notKept,
    diagnostics: diagnostics.optional().describe('Only for agents with `enable_diagnostics`.'),
    debug_info: debugInfoSchema(engine)
      .optional()
      .describe('Only for agents with `enable_diagnostics`, and with `include_engine_diagnostics`.'),
  });
}

/** Frames of turns. */
export const turnSchemas = {
  TurnStarted: reply('TurnStarted', { turn_id, ...spokenTurnFields }),
  TurnText: z.object({
    type: z.literal('TurnText'),
    turn_id,
    node: z.string().describe('Id of the node that replies.'),
    kind: z
      .enum(['reply', 'thinking'])
      .describe('Pieces of the kind `reply` add up to the reply; `thinking` is not part of it.'),
    text: z.string().describe('The next piece. May be empty in a frame with `logprobs`.'),
    logprobs: z
      .array(tokenLogprobsSchema)
      .optional()
      .describe(
        'With the param `logprobs`: tokens of the reply as they were generated. Text of the last ones may be in later pieces, or removed, as an action is.',
      ),
  }),
  TurnForget: z
    .object({ type: z.literal('TurnForget'), turn_id, ...forgetFields })
    .describe('The turn waits for a ConfirmForgetRequest.'),
  TurnComplete: turnCompleteSchema(nodeDiagnosticsSchema, anyComponentSchema, engineDiagnosticsSchema),
} as const;
