import assert from 'node:assert/strict';
import { test } from 'node:test';

const { LOREKEEP_URL: url, LOREKEEP_CHAT_MODEL: model } = process.env;

/** Headers of Open WebUI's backend (aiohttp), with the user's as it forwards them. */
const headers = {
  'content-type': 'application/json',
  accept: '*/*',
  'accept-encoding': 'gzip, deflate, br',
  'user-agent': 'Python/3.11 aiohttp/3.12.15',
  authorization: 'Bearer sk-unused',
  'x-openwebui-user-name': 'Ada',
  'x-openwebui-user-id': '3f6c6a0e-1b0c-4b44-9d24-5f3bba0c7f10',
  'x-openwebui-user-email': 'ada@example.test',
  'x-openwebui-user-role': 'admin',
};

const post = (path, body) =>
  fetch(`${url}/v1${path}`, { method: 'POST', headers, body: JSON.stringify(body) });

/** Fields of a chat that Open WebUI sends besides OpenAI's. */
const extra = {
  features: { web_search: false, image_generation: false, code_interpreter: false },
  variables: { '{{USER_NAME}}': 'Ada', '{{CURRENT_DATE}}': '2026-11-28' },
  chat_id: 'c0a8',
  id: 'd41d',
  session_id: 'AbC',
  background_tasks: { title_generation: true, tags_generation: true },
  user: null,
  stop: null,
  seed: null,
  logit_bias: null,
  max_tokens: 16,
};

test('the models are listed as it reads them', async () => {
  const { data, object } = await (await fetch(`${url}/v1/models`, { headers })).json();
  assert.equal(object, 'list');
  assert.ok(
    data.every(({ id, object, owned_by }) => id && object === 'model' && typeof owned_by === 'string'),
  );
  assert.ok(data.some(({ id }) => id === 'docs'));
});

test('a streamed chat has deltas, an end and the usage', { skip: model === undefined }, async () => {
  const messages = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: [{ type: 'text', text: 'Hello' }] },
  ];
  const response = await post('/chat/completions', {
    model,
    messages,
    stream: true,
    stream_options: { include_usage: true },
    ...extra,
  });
  assert.equal(response.status, 200);
  assert.match(response.headers.get('content-type'), /^text\/event-stream/);
  const lines = (await response.text()).split('\n').filter((line) => line.startsWith('data: '));
  assert.equal(lines.at(-1), 'data: [DONE]');
  const chunks = lines.slice(0, -1).map((line) => JSON.parse(line.slice(6)));
  assert.ok(chunks.some(({ choices }) => choices[0]?.delta.content));
  assert.ok(chunks.some(({ choices }) => choices[0]?.finish_reason));
  assert.ok(chunks.at(-1).usage.total_tokens > 0);
});

test('the title of a chat, as a task without a stream', { skip: model === undefined }, async () => {
  const messages = [
    { role: 'user', content: '### Task:\nGenerate a concise title as JSON: { "title": "..." }' },
  ];
  const response = await post('/chat/completions', {
    model,
    messages,
    stream: false,
    max_completion_tokens: 16,
    ...extra,
    metadata: undefined,
  });
  const reply = await response.json();
  assert.equal(typeof reply.choices[0].message.content, 'string');
});

test('embeddings of its documents', async () => {
  const response = await post('/embeddings', { input: ['bees dance', 'copper'], model: 'tiny' });
  const { data } = await response.json();
  assert.deepEqual(
    data.map(({ index, embedding }) => [index, embedding.length]),
    [
      [0, 256],
      [1, 256],
    ],
  );
});

test('an unknown model is answered with a message that it shows', async () => {
  const response = await post('/chat/completions', {
    model: 'gone',
    messages: [{ role: 'user', content: 'x' }],
    ...extra,
  });
  assert.equal(response.status, 404);
  assert.equal(typeof (await response.json()).error.message, 'string');
});
