import { z } from 'zod';
import { boundedArray, stringArray } from '../base/schema/bounded.js';
import { requestFieldsSchema } from '../search/record-fields.js';
import { turnAsOfSchema } from './as-of.js';
import {
  agent_id,
  as_of,
  name,
  recordIds,
  request,
  session_id,
  storagePlace,
  turn_id,
  variables,
} from './fields.js';
import { defaultQuery, graphSchema, querySchema } from './graph.js';
import { actionResultSchema, historySchema } from './history.js';
import { removeHistories } from './memories.js';
import { maxRecords, recordArray } from './records.js';
import { refuseIneffective, retrievalFields, staleDescription } from './retrieval.js';
import { speechRequestSchemas } from './speech-frames.js';

/** Maximum number of characters of a folder's path: no system opens longer ones. */
const longestFolder = 32_767;

/** Without the value: it may be a secret. */
const badToken = { error: 'a string of 1 to 4096 characters is expected' };

/** Without the value: it is a secret. */
const badResume = { error: 'the `resume` of a CreateSessionResponse is expected' };

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
    keep: z
      .boolean()
      .default(false)
      .describe(
        'The agents of the session outlive the connection and the server, in its `session_store`. The reply has `resume`.',
      ),
    resume: z
      .string(badResume)
      .min(1, badResume)
      .max(256, badResume)
      .optional()
      .describe(
        'The `resume` of an earlier CreateSessionResponse: the session has the agents that were kept, and stays kept. A session that still has them ends (2014).',
      ),
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
    fields: requestFieldsSchema
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
    histories: removeHistories,
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
    kept: z
      .int()
      .min(1)
      .optional()
      .describe(
        'Number of a kept agent that could not be opened when the session was resumed. Without `history` it has the kept one.',
      ),
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
    as_of: turnAsOfSchema
      .optional()
      .describe(
        'Answers from what the storages had then: a time, or `{"name": version or time}` as in `diagnostics.versions`. The turn remembers nothing. Default: the newest.',
      ),
  }),
  CancelTurnRequest: request('CancelTurnRequest', { session_id, turn_id }),
  ConfirmForgetRequest: request('ConfirmForgetRequest', {
    session_id,
    forget_id: z.string().min(1).max(128).describe('Of the TurnForget.'),
    confirm: z.boolean().describe('Whether records are forgotten.'),
    ids: recordIds(1000)
      .optional()
      .describe('Which of the records of the TurnForget are forgotten. Default: all.'),
    histories: removeHistories,
  }),
  ...speechRequestSchemas,
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
