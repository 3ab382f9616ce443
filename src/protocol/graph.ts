import { z } from 'zod';
import { anyObject, boundedArray } from '../schema/bounded.js';
import { retrievalFields } from './retrieval.js';

const nodeId = z.string().min(1).max(128);

const nodeSchema = z.strictObject({
  id: nodeId.describe('Unique within the graph.'),
  type: z.string().max(128),
  params: anyObject().default({}).describe("By the node's type; checked with the graph."),
});

/** The shape of an agent's graph. Its meaning (types, params, edges) is checked when the agent is made. */
export const graphSchema = z.strictObject({
  nodes: boundedArray(nodeSchema, 1, 256),
  edges: boundedArray(z.tuple([nodeId, nodeId], { error: 'a pair of node ids is expected' }), 0, 4096)
    .default([])
    .describe('Pairs of node ids, from and to. Without edges the nodes run in order.'),
});

export type Graph = z.output<typeof graphSchema>;
export type GraphInput = {
  nodes: { id: string; type: string; params?: Record<string, unknown> }[];
  edges?: [string, string][];
};

/** A Mustache template over the interaction (docs/agents.md). */
export const querySchema = z
  .string()
  .min(1)
  .max(16_384)
  .default('{{text}}')
  .describe("Mustache template over the interaction, without HTML escaping. Default: the user's message.");

/** Params of a node of type `retrieve`. */
export const retrieveParamsSchema = z.strictObject({
  embedded_string_storage: z
    .string()
    .describe(
      'Name of a storage of the session, or path of a knowledge base config inside the storage root.',
    ),
  ...retrievalFields,
  query: querySchema,
});

export type RetrieveParams = z.output<typeof retrieveParamsSchema>;

const stringStorage = (what: string) =>
  z
    .string()
    .min(1)
    .optional()
    .describe(
      `Path of a text file inside the storage root, one ${what} per line. Default: the server's list.`,
    );

/** Params of a node of type `canned_response`. */
export const cannedResponseParamsSchema = z.strictObject({
  string_storage: stringStorage('response'),
  seed: z
    .int()
    .min(0)
    .max(0xffff_ffff)
    .optional()
    .describe('Makes the sequence of responses the same for every agent with it. Default: by chance.'),
});

/** Params of a node of type `regex_guardrail`. */
export const regexGuardrailParamsSchema = z.strictObject({
  string_storage: stringStorage('pattern'),
  on_match: nodeId
    .optional()
    .describe('Id of the node that the turn goes on with after a match. Default: nodes run as without one.'),
});
