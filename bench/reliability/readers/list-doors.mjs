// The readers of the bodies of HTTP requests, and of MCP: see list.mjs. Each check of a body is one slice of the event loop.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { mapInSlices } from '../../../dist/src/base/waiting/next-slice.js';
import { checked } from '../../../dist/src/doors/http/exchange.js';
import { createMcpHandler } from '../../../dist/src/doors/mcp/sdk.js';
import { mcpServer } from '../../../dist/src/doors/mcp/server.js';
import { chatBody } from '../../../dist/src/doors/openai/chat.js';
import { embeddingsBody } from '../../../dist/src/doors/openai/embeddings.js';
import { rerankBody } from '../../../dist/src/doors/openai/rerank.js';
import { responsesBody } from '../../../dist/src/doors/openai/responses.js';
import { searchBody } from '../../../dist/src/doors/rest/search.js';
import { parsedInSlices, refused, words } from './parts.mjs';

const mib = 1024 * 1024;
const tokens = [
  ...words('{ } [ ] , : "a" 1 null true [], {}, "a", 1, "\\u0000"'),
  '"a":1,',
  '"type":"text","text":"a"',
];

const row = (name, schema, head, unit, tail, own = []) => ({
  name: `bodies of requests: ${name}`,
  limit: 4 * mib,
  tokens: [...tokens, unit, ...own],
  seeds: [
    { head, unit, tail },
    { head, unit: '1,', tail: `1${tail}` },
    { head, unit: '{},', tail: `{}${tail}` },
    { head: '{', unit: '"a":1,', tail: '"b":2}' },
    { head: `${head}${unit}`, unit: '[[', tail: '', close: ']]' },
  ],
  read: (text) =>
    refused(async () => {
      const value = await parsedInSlices(text);
      await nextTurn();
      await check(schema, value);
    }),
});

/** As a route checks a body: the items of long arrays in slices. */
async function check(schema, value) {
  const body = checked(schema, value);
  for (const items of [body.messages, body.input])
    if (Array.isArray(items)) await mapInSlices(items, (item) => JSON.stringify(item)?.length);
}

export const doorBodies = [
  row(
    'chat',
    chatBody,
    '{"model":"m","messages":[',
    '{"role":"user","content":"a"},',
    '{"role":"user","content":"a"}]}',
    [
      '"tools":[{"type":"function","function":{"name":"a","parameters":{}}}],',
      '"stop":["a"],',
      '"tool_calls":[{"id":"a","type":"function","function":{"name":"a","arguments":"{}"}}],',
      '{"type":"text","text":"a"},',
    ],
  ),
  row(
    'responses',
    responsesBody,
    '{"model":"m","input":[',
    '{"role":"user","content":"a"},',
    '{"type":"reasoning"}]}',
    ['{"type":"function_call","call_id":"a","name":"a","arguments":"{}"},', '"include":["a"],'],
  ),
  row('embeddings', embeddingsBody, '{"model":"m","input":[', '"a",', '"a"]}', ['[1],', '[1,2],']),
  row('rerank', rerankBody, '{"query":"q","documents":[', '"a",', '"a"]}', ['{"text":"a"},']),
  row(
    'search',
    searchBody,
    '{"name":"n","text":"t","filter":{"and":[',
    '{"==":[{"knowledge":"y"},1]},',
    '{}]}}',
    ['"lexical":{"a":1},'],
  ),
];

const call = (name, given) =>
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${name}","arguments":{${given}`;

/** Messages of MCP, up to the storages: none is open. */
export function doorMessages() {
  const shown = [{ name: 'docs', writable: true }];
  const rights = new Set(['search', 'chat', 'write']);
  const whenOpen = async () => ({ session: undefined, storages: [], model: undefined });
  let handler;
  return [
    {
      name: 'messages of MCP',
      limit: 4 * mib,
      tokens: [
        ...tokens,
        ...words(
          '"jsonrpc":"2.0", "id":1, "method": "params": "_meta": "arguments": "uri": "lorekeep://docs/ %2f',
        ),
        '"method":"tools/list",',
        '"cursor":"a",',
      ],
      seeds: [
        { head: `${call('search', '"query":"')}`, unit: 'a', tail: '"}}}' },
        {
          head: `${call('search', '"query":"a","filter":{"and":[')}`,
          unit: '{"==":[{"knowledge":"y"},1]},',
          tail: '{}]}}}}',
        },
        { head: `${call('get', '"ids":[')}`, unit: '"a",', tail: '"b"]}}}' },
        {
          head: `${call('remember', '"text":"a","metadata":{')}`,
          unit: '"a":12345678901234567890,',
          tail: '"b":1}}}}',
        },
        { head: `${call('nothing', '"a":')}`, unit: '[', tail: '1}}}', close: ']' },
        {
          head: '{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"lorekeep://docs/',
          unit: '%41/',
          tail: '"}}',
        },
        {
          head: '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{',
          unit: '"a":{},',
          tail: '"b":{}}}}',
        },
        { head: '[', unit: '{"jsonrpc":"2.0","id":1,"method":"ping"},', tail: '1]' },
      ],
      open: () => {
        handler = createMcpHandler(
          async () => mcpServer({ shown, rights, whenOpen, explain: (error) => error.message }).server,
          { onerror: () => {} },
        );
      },
      close: () => {},
      read: (text) =>
        refused(async () => {
          const parsedBody = await parsedInSlices(text);
          await nextTurn();
          const headers = {
            accept: 'application/json, text/event-stream',
            'content-type': 'application/json',
          };
          const request = new Request('http://localhost/mcp', { method: 'POST', headers });
          await (await handler.fetch(request, { parsedBody })).text();
        }),
    },
  ];
}
