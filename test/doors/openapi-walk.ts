import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/server/validators/ajv';
import { FakeTextModel } from '../helpers/fake-text-model.js';
import { tinyReranker } from '../helpers/rerankers.js';
import { catalogPath } from '../server/test-server.js';
import { type Door, door, type Json } from './door-setting.js';
import { keysFile, secret } from './web-socket.js';

/** An operation of the document. */
export interface Operation {
  readonly method: string;
  readonly path: string;
  readonly operationId: string;
  readonly description: string;
  readonly security?: readonly object[];
  readonly parameters?: readonly { name: string; in: string; required: boolean; schema: Json }[];
  readonly requestBody?: { content: { 'application/json': { schema: Json } } };
  readonly responses: Readonly<Record<string, { content?: Readonly<Record<string, { schema: Json }>> }>>;
}

/** A request with valid input. */
export interface ValidCall {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Json;
  /** Default: 200. */
  readonly status?: number;
  readonly type?: string;
}

const messages = [{ role: 'user', content: 'Hi' }];
const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }];
const docs = { storage: 'docs' };
const message = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
const accept = { accept: 'application/json, text/event-stream' };
const events = { type: 'text/event-stream' };
const envelope = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'x', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};
const latest = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' };

/** Valid requests to each operation, in an order in which each finds what it needs. */
export const validCalls: Readonly<Record<string, readonly ValidCall[]>> = {
  search: [
    { body: { text: 'bees' } },
    { body: { name: 'docs', text: 'bees', mode: 'hybrid', top_k: 3, highlight: true, rerank: {} } },
    { body: { names: ['docs', 'shelf'], text: 'bees', group_by: 'n' } },
    { body: { name: 'docs', text: 'zzz', filter: { '==': [{ knowledge: 'n' }, -1] } } },
  ],
  list_storages: [{}],
  get_storage: [{ path: docs }, { path: { storage: 'shelf' } }],
  put_record: [
    { path: { ...docs, id: 'a/b' }, body: { text: 'A ferry.', metadata: { n: 9 } } },
    { path: { ...docs, id: 'a/b' }, body: { text: 'A boat.', if_version: 1 } },
  ],
  change_records: [
    { path: docs, body: { add: [{ id: 'c', text: 'C.' }], replace: [{ id: 'r1', text: 'R.' }], remove: [] } },
    { path: docs, body: { add: [{ id: 'c', text: 'D.' }], upsert: true } },
  ],
  list_records: [
    { path: docs },
    { path: docs, query: { limit: '1', offset: '2', as_of: '1' } },
    { path: docs, query: { as_of: '2999-01-01T00:00:00Z' } },
  ],
  get_record: [{ path: { ...docs, id: 'a/b' } }, { path: { ...docs, id: 'a/b' }, query: { as_of: '1' } }],
  get_records: [{ path: docs, body: { ids: ['r0', 'none'] } }],
  find_records: [
    { path: docs, body: {} },
    { path: docs, body: { filter: { '>': [{ knowledge: 'n' }, 2] }, limit: 2, offset: 1 } },
  ],
  remove_record: [{ path: { ...docs, id: 'c' }, query: { if_version: '4' } }],
  forget_records: [{ path: docs, body: { ids: ['a/b'] } }],
  list_models: [{}],
  get_model: ['docs', 'greeter', 'talker', 'tiny', 'judge'].map((model) => ({ path: { model } })),
  create_chat_completion: [
    { body: { model: 'talker', messages } },
    { body: { model: 'docs', messages } },
    { body: { model: 'greeter', messages } },
    { body: { model: 'talker', messages: [{ role: 'user', content: 'Look' }], tools } },
    {
      body: { model: 'talker', messages, store: false, n: 1, logit_bias: {}, user: 'me', stop: null },
      headers: { 'X-Lorekeep-Class': 'background' },
    },
    { body: { model: 'talker', messages, stream: true }, ...events },
  ],
  create_response: [
    { body: { model: 'talker', input: 'Hi' } },
    {
      body: { model: 'docs', input: messages, background: false },
      headers: { 'X-Lorekeep-Class': 'interactive_buffered' },
    },
    {
      body: {
        model: 'talker',
        input: [{ role: 'user', content: 'Look' }],
        tools: [{ type: 'function', name: 'look', parameters: { type: 'object' } }],
      },
    },
    { body: { model: 'talker', input: 'Hi', stream: true }, ...events },
  ],
  create_embeddings: [
    { body: { model: 'tiny', input: 'bees' } },
    { body: { model: 'tiny', input: ['bees', 'copper'], encoding_format: 'base64', input_type: 'query' } },
  ],
  rerank: [
    { body: { query: 'cat', documents: ['a cat', { text: 'a dog' }] } },
    { body: { model: 'judge', query: 'cat', documents: ['a cat', 'b'], top_n: 1, return_documents: true } },
  ],
  mcp: [
    { body: message, headers: accept, ...events },
    { body: { jsonrpc: '2.0', method: 'notifications/initialized' }, headers: accept, status: 202 },
    { body: { ...message, params: { _meta: envelope } }, headers: { ...accept, ...latest } },
  ],
  get_openapi_document: [{}],
};

/** What each key may do. */
export const keys = {
  all: ['search', 'chat', 'write', 'files'],
  search: ['search'],
  chat: ['chat'],
  write: ['write'],
  files: ['files'],
} as const;

/** A door with one of everything that the document names, and keys. */
export async function openWalk(): Promise<Door & { operations: readonly Operation[] }> {
  const model = new FakeTextModel({
    reply: (_, sent) =>
      sent.at(-1)?.content === 'Look'
        ? ['<tool_call>{"name": "look", "arguments": {}}</tool_call>']
        : ['Well [1].'],
  });
  const spare = await door({ enabled: false });
  const catalog = join(spare.folder, 'models.json');
  const variant = async (name: string, model_type: string, file: string) => ({
    ...{ name, model_type },
    variants: [{ file }],
  });
  const tiny = join(dirname(catalogPath), 'tiny.gguf');
  const models = await Promise.all([
    variant('tiny', 'embedding', tiny),
    variant('talker', 'llm', tiny),
    variant('judge', 'reranker', await tinyReranker('one-layer')),
  ]);
  writeFileSync(catalog, JSON.stringify({ version: 1, models }));
  const graph = join(spare.folder, 'greeter.json');
  const node = { id: 'a', type: 'canned_response', params: { seed: 1 } };
  writeFileSync(graph, JSON.stringify({ nodes: [node] }));
  const shelf = join(spare.folder, 'docs', 'kb.json');
  const opened = await door(
    {
      agents: { greeter: graph },
      keys_file: keysFile(keys),
    },
    {
      config: { models_catalog_path: catalog, storage_writes: 'files' },
      loadLanguageModel: async () => model,
    },
    true,
    { shelf: { config: shelf } },
  );
  const document = (await opened.call('GET', '/openapi.json')).json();
  return { ...opened, operations: operationsOf(document) };
}

function operationsOf({ paths, components }: Json): Operation[] {
  const inline = (value: Json): Json => {
    if (typeof value !== 'object' || value === null) return value;
    if (value.$ref === '#/components/schemas/Error') return components.schemas.Error;
    if (Array.isArray(value)) return value.map(inline);
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, inline(part)]));
  };
  return Object.entries(inline(paths)).flatMap(([path, methods]) =>
    Object.entries(methods as object).map(([method, one]) => ({
      ...one,
      method: method.toUpperCase(),
      path,
    })),
  );
}

export const bearer = (key: keyof typeof keys) => ({ authorization: `Bearer ${secret(key)}` });

/** The address of an operation. */
export function addressOf({ path }: Operation, { path: values = {}, query }: ValidCall): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? ''));
  return query === undefined ? filled : `${filled}?${new URLSearchParams(query)}`;
}

const validator = new AjvJsonSchemaValidator();

/** Returns what a schema has against a value; undefined: nothing. */
export function objection(schema: Json, value: unknown): string | undefined {
  const found = validator.getValidator(schema)(value);
  return found.valid ? undefined : found.errorMessage;
}
