import type OpenAI from 'openai';
import { expect, it } from 'vitest';
import { conversationOf } from '../../src/doors/openai/conversation.js';
import { dimension } from '../server/corpus.js';
import { ask, openAiSetting as setting } from './openai-setting.js';

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
  [
    { input: 'x', model: 'talker' },
    404,
    /^model: "talker" is a language model; an embedding model is expected$/,
  ],
  [{ input: 'x', model: 'docs' }, 404, /^model: "docs" is a knowledge base; /],
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

it('thinking is an item of reasoning before the message, streamed or not', async () => {
  const thinking = (text: string) => ({ kind: 'thinking' as const, text });
  const { client } = await setting({
    reply: () => [thinking('First '), thinking('this.'), 'Then that.'],
    facts: { thinking: true },
  });
  const request = { model: 'talker', input: 'Tell' };
  const items = [
    { type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'First this.' }] },
    { type: 'message', content: [{ type: 'output_text', text: 'Then that.' }] },
  ];
  const whole = await client.responses.create(request);
  expect(whole.output).toMatchObject(items);
  const stream = client.responses.stream(request);
  const kinds: string[] = [];
  stream.on('event', (event) => kinds.push(`${event.type} ${'output_index' in event && event.output_index}`));
  const final = await stream.finalResponse();
  expect(final.output).toMatchObject(items);
  expect(kinds.filter((kind) => /delta|item|part/.test(kind))).toEqual([
    'response.output_item.added 0',
    'response.content_part.added 0',
    'response.reasoning_text.delta 0',
    'response.reasoning_text.delta 0',
    'response.content_part.done 0',
    'response.output_item.done 0',
    'response.output_item.added 1',
    'response.content_part.added 1',
    'response.output_text.delta 1',
    'response.content_part.done 1',
    'response.output_item.done 1',
  ]);
  const again = [
    { role: 'user' as const, content: 'Tell' },
    ...final.output,
    { role: 'user' as const, content: 'More' },
  ];
  expect((await client.responses.create({ model: 'talker', input: again as never })).status).toBe(
    'completed',
  );
});

it('a conversation of very many or very long messages is read in slices, or refused', async () => {
  const { client, call } = await setting();
  const replies = Array.from({ length: 19_000 }, (_, n) => ({ role: 'assistant', content: `reply ${n}` }));
  const messages = [...ask('Begin'), ...replies, ...ask('Go on')] as OpenAI.ChatCompletionMessageParam[];
  const { choices } = await client.chat.completions.create({ model: 'talker', messages });
  expect(choices[0]?.message.content).toBe('ok');
  const user = { role: 'user' as const, text: 'Begin' };
  const said = replies.map(({ content: text }) => ({ role: 'assistant' as const, text, calls: [] }));
  expect((await conversationOf([user, ...said, user], 'messages')).turns).toEqual([
    { text: 'Begin', reply: replies.map(({ content }) => content).join('\n\n') },
  ]);
  const asked = (body: object) => call('POST', '/v1/chat/completions', { model: 'talker', ...body });
  const long = { role: 'user', content: 'x'.repeat(4_000_000) };
  expect((await asked({ messages: [long, long, long] })).json().error).toMatchObject({
    code: 'context_length_exceeded',
    param: 'messages',
  });
  const parts = Array.from({ length: 900_000 }, () => 1);
  for (const [body, param] of [
    [{ messages: [...messages, { role: 'user', content: parts }] }, 'messages[19002].content'],
    [{ messages: [{ role: 'user', content: [1] }] }, 'messages[0].content'],
    [{ messages: parts }, 'messages'],
    [{ messages: ask('x'), tools: parts }, 'tools'],
    [{ messages: ask('x'), stop: parts }, 'stop'],
    [{ messages: ask('x'), modalities: parts }, 'modalities'],
    [{ messages: ask('x'), logit_bias: parts }, 'logit_bias'],
  ] as const) {
    const reply = await asked(body);
    expect([reply.status, reply.json().error.param]).toEqual([400, param]);
  }
  const input = await call('POST', '/v1/responses', { model: 'talker', input: parts });
  expect(input.json().error.param).toBe('input');
  const texts = await call('POST', '/v1/embeddings', { model: 'tiny', input: [parts] });
  expect(texts.json().error).toMatchObject({
    param: 'input',
    message: expect.stringContaining('ids of tokens'),
  });
});

it('long events are sent whole, and in their order', async () => {
  const { client, call } = await setting();
  const description = '\u0001'.repeat(16_000);
  const tools = Array.from({ length: 60 }, (_, n) => ({
    ...{ type: 'function' as const, name: `f${n}`, description },
    ...{ parameters: { type: 'object', properties: {} }, strict: false },
  }));
  const events = [];
  const given = { model: 'talker', input: 'Tell', instructions: 'é'.repeat(500), tools };
  for await (const event of await client.responses.create({ ...given, tool_choice: 'none', stream: true }))
    events.push(event);
  expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, index) => index));
  expect(events[0]).toMatchObject({ type: 'response.created', response: { instructions: 'é'.repeat(500) } });
  expect(events.at(-1)).toMatchObject({
    type: 'response.completed',
    response: { tools: tools.map(({ name }) => ({ name })) },
  });
  const more = [...tools, ...tools]
    .slice(0, 64)
    .map((tool) => ({ ...tool, description: `${description}${description.slice(0, 384)}` }));
  const refused = await call('POST', '/v1/responses', { ...given, tools: more });
  expect([refused.status, refused.json().error.param]).toEqual([400, 'tools']);
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
  [{ n: 2 }, 400, 'invalid_field', /^n: only 1 is supported$/],
  [{ store: true }, 400, 'invalid_field', /^store: this server keeps no replies; false is expected$/],
  [
    { previous_response_id: 'x' },
    400,
    'invalid_field',
    /^previous_response_id: this server keeps no replies; send/,
  ],
  [{ conversation: 'x' }, 400, 'invalid_field', /^conversation: this server keeps no conversations; send/],
  [{ functions: [] }, 400, 'invalid_field', /^functions: is not supported; use tools$/],
  [{ stop: Array(17).fill('x') }, 400, 'invalid_field', /^stop: a text, or an array of at most 16 texts, is/],
  [
    { model: 'tiny' },
    404,
    'model_not_found',
    /^model: "tiny" is an embedding model; an agent, a knowledge base/,
  ],
  [
    { messages: [{ role: 'user', content: 'word '.repeat(20_000) }] },
    400,
    'context_length_exceeded',
    /^messages: the prompt has at least /,
  ],
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
  [{ tool_choice: 'required' }, 400, 'invalid_field', /^tool_choice: there are no tools/],
  [
    {
      tools: [{ type: 'function', function: { name: 'weather' } }],
      tool_choice: {
        type: 'allowed_tools',
        allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'wether' } }] },
      },
    },
    400,
    'invalid_field',
    /^tool_choice: there is no tool "wether"; did you mean "weather"\?/,
  ],
  [
    { tools: [{ type: 'web_search' }] },
    400,
    'invalid_field',
    /^tools\[0\]\.type: only tools of type "function"/,
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
    message: expect.stringContaining('send the earlier ones in this request'),
  });
  await expect(client.responses.create({ model: 'talker', input: 'x', store: true })).rejects.toMatchObject({
    status: 400,
  });
});

it('a reference to an item that was stored elsewhere is refused in words', async () => {
  const { client } = await setting();
  const input = [
    { role: 'user' as const, content: 'Hi' },
    { type: 'item_reference' as const, id: 'msg_1' },
  ];
  await expect(client.responses.create({ model: 'talker', input })).rejects.toMatchObject({
    status: 400,
    param: expect.stringMatching(/^input\[1\]/),
    message: expect.stringContaining('this server keeps no items'),
  });
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
