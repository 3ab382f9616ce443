import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import OpenAI from 'openai';
import { expect, it } from 'vitest';
import { type FakeOptions, FakeTextModel } from '../helpers/fake-text-model.js';
import { dimension } from '../server/corpus.js';
import { type Door, door, type Json } from './door-setting.js';

async function setting(options: FakeOptions = {}): Promise<Door & { client: OpenAI; model: FakeTextModel }> {
  const model = new FakeTextModel(options);
  const opened = await door({}, { loadLanguageModel: async () => model });
  const client = new OpenAI({
    apiKey: 'unused',
    baseURL: `http://127.0.0.1:${opened.port}/v1`,
    maxRetries: 0,
  });
  return { ...opened, client, model };
}

const ask = (content: string) => [{ role: 'user' as const, content }];

it('the models are the agents, the knowledge bases and the models of the catalog', async () => {
  const { client } = await setting();
  const ids = (await client.models.list()).data.map(({ id }) => id);
  expect(ids).toEqual(expect.arrayContaining(['docs', 'talker', 'tiny']));
  expect(ids).not.toContain('absent');
  await expect(client.models.retrieve('talkerr')).rejects.toMatchObject({
    status: 404,
    code: 'model_not_found',
    message: expect.stringContaining('"talker"'),
  });
});

it('embeddings come as floats and as base64 with the same values, in the order of the texts', async () => {
  const { client, call } = await setting();
  const input = ['bees dance', 'copper and tin'];
  const floats = await client.embeddings.create({ model: 'tiny', input, encoding_format: 'float' });
  const usual = await client.embeddings.create({ model: 'tiny', input });
  expect(floats.data.map(({ index }) => index)).toEqual([0, 1]);
  expect(floats.data[0]?.embedding).toHaveLength(dimension);
  for (const [index, { embedding }] of usual.data.entries())
    for (const [at, value] of embedding.entries())
      expect(value).toBeCloseTo(floats.data[index]?.embedding[at] as number, 6);
  const raw = (
    await call('POST', '/v1/embeddings', {
      model: 'tiny',
      input: 'bees',
      encoding_format: 'base64',
      user: 'me',
      dimensions: null,
    })
  ).json();
  expect(Buffer.from(raw.data[0].embedding, 'base64')).toHaveLength(4 * dimension);
});

it.each([
  [{ input: [1, 2, 3] }, 400, /^input: .*tokens are not supported/],
  [{ input: ['a', ''] }, 400, /^input\[1\]: is empty/],
  [{ input: [] }, 400, /^input/],
  [{ input: 'x', dimensions: 1 }, 400, /^dimensions: /],
  [{ input: 'x', model: 'talker' }, 404, /^model: /],
  [{ input: 'x', encoding_format: 'hex' }, 400, /^encoding_format: /],
  [{ input: 'word '.repeat(5000) }, 400, /^input: /],
])('embeddings refuse %j', async (fields, status, message) => {
  const { call } = await setting();
  const reply = await call('POST', '/v1/embeddings', { model: 'tiny', ...fields });
  expect([reply.status, reply.json().error.message]).toEqual([status, expect.stringMatching(message)]);
});

it('a chat completion has the reply, its end and its usage; system texts and earlier turns reach the model as they are', async () => {
  const { client, model } = await setting();
  const completion = await client.chat.completions.create({
    model: 'talker',
    messages: [
      { role: 'system', content: 'Be {{kind}}. {{#variables}}' },
      { role: 'user', content: 'One' },
      { role: 'assistant', content: 'Two' },
      { role: 'user', content: [{ type: 'text', text: 'Three {{text}}' }] },
    ],
    temperature: 0,
    seed: -1,
    max_tokens: 20,
  });
  expect(completion.choices[0]?.message.role).toBe('assistant');
  expect(completion.choices[0]?.message.content).toBeTypeOf('string');
  expect(completion.usage?.total_tokens).toBeGreaterThan(0);
  expect(model.prompts.at(-1)).toEqual([
    { role: 'system', content: 'Be {{kind}}. {{#variables}}' },
    { role: 'user', content: 'One' },
    { role: 'assistant', content: 'Two' },
    { role: 'user', content: 'Three {{text}}' },
  ]);
});

it('a stream has the role, the pieces, the end, and the usage if it is asked for', async () => {
  const { client } = await setting();
  const messages = ask('Tell');
  const whole = await client.chat.completions.create({ model: 'talker', messages, temperature: 0 });
  const stream = await client.chat.completions.create({
    model: 'talker',
    messages,
    temperature: 0,
    stream: true,
    stream_options: { include_usage: true },
  });
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  expect(chunks[0]?.choices[0]?.delta).toMatchObject({ role: 'assistant' });
  expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe(
    whole.choices[0]?.message.content,
  );
  expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe('stop');
  expect(chunks.at(-1)).toMatchObject({ choices: [], usage: whole.usage });
});

it('responses reply, stream, and count', async () => {
  const { client } = await setting();
  const given = { model: 'talker', input: 'Tell', instructions: 'Be short.' };
  const whole = await client.responses.create(given);
  expect(whole.output_text).toBeTypeOf('string');
  expect(whole.usage?.total_tokens).toBeGreaterThan(0);
  const types: string[] = [];
  let text = '';
  for await (const event of await client.responses.create({ ...given, stream: true })) {
    types.push(event.type);
    if (event.type === 'response.output_text.delta') text += event.delta;
  }
  expect(text).toBe(whole.output_text);
  expect([types[0], types.at(-1)]).toEqual(['response.created', 'response.completed']);
});

it('a knowledge base as model cites its records', async () => {
  const { client } = await setting({ reply: () => ['They dance [1].'] });
  const { choices } = await client.chat.completions.create({
    model: 'docs',
    messages: ask('Why do bees dance?'),
  });
  const { content, annotations } = (choices[0] as Json).message;
  const { url, start_index, end_index } = annotations[0].url_citation;
  expect(url).toMatch(/^lorekeep:\/\/docs\/r\d+$/);
  expect(content.slice(start_index, end_index)).toContain('[1]');
});

it('an agent of the config is a model, and its system text comes before that of the client', async () => {
  const model = new FakeTextModel();
  const { folder, server } = await door();
  await server.server.close();
  const graph = join(folder, 'helper.json');
  writeFileSync(
    graph,
    JSON.stringify({
      nodes: [{ id: 'a', type: 'generate', params: { model: 'talker', system: 'You help.' } }],
    }),
  );
  const { call } = await door({ agents: { helper: graph } }, { loadLanguageModel: async () => model });
  const reply = await call('POST', '/v1/chat/completions', {
    model: 'helper',
    messages: [{ role: 'system', content: 'Briefly.' }, ...ask('Hi')],
  });
  expect(reply.status).toBe(200);
  expect(model.prompts.at(-1)?.[0]).toEqual({ role: 'system', content: 'You help.\n\nBriefly.' });
});

it.each([
  [{ model: 'nobody' }, 404, 'model_not_found', /^model: there is no "nobody"/],
  [{ messages: [] }, 400, 'invalid_field', /^messages/],
  [{ messages: [{ role: 'assistant', content: 'x' }] }, 400, 'invalid_field', /^messages: the last message/],
  [
    { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'x' } }] }] },
    400,
    'invalid_field',
    /^messages\[0\]\.content/,
  ],
  [{ n: 2 }, 400, 'invalid_field', /^n: more than one reply is not supported$/],
  [{ store: true }, 400, 'invalid_field', /^store: storing replies/],
  [{ logprobs: true }, 400, 'invalid_field', /^logprobs: /],
  [{ max_tokens: 1_000_000 }, 400, 'invalid_param', /^max_tokens: /],
  [{ stop: ['a'], response_format: { type: 'json_object' } }, 400, 'invalid_param', /^stop: /],
  [
    {
      tools: [{ type: 'function', function: { name: 'a' } }],
      tool_choice: { type: 'function', function: { name: 'b' } },
    },
    400,
    'invalid_field',
    /^tool_choice: there is no tool "b"/,
  ],
])('a chat completion refuses %j', async (fields, status, code, message) => {
  const { call } = await setting();
  const reply = await call('POST', '/v1/chat/completions', {
    model: 'talker',
    messages: ask('Hi'),
    ...fields,
  });
  const { error } = reply.json();
  expect([reply.status, error.code, error.message]).toEqual([status, code, expect.stringMatching(message)]);
});

it('null counts as absent, and unknown fields are ignored', async () => {
  const { call } = await setting();
  const nothing = Object.fromEntries(
    [
      'temperature',
      'top_p',
      'stop',
      'tools',
      'tool_choice',
      'response_format',
      'seed',
      'max_tokens',
      'stream',
      'n',
      'store',
      'logprobs',
      'user',
    ].map((name) => [name, null]),
  );
  const reply = await call('POST', '/v1/chat/completions', {
    model: 'talker',
    messages: [{ role: 'user', content: 'Hi', name: null }],
    ...nothing,
    some_new_field: { deep: [1] },
    logit_bias: {},
    metadata: { a: 'b' },
  });
  expect(reply.status).toBe(200);
});

it('responses refuse stored ones in words', async () => {
  const { client } = await setting();
  await expect(
    client.responses.create({ model: 'talker', input: 'x', previous_response_id: 'resp_1' }),
  ).rejects.toMatchObject({
    status: 400,
    message: expect.stringContaining('send the earlier items in input'),
  });
  await expect(client.responses.create({ model: 'talker', input: 'x', store: true })).rejects.toMatchObject({
    status: 400,
  });
});

const weather = {
  type: 'function' as const,
  function: {
    name: 'get_weather',
    description: 'Tells the weather.',
    parameters: {
      type: 'object',
      properties: { city: { type: 'string' } },
      required: ['city'],
      additionalProperties: false,
    },
  },
};

it('tools are described to the model, constrain it by a grammar, and come back as calls; text before them is streamed', async () => {
  const reply = () => [
    'Let me ',
    'look. ',
    '\n{"name": "get_weather", "argum',
    'ents": {"city": "Oslo"}}\n{"name": "get_weather", "arguments": {"city": "a } b"}}',
  ];
  const { client, model } = await setting({ reply });
  const request = { model: 'talker', messages: ask('Weather?'), tools: [weather] };
  const whole = await client.chat.completions.create(request);
  const [choice] = whole.choices;
  expect(choice?.finish_reason).toBe('tool_calls');
  expect(choice?.message.content).toBe('Let me look.');
  const calls = choice?.message.tool_calls as OpenAI.ChatCompletionMessageFunctionToolCall[];
  expect(calls.map((call) => [call.type, call.function.name, JSON.parse(call.function.arguments)])).toEqual([
    ['function', 'get_weather', { city: 'Oslo' }],
    ['function', 'get_weather', { city: 'a } b' }],
  ]);
  expect(new Set(calls.map(({ id }) => id)).size).toBe(2);
  expect(model.requests.at(-1)?.grammar).toContain('get_weather');
  expect(model.prompts.at(-1)?.[0]?.content).toContain('Tells the weather.');
  const streamed = client.chat.completions.stream(request);
  expect((await streamed.finalChatCompletion()).choices[0]?.message.tool_calls).toHaveLength(2);
  const answered = [
    ...ask('Weather?'),
    { role: 'assistant' as const, content: null, tool_calls: calls },
    ...calls.map(({ id }, n) => ({ role: 'tool' as const, tool_call_id: id, content: `sunny ${n}` })),
  ];
  await client.chat.completions.create({ ...request, messages: answered });
  const prompt = model.prompts.at(-1) ?? [];
  expect(prompt.at(-2)?.content).toContain('"city":"Oslo"');
  expect(prompt.at(-1)?.content).toBe('Result of get_weather: sunny 0\n\nResult of get_weather: sunny 1');
});

it('tool_choice none offers no tools; required and a name leave no way around them', async () => {
  const { client, model } = await setting({
    reply: () => ['{"name": "get_weather", "arguments": {"city": "Oslo"}}'],
  });
  const request = { model: 'talker', messages: ask('Weather?'), tools: [weather] };
  await client.chat.completions.create({ ...request, tool_choice: 'none' });
  expect(model.requests.at(-1)?.grammar).toBeUndefined();
  for (const tool_choice of [
    'required' as const,
    { type: 'function' as const, function: { name: 'get_weather' } },
  ]) {
    const { choices } = await client.chat.completions.create({
      ...request,
      tool_choice,
      parallel_tool_calls: false,
    });
    expect(model.requests.at(-1)?.grammar).toMatch(/^root ::= call$/m);
    expect(choices[0]?.message.content).toBeNull();
    expect(choices[0]?.message.tool_calls).toHaveLength(1);
  }
});

it('responses call tools, and take their outputs', async () => {
  const { client } = await setting({
    reply: () => ['{"name": "get_weather", "arguments": {"city": "Oslo"}}'],
  });
  const { function: definition } = weather;
  const tools = [{ type: 'function' as const, strict: true, ...definition }];
  const response = await client.responses.create({ model: 'talker', input: 'Weather?', tools });
  expect(response.output).toMatchObject([
    { type: 'function_call', name: 'get_weather', arguments: '{"city":"Oslo"}' },
  ]);
  const [call] = response.output as [OpenAI.Responses.ResponseFunctionToolCall];
  const output = { type: 'function_call_output' as const, call_id: call.call_id, output: 'sunny' };
  const next = await client.responses.create({
    model: 'talker',
    tools,
    input: [{ role: 'user', content: 'Weather?' }, call, output],
  });
  expect(next.status).toBe('completed');
});

it('a JSON format constrains the reply by its schema', async () => {
  const { client, model } = await setting({ reply: () => ['{"a": 1}'] });
  const schema = {
    type: 'object',
    properties: { a: { type: 'integer' } },
    required: ['a'],
    additionalProperties: false,
  };
  const response_format = { type: 'json_schema' as const, json_schema: { name: 'it', schema } };
  const { choices } = await client.chat.completions.create({
    model: 'talker',
    messages: ask('JSON'),
    response_format,
  });
  expect(JSON.parse(choices[0]?.message.content ?? '')).toEqual({ a: 1 });
  expect(model.requests.at(-1)?.grammar).toContain('root');
});

it('the class of the scheduler is that of the header, else by whether the reply is streamed', async () => {
  const { client, model, call } = await setting();
  const request = { model: 'talker', messages: ask('Hi') };
  await client.chat.completions.create(request);
  for await (const _ of await client.chat.completions.create({ ...request, stream: true }));
  await client.chat.completions.create(request, { headers: { 'X-Lorekeep-Class': 'background' } });
  expect(model.requests.map((each) => each.class)).toEqual([
    'interactive_buffered',
    'interactive_visible',
    'background',
  ]);
  const wrong = await call('POST', '/v1/chat/completions', request, { 'x-lorekeep-class': 'fast' });
  expect([wrong.status, wrong.json().error.param]).toEqual([400, 'X-Lorekeep-Class']);
});
