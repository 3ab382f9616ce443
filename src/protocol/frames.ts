import { z } from 'zod';
import { boundedArray, smallObject, stringArray } from '../base/schema/bounded.js';
import { recordFieldsSchema } from '../search/record-fields.js';
import { anyComponentSchema, citationSchema, sourceSchema, turnHitSchema } from './components.js';
import { dryRunSchema, engineDiagnosticsSchema, finishSchema, usageSchema } from './engine.js';
import { defaultQuery, type GraphInput, graphSchema, querySchema } from './graph.js';
import { actionResultSchema, actionSchema, historySchema } from './history.js';
import { maxRecords, recordArray, storedRecordSchema } from './records.js';
import {
  hitSchema,
  refuseIneffective,
  retrievalFields,
  retrievalPlanSchema,
  staleDescription,
  staleMark,
} from './retrieval.js';

export const protocolVersion = 1;

const badId = { error: 'an integer from 0 to 2^53 - 1 or a string of 1 to 128 characters is expected' };

/** Chosen by the client; the reply carries it as `reply_to`. */
export const requestIdSchema = z.union(
  [z.int(badId).min(0, badId), z.string().min(1, badId).max(128, badId)],
  badId,
);

/** Maximum number of characters of a folder's path: no system opens longer ones. */
const longestFolder = 32_767;

/** Without the value: it may be a secret. */
const badToken = { error: 'a string of 1 to 4096 characters is expected' };

export type RequestId = z.output<typeof requestIdSchema>;

const name = z.string().describe('Name of the storage.');
const session_id = z.string().describe('Id of the session.');
const storagePlace = z.string().describe('Name of the storage, or path of a knowledge base config.');
const recordIds = (most: number) => stringArray({ most, shortest: 1 });
const badVersion = { error: 'a version from 0 up, or a time such as "2024-05-31T12:00:00Z", is expected' };
const as_of = z
  .union([z.int(badVersion).min(0, badVersion), z.iso.datetime({ offset: true, ...badVersion })], badVersion)
  .optional()
  .describe('A version, or the time of one: answers from what the storage had then. Default: the newest.');
const recordCount = z.int().describe('Number of records.');
const version = z.int().describe('Version of the storage. Each batch of changes makes the next one.');
const agent_id = z.string().describe('Id of the agent.');
const turn_id = z.string().describe('Id of the turn.');
/** Rendering a template copies the variables; this many take some milliseconds. */
const maxVariables = 20_000;
const variables = smallObject(maxVariables).default({});

function request<Type extends string, Fields extends z.ZodRawShape>(type: Type, fields: Fields) {
  return z.strictObject({ type: z.literal(type), id: requestIdSchema, ...fields });
}

interface SearchSubject {
  name?: string | undefined;
  names?: readonly string[] | undefined;
  text?: string | undefined;
  similar_to?: string | undefined;
  mode?: string | undefined;
  rerank?: unknown;
  highlight: boolean;
  query: string;
  as_of?: unknown;
}

/** A search looks for a text or for records like one, in one storage or in several. */
function requireText(
  { name, names, text, similar_to, mode, rerank, highlight, query, as_of }: SearchSubject,
  context: z.RefinementCtx,
): void {
  const issue = (path: string, message: string) =>
    context.addIssue({ code: 'custom', path: [path], message });
  if (name === undefined && names === undefined) issue('name', 'is missing');
  if (name !== undefined && names !== undefined)
    issue('names', 'one of name and names is expected, not both');
  if (names !== undefined && new Set(names).size < names.length) issue('names', 'a storage is named twice');
  if (names !== undefined && similar_to !== undefined)
    issue('similar_to', 'it cannot be used with names; use text');
  if (names !== undefined && as_of !== undefined)
    issue('as_of', 'it cannot be used with names, whose storages have versions of their own');
  if (names !== undefined && rerank !== undefined)
    issue('rerank', 'a search of several storages cannot be reranked');
  if (text === undefined && similar_to === undefined) issue('text', 'is missing');
  if (text !== undefined && similar_to !== undefined)
    issue('similar_to', 'one of text and similar_to is expected, not both');
  if (similar_to === undefined) return;
  if (mode !== undefined && mode !== 'dense') issue('mode', `a search with similar_to is dense, not ${mode}`);
  const withoutText = 'it has no effect with similar_to, which has no text';
  if (query !== defaultQuery) issue('query', withoutText);
  if (rerank !== undefined) issue('rerank', withoutText);
  if (highlight) issue('highlight', withoutText);
}

/** Frames of clients. Unknown fields are refused, so that a misspelt one is never silently ignored. */
export const requestSchemas = {
  CreateSessionRequest: request('CreateSessionRequest', {
    storage_data_folder: z
      .string()
      .max(longestFolder)
      .refine((path) => !path.includes('\0'), 'a path without NUL is expected')
      .optional()
      .describe(
        'Root folder of the paths of this session, absolute or relative to `storage_root`. Empty: `storage_root`.',
      ),
    access_token: z
      .string(badToken)
      .min(1, badToken)
      .max(4096, badToken)
      .optional()
      .describe('The secret, for servers with `access_token_file`; other servers ignore it.'),
  }),
  DestroySessionRequest: request('DestroySessionRequest', { session_id }),
  CreateEmbeddedStringStorageRequest: request('CreateEmbeddedStringStorageRequest', {
    session_id,
    name,
    config_path: z
      .string()
      .optional()
      .describe('A knowledge base config file, relative to the storage root.'),
    strings: stringArray()
      .optional()
      .describe('The texts of the records. Their ids are `"0"`, `"1"` and so on.'),
    records: recordArray()
      .optional()
      .describe(
        'Records with ids of your own, each `{"id", "text"}` and, with `fields`, `"metadata"`. Exactly one of `config_path`, `strings` and `records` is expected.',
      ),
    fields: recordFieldsSchema
      .optional()
      .describe('The typed metadata fields of `records`, as in a knowledge base config.'),
    embedding_model: z
      .string()
      .optional()
      .describe('Catalog name of the embedding model; required with `strings` and `records`.'),
    stale: z.enum(['wait', 'serve']).default('wait').describe(staleDescription),
  }),
  DestroyEmbeddedStringStorageRequest: request('DestroyEmbeddedStringStorageRequest', { session_id, name }),
  UpdateEmbeddedStringStorageRequest: request('UpdateEmbeddedStringStorageRequest', {
    session_id,
    name: storagePlace,
    add: recordArray().optional().describe('New records. An id that exists is refused (8007).'),
    replace: recordArray()
      .optional()
      .describe('Records in place of those with their ids. An id that does not exist is refused (8008).'),
    remove: recordIds(maxRecords).optional().describe('Ids of records to remove; 8008 as for `replace`.'),
    upsert: z
      .boolean()
      .default(false)
      .describe('`add` replaces records that exist, and `replace` adds those that do not.'),
    if_version: z.int().min(0).optional().describe('Refuses the batch unless this is the version (8010).'),
  }),
  GetEmbeddedStringStorageRequest: request('GetEmbeddedStringStorageRequest', {
    session_id,
    name: storagePlace,
    ids: recordIds(1000).describe('Ids of the records, at most 1,000.'),
    as_of,
  }),
  ListEmbeddedStringStorageRequest: request('ListEmbeddedStringStorageRequest', {
    session_id,
    name: storagePlace,
    filter: z.unknown().optional().describe('Predicate over the metadata: docs/reference/filters.md.'),
    variables: variables.describe('Values for the `filter`.'),
    offset: z.int().min(0).default(0).describe('Records to skip.'),
    limit: z.int().min(1).max(1000).default(100).describe('Maximum number of records.'),
    as_of,
  }),
  ForgetEmbeddedStringStorageRequest: request('ForgetEmbeddedStringStorageRequest', {
    session_id,
    name: storagePlace,
    ids: recordIds(maxRecords).describe('Ids of the records.'),
  }),
  SearchEmbeddedStringStorageRequest: request('SearchEmbeddedStringStorageRequest', {
    session_id,
    name: z
      .string()
      .optional()
      .describe('Name of a storage, or path of a knowledge base config; required without `names`.'),
    names: boundedArray(z.string(), 1, 16)
      .optional()
      .describe('Several storages, 1 to 16, whose hits are merged by relevance: docs/concepts/search.md.'),
    text: z.string().min(1).optional().describe('Text to search for; required without `similar_to`.'),
    similar_to: z
      .string()
      .min(1)
      .optional()
      .describe(
        'Id of a record: finds those nearest to it, without itself, in dense mode. Takes the place of `text`.',
      ),
    ...retrievalFields,
    query: querySchema.describe('Mustache template of the text to search for. Default: `text`.'),
    variables: variables.describe('Values for `query` and `filter`.'),
    as_of,
  })
    .superRefine(refuseIneffective)
    .superRefine(requireText),
  CreateAgentRequest: request('CreateAgentRequest', {
    session_id,
    graph: graphSchema.describe('Nodes and edges: docs/reference/agents.md.'),
    enable_diagnostics: z.boolean().default(false).describe('Adds diagnostics to TurnComplete.'),
    history: historySchema
      .optional()
      .describe('Earlier turns, as ExportAgentResponse has them. Default: none.'),
  }),
  ExportAgentRequest: request('ExportAgentRequest', { session_id, agent_id }),
  DestroyAgentRequest: request('DestroyAgentRequest', { session_id, agent_id }),
  TurnRequest: request('TurnRequest', {
    session_id,
    agent_id,
    text: z.string().min(1).describe("The user's message."),
    variables: variables.describe('Values for templates and filters.'),
    action_result: actionResultSchema,
    hits: z
      .boolean()
      .default(false)
      .describe('TurnComplete has the hits of all `retrieve` nodes, not only of nodes with `emit`.'),
    dry_run: z
      .boolean()
      .default(false)
      .describe('`generate` nodes build their prompts and report them, but generate nothing.'),
  }),
  CancelTurnRequest: request('CancelTurnRequest', { session_id, turn_id }),
  ListModelsRequest: request('ListModelsRequest', { session_id }),
  PullModelRequest: request('PullModelRequest', {
    session_id,
    model: z.string().min(1).max(128).describe('Catalog name.'),
    variant: z
      .string()
      .min(1)
      .max(128)
      .optional()
      .describe('Name of the variant. Default: the first that can be downloaded and fits into memory.'),
  }),
  CancelPullRequest: request('CancelPullRequest', {
    session_id,
    model: z.string().min(1).max(128).describe('Catalog name.'),
  }),
  ThrottleReport: request('ThrottleReport', {
    level: z
      .number()
      .min(0)
      .max(1)
      .describe(
        'How long inference rests after each step. The level applies until the next report, 10 s of silence, or the end of the connection. The highest level of all clients applies.',
      ),
  }),
  VideoMemoryRequest: request('VideoMemoryRequest', {
    allowed: z
      .boolean()
      .describe(
        '`false`: models leave the GPU, and the reply comes when its memory is free; requests that run there fail with 5011. This lasts until the same client sends `true` or disconnects. `true`: models may use the GPU again.',
      ),
  }),
  StatusRequest: request('StatusRequest', {}),
  Ping: request('Ping', {}),
} as const;

export type RequestType = keyof typeof requestSchemas;
/** Requests as a handler sees them, with defaults filled in. */
export type Requests = { [Type in RequestType]: z.output<(typeof requestSchemas)[Type]> };

type Unaddressed<Frame> = Omit<Frame, 'type' | 'id'>;

/** Requests as a client writes them, without the fields that the client library fills in. */
export type RequestFields = {
  [Type in RequestType]: Type extends 'CreateAgentRequest'
    ? Unaddressed<Omit<z.input<(typeof requestSchemas)[Type]>, 'graph'>> & { graph: GraphInput }
    : Unaddressed<z.input<(typeof requestSchemas)[Type]>>;
};

const errorFields = {
  code: z.int().describe('Error code: docs/reference/errors.md.'),
  name: z.string().describe("The code's name."),
  message: z.string().describe('Names the field and the fix.'),
  details: z.record(z.string(), z.unknown()).describe('The same facts for programs.'),
};

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
    dry_run: z.array(dryRunSchema).optional().describe('The prompts of a turn with `dry_run`.'),
    error: z.object(errorFields).optional().describe('Reason of a failed turn.'),
    diagnostics: diagnostics.optional().describe('Only for agents with `enable_diagnostics`.'),
    debug_info: debugInfoSchema(engine)
      .optional()
      .describe('Only for agents with `enable_diagnostics`, and with `include_engine_diagnostics`.'),
  });
}

export type DebugInfo = NonNullable<ServerFrames['TurnComplete']['debug_info']>;
export type NodeDiagnostics = z.output<typeof nodeDiagnosticsSchema>;
export type TurnDiagnostics = NonNullable<ServerFrames['TurnComplete']['diagnostics']>;

const budgetSchema = z.object({
  held: z.int().describe('Bytes of connections, sessions, storages, agents and turns.'),
  held_limit: z.int().describe('Limit of `held`, in bytes.'),
  passing: z.int().describe('Bytes of received data, requests, results and unread replies.'),
  passing_limit: z.int().describe('Limit of `passing`, in bytes.'),
  heap: z.int().describe("Bytes of both in V8's heap."),
  heap_limit: z.int().describe('Limit of `heap`, in bytes.'),
  by_kind: z.record(z.string(), z.int()).describe('Bytes by kind.'),
});

export type BudgetStatus = z.output<typeof budgetSchema>;

const statusFields = {
  connections: z.int().describe('Connections of the server.'),
  connections_limit: z.int().describe('Maximum number of connections of the server.'),
  sessions: z.int().describe('Sessions of this connection.'),
  sessions_limit: z.int().describe('Maximum number of sessions of one connection.'),
  throttle: z.number().describe('The highest throttle level of all clients, 0 to 1.'),
  client: budgetSchema.describe("This client's memory budget."),
  server: budgetSchema.describe('The memory budget of all clients together.'),
};

/** A model of the catalog. */
const listedModelSchema = z.object({
  name: z.string().describe('Catalog name.'),
  type: z
    .enum(['embedding', 'llm', 'vad', 'stt', 'reranker'])
    .describe('`vad` and `stt` are listed and not used by this version.'),
  license: z.string().optional().describe('SPDX identifier of the licence of the weights.'),
  variants: z
    .array(
      z.object({
        name: z.string().optional().describe('For example the quantisation.'),
        state: z.enum(['present', 'absent']).describe('Whether its file is there.'),
        downloadable: z.boolean().describe('Whether the catalog has an address.'),
        chosen: z.boolean().describe('Whether the server takes this variant.'),
        size_bytes: z.int().optional().describe('Length of the file, or what the catalog states.'),
        device: z
          .string()
          .optional()
          .describe(
            'Device that computes it if there is room: `CPU`, or the name of a GPU. Absent if it needs a GPU that is absent or not in use.',
          ),
        contradictions: z
          .array(z.string())
          .optional()
          .describe(
            'One sentence per fact that the catalog and the file state differently, and on a download that has become shorter or longer.',
          ),
        unusable: z
          .string()
          .optional()
          .describe(
            'Why the file cannot be used: its damage, or why a load refuses it. Checksums are not compared.',
          ),
      }),
    )
    .describe('Files of the model.'),
  chosen_because: z.string().describe('Why the chosen variant was chosen.'),
  loaded: z.boolean().describe('Whether it is in memory.'),
  memory_bytes: z.int().optional().describe('Bytes that it takes.'),
  device: z.string().optional().describe('Device that computes it; absent unless it is loaded.'),
  context_size: z.int().optional().describe('In use, in tokens.'),
});

function reply<Type extends string, Fields extends z.ZodRawShape>(type: Type, fields: Fields) {
  const reply_to = requestIdSchema.describe('Id of the request.');
  return z.object({ type: z.literal(type), reply_to, ...fields });
}

/** Frames of the server. A client ignores fields and types that it does not know. */
export const serverSchemas = {
  Hello: z.object({
    type: z.literal('Hello'),
    protocol: z.literal(protocolVersion).describe('Version of the protocol.'),
    server: z.literal('lorekeep'),
    version: z.string().describe("The server's version."),
  }),
  CreateSessionResponse: reply('CreateSessionResponse', { session_id }),
  CreateEmbeddedStringStorageResponse: reply('CreateEmbeddedStringStorageResponse', {
    record_count: recordCount,
    embedding_dim: z.int().describe('Dimension of the embeddings.'),
    stale: staleMark,
  }),
  UpdateEmbeddedStringStorageResponse: reply('UpdateEmbeddedStringStorageResponse', {
    version,
    added: z.int().describe('Number of new records.'),
    replaced: z.int().describe('Number of records in place of earlier ones.'),
    removed: z.int().describe('Number of removed records.'),
    record_count: recordCount,
  }),
  GetEmbeddedStringStorageResponse: reply('GetEmbeddedStringStorageResponse', {
    version,
    records: z.array(storedRecordSchema).describe('The records, in the order of the ids.'),
    missing: z.array(z.string()).describe('The ids without a record.'),
  }),
  ListEmbeddedStringStorageResponse: reply('ListEmbeddedStringStorageResponse', {
    version,
    total: z.int().describe('Number of records, or of those that match the filter.'),
    records: z.array(storedRecordSchema).describe('The records, in their order.'),
  }),
  ForgetEmbeddedStringStorageResponse: reply('ForgetEmbeddedStringStorageResponse', {
    version,
    forgotten: z.int().describe('Number of records that are gone.'),
    record_count: recordCount,
  }),
  SearchEmbeddedStringStorageResponse: reply('SearchEmbeddedStringStorageResponse', {
    version: version.optional().describe('Version of the storage; absent for a search with `names`.'),
    hits: z.array(hitSchema).describe('The hits, best first.'),
    plan: retrievalPlanSchema.describe('How the search ran: docs/concepts/search.md.'),
    plans: z
      .array(
        z.object({
          storage: z.string().describe('Name of the storage.'),
          plan: retrievalPlanSchema.describe('How the search ran in it.'),
        }),
      )
      .optional()
      .describe('With `names`: the plan of each storage; `plan` is the first.'),
    stale: staleMark,
  }),
  CreateAgentResponse: reply('CreateAgentResponse', { agent_id }),
  ExportAgentResponse: reply('ExportAgentResponse', {
    history: historySchema.describe('For the `history` of a CreateAgentRequest.'),
  }),
  ListModelsResponse: reply('ListModelsResponse', {
    models: z.array(listedModelSchema).describe('All models of the catalog, in its order.'),
    memory: z
      .array(
        z.object({
          device: z.string().describe('`CPU`, or the name of a GPU.'),
          used: z.int().describe('Bytes that models take.'),
          limit: z.int().optional().describe('Bytes that they may take; absent: not limited here.'),
        }),
      )
      .describe('The budget that all models share.'),
    pulls_allowed: z.boolean().describe('Whether PullModelRequest is allowed.'),
  }),
  PullModelResponse: reply('PullModelResponse', {
    model: z.string().describe('Catalog name.'),
    variant: z.string().optional().describe('Name of the variant.'),
    size_bytes: z.int().optional().describe('Length that the catalog states.'),
    downloaded: z.boolean().describe('false: the file was there already.'),
  }),
  PullProgress: z.object({
    type: z.literal('PullProgress'),
    request_id: requestIdSchema.describe('The `id` of the PullModelRequest.'),
    model: z.string().describe('Catalog name.'),
    file: z.string().describe('Name of the file; a split model has several.'),
    done_bytes: z.int().describe('Bytes of the file that are there.'),
    total_bytes: z.int().describe('Length of the file.'),
  }),
  Ack: reply('Ack', {}),
  StatusResponse: reply('StatusResponse', statusFields),
  Pong: reply('Pong', {}),
  TurnStarted: reply('TurnStarted', { turn_id }),
  TurnText: z.object({
    type: z.literal('TurnText'),
    turn_id,
    node: z.string().describe('Id of the node that replies.'),
    kind: z
      .enum(['reply', 'thinking'])
      .describe('Pieces of the kind `reply` add up to the reply; `thinking` is not part of it.'),
    text: z.string().describe('The next piece.'),
  }),
  TurnComplete: turnCompleteSchema(nodeDiagnosticsSchema, anyComponentSchema, engineDiagnosticsSchema),
  Error: z.object({
    type: z.literal('Error'),
    reply_to: requestIdSchema.nullable().describe('null when the request had no id that could be read.'),
    ...errorFields,
  }),
} as const;

type ServerFrameType = keyof typeof serverSchemas;
export type ServerFrames = { [Type in ServerFrameType]: z.output<(typeof serverSchemas)[Type]> };
export type ServerFrame = ServerFrames[ServerFrameType];

/** Which frame answers which request; Error may answer any. */
export interface Replies {
  CreateSessionRequest: 'CreateSessionResponse';
  DestroySessionRequest: 'Ack';
  CreateEmbeddedStringStorageRequest: 'CreateEmbeddedStringStorageResponse';
  DestroyEmbeddedStringStorageRequest: 'Ack';
  UpdateEmbeddedStringStorageRequest: 'UpdateEmbeddedStringStorageResponse';
  GetEmbeddedStringStorageRequest: 'GetEmbeddedStringStorageResponse';
  ListEmbeddedStringStorageRequest: 'ListEmbeddedStringStorageResponse';
  ForgetEmbeddedStringStorageRequest: 'ForgetEmbeddedStringStorageResponse';
  SearchEmbeddedStringStorageRequest: 'SearchEmbeddedStringStorageResponse';
  CreateAgentRequest: 'CreateAgentResponse';
  ExportAgentRequest: 'ExportAgentResponse';
  DestroyAgentRequest: 'Ack';
  TurnRequest: 'TurnStarted';
  CancelTurnRequest: 'Ack';
  ListModelsRequest: 'ListModelsResponse';
  PullModelRequest: 'PullModelResponse';
  CancelPullRequest: 'Ack';
  ThrottleReport: 'Ack';
  VideoMemoryRequest: 'Ack';
  StatusRequest: 'StatusResponse';
  Ping: 'Pong';
}
