// The readers of the bodies of HTTP requests: see list.mjs. Each check of a body is one slice of the event loop.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { mapInSlices } from '../../../dist/src/base/waiting/next-slice.js';
import { checked } from '../../../dist/src/doors/http/exchange.js';
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
