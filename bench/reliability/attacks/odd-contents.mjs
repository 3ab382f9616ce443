// More attacks by the content of texts: schemas whose definitions refer to each other, grammars with many states, options of sampling,
// templates, and messages of MCP and WebSocket. memory.mjs says what an attack is.
import { graphOf, list, of, times } from './texts.mjs';
import { bodies, host, mcpHeaders, Wire, webSocket, webSocketFrame } from './wire.mjs';

const mib = 1024 * 1024;
const docs = { embedded_string_storage: 'docs' };
const model = 'writer';

const next = (n) => ({ $ref: `#/$defs/d${n + 1}` });
const definitions = (count, of) => Object.fromEntries(list(count, (n) => [`d${n}`, of(n)]));
/** A schema of definitions that each refer to the next ones. */
const web = (count, of, head = next(-1)) => ({
  ...head,
  $defs: { ...definitions(count, of), [`d${count}`]: { const: 1 } },
});

const schemas = [
  web(30, (n) => ({ allOf: [next(n), next(n)] }), { not: next(-1) }),
  web(30, (n) => ({ anyOf: [next(n), next(n)] }), { if: next(-1) }),
  web(30, (n) => ({ allOf: [next(n), next(n)] })),
  web(40, (n) => ({
    anyOf: list(10, (k) => ({ type: 'object', properties: { [`p${k}`]: next(n), q: next((n + k) % 39) } })),
  })),
  { type: 'string', not: { enum: list(2000, (n) => `x${n}${times('y', 50)}`) } },
  { enum: list(500, (n) => `x${n}`), not: { const: times('y', 200_000) } },
  { type: 'array', prefixItems: list(1500, (n) => ({ type: 'array', maxItems: n })), items: false },
  { allOf: list(1200, (n) => ({ required: [`a${n}`] })) },
  { oneOf: list(250, (n) => ({ const: `c${n}` })) },
  { dependentRequired: Object.fromEntries(list(20, (n) => [`a${n}`, list(20, (k) => `a${k}`)])) },
  {
    minProperties: 400,
    properties: Object.fromEntries(list(900, (n) => [`p${n}`, { enum: list(3, (k) => `${n}${k}`) }])),
  },
  { type: 'integer', minimum: -9007199254740991, maximum: 9007199254740991, multipleOf: 9973 },
];

const grammars = [
  `root ::= (a0 | a1)*\n${list(500, (n) => `a${n} ::= [a-z]* a${n + 1} | "x"`).join('\n')}\na500 ::= [a-y]* "z"`,
  `root ::= (${list(2000, (n) => `"w${n}" [a-z]*`).join(' | ')})*`,
  'root ::= ([a-z]{0,100} [0-9]?){0,1000}',
  `root ::= ${times('[\\u0100-\\U0010ffff]? ', 3000)}`,
  `root ::= s*\ns ::= ${list(60, (n) => `(s "${String.fromCharCode(97 + (n % 26))}" s)`).join(' | ')} | [a-z ]`,
  'root ::= ([^\\x00]? [^\\x01]? [^\\x02]?){2000} .*',
];

/** Turns of an agent, one after the other; the agent is made anew after some. */
const turns = (name, lanes, graphFor, frameOf) => ({
  name: `${name}, ${lanes} clients`,
  lanes,
  async lane({ open, alive, pause, lane }) {
    const peer = await open();
    const session_id = await peer.storage();
    for (let id = 0; alive() && !peer.closed; id++) {
      const create = {
        type: 'CreateAgentRequest',
        id: `agent ${id}`,
        session_id,
        graph: graphFor(id + lane),
      };
      const { agent_id } = (await peer.request(create)) ?? {};
      if (agent_id === undefined) await pause(5);
      else {
        for (let n = 0; n < 4 && alive() && !peer.closed; n++) {
          const ended = peer.next('TurnComplete');
          const frame = {
            type: 'TurnRequest',
            id: `turn ${id} ${n}`,
            session_id,
            agent_id,
            ...frameOf(id + n),
          };
          const { turn_id } = (await peer.request(frame)) ?? {};
          if (turn_id !== undefined) await ended;
        }
        await peer.request({ type: 'DestroyAgentRequest', id: `end ${id}`, session_id, agent_id });
      }
    }
  },
});

const generate = (params) => graphOf(['generate', { max_tokens: 40, history: { turns: 0 }, ...params }]);
const bee = () => ({ text: 'bee' });
const user = (content) => ({ role: 'user', content });

const batches = [
  list(20_000, (id) => ({ jsonrpc: '2.0', id, method: 'ping' })),
  { jsonrpc: '2.0', id: times('x', mib), method: 'ping' },
  {
    ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
    params: {
      protocolVersion: times('2', mib),
      capabilities: Object.fromEntries(list(9000, (n) => [`c${n}`, { a: list(50, (m) => m) }])),
      clientInfo: { name: times('n', mib), version: times('v', mib) },
    },
  },
  {
    ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
    params: {
      name: 'remember',
      arguments: { text: 'a', metadata: Object.fromEntries(list(9000, (n) => [`m${n}`, n])) },
    },
  },
];

const lines = [
  `GET /v1/storages/own/records?${times('limit=1&', 1900)} HTTP/1.1\r\n${host}\r\n`,
  `GET /v1/storages/${times('%2F', 5000)} HTTP/1.1\r\n${host}\r\n`,
  `GET /v1/storages HTTP/1.1\r\n${host}accept: ${times('a/b;q=0.1,', 1500)}\r\n\r\n`,
  `GET /v1/storages HTTP/1.1\r\n${host}cookie: ${times('a=b; ', 3000)}\r\n\r\n`,
  `POST /v1/search HTTP/1.1\r\n${host}content-type: application/json;${times(' a="', 3500)}\r\ncontent-length: 2\r\n\r\n{}`,
  `GET /${times('../', 5000)} HTTP/1.1\r\n${host}\r\n`,
];

export const oddContentAttacks = [
  turns(
    'agents whose schemas have definitions that refer to each other',
    4,
    (id) => generate({ json_schema: of(schemas, id), context_size: 2048 }),
    bee,
  ),
  turns(
    'replies by grammars of many states, rules and alternatives',
    3,
    (id) => generate({ grammar: of(grammars, id), temperature: 1, context_size: 2048 }),
    bee,
  ),
  turns(
    'agents with 20 actions whose schemas refer to themselves',
    2,
    (id) =>
      generate({
        actions: list(20, (n) => ({
          name: `a${n}`,
          description: times('d', 2000),
          parameters: of(schemas, id + n),
        })),
        context_size: 2048,
      }),
    bee,
  ),
  turns(
    'replies with 16 long texts that end them and penalties for all tokens',
    2,
    () =>
      generate({
        ...{ max_tokens: 2000, context_size: 8192, temperature: 10, top_k: 0, top_p: 1, min_p: 0 },
        ...{ repeat_penalty: 1.1, frequency_penalty: 1, presence_penalty: 1, penalty_last_n: 1_048_576 },
        stop: list(16, (n) => `${times('a', 1000 + n)}b`),
      }),
    () => ({ text: times('bee ', 1500) }),
  ),
  turns(
    'quotations of records of 250,000 characters',
    2,
    () =>
      graphOf(
        ['retrieve', { embedded_string_storage: 'long.json', mode: 'lexical', top_k: 20 }],
        ['generate', { cite: 'verbatim', max_tokens: 200, context_size: 8192, temperature: 1 }],
      ),
    (n) => ({ text: `topic${n % 20} topic3 topic4` }),
  ),
  turns(
    'templates of 16,000 characters for each of 1,000 records',
    4,
    () =>
      graphOf(
        ['retrieve', { ...docs, mode: 'dense', top_k: 1000 }],
        [
          'generate',
          {
            knowledge: { item: times('{{metadata.year}}{{text}} ', 600), header: times('{{text}}', 2000) },
            ...{ max_tokens: 2, context_size: 8192 },
          },
        ],
      ),
    bee,
  ),
  bodies(
    'OpenAI: formats and tools whose schemas refer to themselves, 4 clients',
    4,
    '/v1/chat/completions',
    (n) => ({
      ...{ model, messages: [user('bee')], max_tokens: 20 },
      ...(n % 2 === 0
        ? { response_format: { type: 'json_schema', json_schema: { schema: of(schemas, n / 2) } } }
        : {
            tools: list(40, (k) => ({
              type: 'function',
              function: { name: `f${k}`, parameters: of(schemas, k + (n - 1) / 2) },
            })),
          }),
    }),
  ),
  bodies(
    'OpenAI: 128 calls of tools with arguments of 60,000 characters, 4 clients',
    4,
    '/v1/chat/completions',
    (n) => {
      const given = of(
        [times('[', 30_000) + times(']', 30_000), times('{"a":', 10_000), times('\u0001', 10_000)],
        n,
      );
      const tool_calls = list(128, (id) => ({
        id: `${id}`,
        type: 'function',
        function: { name: 'f', arguments: given },
      }));
      return {
        model,
        max_tokens: 1,
        messages: [user('x'), { role: 'assistant', content: null, tool_calls }, user('y')],
      };
    },
  ),
  bodies(
    'MCP: batches, and ids, capabilities and metadata of a megabyte, 8 clients',
    8,
    '/mcp',
    (n) => of(batches, n),
    {
      headers: mcpHeaders,
    },
  ),
  {
    name: 'storages of records with 900 tags each, all of them different, 4 clients',
    lanes: 4,
    async lane({ open, alive, lane }) {
      const peer = await open();
      const session_id = await peer.session();
      const records = list(1000, (n) => ({
        ...{ id: `${n}`, text: 'bee' },
        metadata: { tags: list(900, (m) => `${lane}.${n}.${m}`) },
      }));
      const fields = [{ name: 'tags', type: 'set<string>', optional: true }];
      const create = { type: 'CreateEmbeddedStringStorageRequest', session_id, embedding_model: 'tiny' };
      for (let id = 0; alive() && !peer.closed; id++) {
        await peer.request({ ...create, id, name: `s${id}`, records, fields });
        const destroy = { type: 'DestroyEmbeddedStringStorageRequest', session_id };
        await peer.request({ ...destroy, id: `end ${id}`, name: `s${id}` });
      }
    },
  },
  {
    name: 'HTTP requests with long queries, parameters and cookies, 16 clients',
    lanes: 16,
    door: true,
    async lane(tools) {
      for (let n = tools.lane; tools.alive(); n++) {
        const wire = await Wire.open(tools.door);
        await wire.send(of(lines, n));
        await Promise.race([wire.head(tools), tools.pause(1000)]);
        wire.end();
      }
    },
  },
  {
    name: 'WebSocket messages of thousands of empty fragments, and of damaged UTF-8, 16 clients',
    lanes: 16,
    door: true,
    async lane(tools) {
      for (let n = tools.lane; tools.alive(); n++) {
        const wire = await webSocket(tools);
        const empty = list(3000, () => webSocketFrame(0, Buffer.alloc(0), false));
        const last = webSocketFrame(0, Buffer.alloc(60_000, 0xe2), n % 2 === 0);
        const message = Buffer.concat([webSocketFrame(1, Buffer.from('{'), false), ...empty, last]);
        await Promise.race([wire.send(message), tools.pause(500)]);
        await tools.pause(20);
        wire.end();
      }
    },
  },
];
