import { z } from 'zod';
import { anyObject, boundedArray } from '../base/schema/bounded.js';

export const nodeIdSchema = z.string().min(1).max(128);

const nodeSchema = z.strictObject({
  id: nodeIdSchema.describe('Unique within the graph.'),
  type: z.string().max(128).describe('Type of the node: docs/reference/agents.md.'),
  params: anyObject().default({}).describe("Params of the node's type; checked with the graph."),
});

/** The shape of an agent's graph. Types, params and edges are checked when the agent is created. */
export const graphSchema = z.strictObject({
  nodes: boundedArray(nodeSchema, 1, 256).describe('The nodes.'),
  edges: boundedArray(
    z.tuple([nodeIdSchema, nodeIdSchema], { error: 'a pair of node ids is expected' }),
    0,
    4096,
  )
    .default([])
    .describe('Pairs of node ids, from and to. Without edges the nodes run in order.'),
});

export type Graph = z.output<typeof graphSchema>;
export type GraphInput = {
  nodes: { id: string; type: string; params?: Record<string, unknown> }[];
  edges?: [string, string][];
};

/** The user's message. */
export const defaultQuery = '{{text}}';

/** A Mustache template over the interaction (docs/reference/agents.md). */
export const querySchema = z
  .string()
  .min(1)
  .max(16_384)
  .default(defaultQuery)
  .describe("Mustache template of the text to search for. Default: the user's message.");
