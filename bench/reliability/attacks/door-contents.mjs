// Attacks by the content of requests over HTTP and WebSocket: the OpenAI door, REST, MCP, and unfinished messages. memory.mjs says what an
// attack is, doors.mjs what `door` is. The sample's language model has random weights.
import { list, of, times } from './texts.mjs';
import { bodies, host, json, mcpHeaders, Wire, webSocket, webSocketFrame } from './wire.mjs';

const kib = 1024;
const mib = 1024 * kib;
const chat = '/v1/chat/completions';
const responses = '/v1/responses';
const model = 'writer';
const user = (content) => ({ role: 'user', content });
const numbers = list(900_000, () => 1);
const functionOf = (n, parameters, description = '') => ({
  type: 'function',
  function: { name: `f${n}`, description, parameters },
});

const manyValues = [
  [chat, { model, messages: numbers }],
  [chat, { model, messages: [user(numbers)] }],
  [chat, { model, messages: list(800, () => user(list(1000, () => ({ type: 'text', text: 'x' })))) }],
  [chat, { model, messages: [user('x')], tools: numbers }],
  [chat, { model, messages: [user('x')], stop: numbers, modalities: numbers, logit_bias: numbers }],
  [chat, { model, messages: [{ role: 'assistant', tool_calls: numbers }] }],
  [responses, { model, input: numbers }],
  [responses, { model, input: list(20_000, () => ({ role: 'nobody' })) }],
  [responses, { model, input: 'x', include: numbers, tools: numbers }],
  ['/v1/embeddings', { model: 'tiny', input: numbers }],
  ['/v1/embeddings', { model: 'tiny', input: [numbers] }],
  ['/v1/rerank', { query: 'x', documents: numbers }],
];

const schemas = [
  { const: times('"\\', 120_000) },
  { type: 'string', pattern: `^${times('(a|b)?', 5000)}$` },
  { enum: list(200, (n) => times(`"${n}\\`, 300)) },
  { type: 'object', properties: Object.fromEntries(list(4000, (n) => [`p${n}`, { type: 'integer' }])) },
];

const marks = times('\u0301\u0323', 8000);
const odd = [
  times('.', 200_000),
  `a${marks}`,
  times('\ufdfa', 60_000),
  times('蜜', 60_000),
  times('[CLS] ', 30_000),
];

const call = (name, given) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name, arguments: given },
});
let nested = { or: list(9000, (n) => ({ '==': [{ knowledge: 'year' }, n] })) };
for (let depth = 0; depth < 45; depth++) nested = { and: [nested] };

export const doorContentAttacks = [
  bodies('OpenAI: 20,000 replies without a message between them, 4 clients', 4, chat, () => ({
    model,
    max_tokens: 1,
    messages: [
      user('x'),
      ...list(19_990, () => ({ role: 'assistant', content: times('y', 380) })),
      user('z'),
    ],
  })),
  bodies(
    'OpenAI: fields of a million values, good and bad, 4 clients',
    4,
    (n) => of(manyValues, n)[0],
    (n) => of(manyValues, n)[1],
  ),
  bodies('OpenAI: streams that repeat tools of a megabyte, 4 clients', 4, responses, () => ({
    ...{ model, input: 'bee', max_output_tokens: 2, stream: true, tool_choice: 'none' },
    instructions: times('\u0001', 3000),
    tools: list(60, (n) => ({
      type: 'function',
      ...functionOf(n, { type: 'object' }, times('\u0001', 16_000)).function,
    })),
  })),
  bodies('OpenAI: tools and formats with dear schemas, 4 clients', 4, chat, (n) => ({
    ...{ model, max_tokens: 4, messages: [user('bee')] },
    ...(n % 2 === 0
      ? {
          tools: list(4, (at) =>
            functionOf(at, { type: 'object', properties: { a: of(schemas, n / 2 + at) } }),
          ),
        }
      : {
          response_format: { type: 'json_schema', json_schema: { schema: of(schemas, (n - 1) / 2) } },
        }),
  })),
  bodies('OpenAI: log-probabilities of long replies with 20 alternatives, 8 clients', 8, chat, (n) => ({
    ...{ model, max_tokens: 6000, messages: [user(`bee ${n}`)], logprobs: true, top_logprobs: 20 },
    stream: n % 2 === 0,
  })),
  bodies('OpenAI: 2,048 odd texts to embed, 4 clients', 4, '/v1/embeddings', (n) => ({
    model: 'tiny',
    input: n % 3 === 0 ? list(2048, (at) => of(odd, at).slice(0, 300)) : [of(odd, n)],
  })),
  bodies(
    'REST: searches with odd texts, filters and options at their limits, 4 clients',
    4,
    '/v1/search',
    (n) => ({
      ...{ name: 'own', text: of(odd, n).slice(0, 32_000), top_k: 1000, highlight: true },
      ...(n % 2 === 0 && { filter: nested }),
      lexical: { query_syntax: n % 3 === 0 ? 'extended' : 'plain', fuzziness: 2 },
    }),
  ),
  {
    ...bodies(
      'REST: long records written, read at versions, listed and forgotten, 4 clients',
      4,
      (n) =>
        of(
          [
            '/v1/storages/own/records',
            '/v1/storages/own/records/get',
            '/v1/storages/own/records/list',
            '/v1/storages/own/records/forget',
          ],
          n,
        ),
      (n) =>
        of(
          [
            {
              add: list(8, (at) => ({
                id: `long${at}`,
                text: list(9000, (m) => `Sentence ${m} of ${n}. `).join(''),
              })),
              upsert: true,
            },
            { ids: list(8, (at) => `long${at}`), as_of: n % 8 === 1 ? Math.max(0, n - 40) : undefined },
            { limit: 1000, filter: { '!=': [{ knowledge: 'id' }, times('x', 30_000)] } },
            { ids: list(8, (at) => `long${at}`) },
          ],
          n,
        ),
    ),
  },
  bodies(
    'MCP: tools with the longest arguments, 8 clients',
    8,
    '/mcp',
    (n) =>
      call(
        ...of(
          [
            ['search', { query: of(odd, n).slice(0, 10_000), top_k: 50, filter: nested }],
            ['get', { ids: list(50, (at) => `${at}${times('x', 9990)}`) }],
            ['list', { limit: 100, filter: nested }],
            ['ask', { question: of(odd, n).slice(0, 10_000), top_k: 50 }],
            ['remember', { text: `${n} ${of(odd, n).slice(0, 90_000)}`, id: `odd${n % 20}` }],
            ['get', { ids: list(20, (at) => `odd${at}`) }],
            ['forget', { ids: numbers }],
            [times('x', mib), { a: numbers }],
          ],
          n,
        ),
      ),
    { headers: mcpHeaders },
  ),
  bodies(
    'MCP: addresses of resources and methods of a megabyte, 8 clients',
    8,
    '/mcp',
    (n) => ({
      ...{ jsonrpc: '2.0', id: 1 },
      ...of(
        [
          { method: 'resources/read', params: { uri: `lorekeep://own/${times('%41/', mib / 4)}` } },
          { method: 'resources/read', params: { uri: times('lorekeep://', mib / 11) } },
          {
            method: 'completion/complete',
            params: {
              ref: { type: 'ref/resource', uri: 'lorekeep://{storage}/{+id}' },
              argument: { name: 'storage', value: times('o', mib) },
            },
          },
          { method: 'prompts/get', params: { name: 'answer', arguments: { question: times('x', mib) } } },
          { method: times('m', mib), params: { a: numbers } },
          { method: 'tools/list', params: { _meta: { a: numbers }, cursor: times('x', mib) } },
        ],
        n,
      ),
    }),
    { headers: mcpHeaders },
  ),
  {
    name: 'WebSocket messages of 60 MiB that do not end, 40 clients',
    lanes: 40,
    door: true,
    async lane(tools) {
      const wire = await webSocket(tools);
      const piece = Buffer.alloc(60_000, 32);
      await wire.send(webSocketFrame(1, Buffer.from('{"type":"Ping",'), false));
      for (let sent = 0; sent < 1000 && tools.alive() && !wire.closed; sent++)
        await Promise.race([wire.send(webSocketFrame(0, piece, false)), tools.pause(500)]);
      while (tools.alive() && !wire.closed) await tools.pause(50);
    },
  },
  {
    name: 'WebSocket pings whose answers nobody reads, 50 clients',
    lanes: 50,
    door: true,
    async lane(tools) {
      const wire = await webSocket(tools);
      wire.socket.pause();
      const pings = Buffer.concat(list(500, () => webSocketFrame(9, Buffer.alloc(125, 97))));
      while (tools.alive() && !wire.closed) await Promise.race([wire.send(pings), tools.pause(500)]);
    },
  },
  {
    name: 'WebSocket messages, each byte a packet, 50 clients',
    lanes: 50,
    door: true,
    async lane(tools) {
      const wire = await webSocket(tools);
      wire.socket.setNoDelay(true);
      await wire.send(webSocketFrame(1, Buffer.alloc(60_000, 32)).subarray(0, 8));
      while (tools.alive() && !wire.closed) {
        await wire.send(Buffer.from(' '));
        await tools.pause(0);
      }
    },
  },
  {
    name: 'HTTP bodies in chunks of a byte, 16 clients',
    lanes: 16,
    door: true,
    async lane(tools) {
      const wire = await Wire.open(tools.door);
      await wire.send(`POST /v1/search HTTP/1.1\r\n${host}${json}transfer-encoding: chunked\r\n\r\n`);
      const chunks = Buffer.from(times('1\r\n \r\n', 20_000));
      while (tools.alive() && !wire.closed) await Promise.race([wire.send(chunks), tools.pause(500)]);
      wire.end();
    },
  },
];
