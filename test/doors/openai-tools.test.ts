import type OpenAI from 'openai';
import { expect, it } from 'vitest';
import { matchGrammar } from '../../lib/internal.js';
import { CallSplitter, toolGrammar } from '../../src/doors/openai/tools.js';
import { ask, openAiSetting as setting } from './openai-setting.js';

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

const inOslo = '<tool_call>{"name": "get_weather", "arguments": {"city": "Oslo"}}</tool_call>';

it('tools are described to the model, constrain it by a grammar, and come back as calls; text before them is streamed', async () => {
  const reply = () => [
    'Let me ',
    'look. ',
    '\n<tool_',
    'call>{"name": "get_weather", "argum',
    'ents": {"city": "Oslo"}}</tool_call>\n',
    '<tool_call>{"name": "get_weather", "arguments": {"city": "a } b"}}</tool_call>',
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
    reply: () => [inOslo],
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
    expect(model.requests.at(-1)?.grammar).toMatch(/^root ::= "<tool_call>" calls\ncalls ::= call$/m);
    expect(choices[0]?.message.content).toBeNull();
    expect(choices[0]?.message.tool_calls).toHaveLength(1);
  }
});

it('a named tool is called once, and allowed tools are the only ones that the model hears of', async () => {
  const { client, model } = await setting({ reply: () => [inOslo] });
  const time = { type: 'function' as const, function: { name: 'get_time', description: 'Tells the time.' } };
  const request = { model: 'talker', messages: ask('Weather?'), tools: [time, weather] };
  const name = { name: 'get_weather' };
  await client.chat.completions.create({
    ...request,
    tool_choice: { type: 'function', function: name },
  });
  expect(model.requests.at(-1)?.grammar).toMatch(/^root ::= "<tool_call>" calls\ncalls ::= call$/m);
  const tools = [{ type: 'function', function: name }];
  for (const mode of ['auto', 'required'] as const) {
    const tool_choice = { type: 'allowed_tools' as const, allowed_tools: { mode, tools } };
    const { choices } = await client.chat.completions.create({ ...request, tool_choice });
    expect(choices[0]?.message.tool_calls).toHaveLength(1);
    expect(model.requests.at(-1)?.grammar).not.toContain('get_time');
    expect(model.prompts.at(-1)?.[0]?.content).not.toContain('Tells the time.');
  }
  const response = await client.responses.create({
    model: 'talker',
    input: 'Weather?',
    tools: [{ type: 'function', strict: null, parameters: null, ...name }],
    tool_choice: { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', ...name }] },
  });
  expect(response.output).toMatchObject([{ type: 'function_call', ...name }]);
});

it('responses call tools, and take their outputs', async () => {
  const { client } = await setting({
    reply: () => [inOslo],
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

it('a JSON format without a schema asks for an object', async () => {
  const { call, model } = await setting({ reply: () => ['{}'] });
  const response_format = { type: 'json_schema', json_schema: { name: 'it', schema: null, strict: false } };
  const reply = await call('POST', '/v1/chat/completions', {
    ...{ model: 'talker', messages: ask('JSON'), response_format },
  });
  expect(reply.status).toBe(200);
  expect(model.requests.at(-1)?.grammar).toContain('root');
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

const format = {
  type: 'json_schema' as const,
  json_schema: {
    name: 'answer',
    schema: {
      type: 'object',
      properties: { answer: { type: 'string' } },
      required: ['answer'],
      additionalProperties: false,
    },
  },
};

it('with tools and a JSON format a reply calls tools, or is the JSON, streamed or not', async () => {
  let text = inOslo;
  const { client, model } = await setting({ reply: () => [...text] });
  const request = { model: 'talker', messages: ask('Weather?'), tools: [weather], response_format: format };
  const called = await client.chat.completions.create(request);
  expect(called.choices[0]).toMatchObject({
    finish_reason: 'tool_calls',
    message: { content: null, tool_calls: [{ function: { arguments: '{"city":"Oslo"}' } }] },
  });
  const { grammar = '' } = model.requests.at(-1) ?? {};
  for (const [reply, match] of [
    [inOslo, 'conforms'],
    [`${inOslo}\n${inOslo}`, 'conforms'],
    ['{"answer": "sunny"}', 'conforms'],
    ['It is sunny.', 'refused'],
    [`{"answer": "sunny"}${inOslo}`, 'refused'],
  ])
    expect([reply, await matchGrammar(grammar, reply as string)]).toEqual([reply, match]);
  text = '{"answer": "<tool_call>{}</tool_call>"}';
  const answered = await client.chat.completions.create(request);
  expect([answered.choices[0]?.message.content, answered.choices[0]?.finish_reason]).toEqual([text, 'stop']);
  const streamed = await client.chat.completions.stream(request).finalChatCompletion();
  expect(streamed.choices[0]?.message.content).toBe(text);
  const { function: definition } = weather;
  const response = await client.responses.create({
    model: 'talker',
    input: 'Weather?',
    tools: [{ type: 'function', strict: true, ...definition }],
    text: { format: { type: 'json_schema', ...format.json_schema } },
  });
  expect(response.output_text).toBe(text);
  await client.chat.completions.create({ ...request, tool_choice: 'required' }).catch(() => {});
  const required = model.requests.at(-1)?.grammar ?? '';
  expect(await matchGrammar(required, '{"answer": "sunny"}')).toBe('refused');
});

it('a JSON format that no grammar expresses is named as the request calls it, tools or not', async () => {
  const { call } = await setting();
  const schema = { $ref: '#/nowhere' };
  const tools = [weather];
  const format = { type: 'json_schema', json_schema: { name: 'it', schema } };
  for (const fields of [{}, { tools }]) {
    const body = { model: 'talker', messages: ask('x'), response_format: format, ...fields };
    const { param, message } = (await call('POST', '/v1/chat/completions', body)).json().error;
    expect([param, message]).toEqual(['response_format', expect.stringMatching(/^response_format: /)]);
  }
  const flat = tools.map(({ function: definition }) => ({ type: 'function', ...definition }));
  for (const fields of [{}, { tools: flat }, { tools: flat, stream: true }]) {
    const text = { format: { type: 'json_schema', schema } };
    const reply = await call('POST', '/v1/responses', { model: 'talker', input: 'x', text, ...fields });
    const { param, message } = reply.json().error;
    expect([param, message]).toEqual(['text.format', expect.stringMatching(/^text\.format: /)]);
  }
});

it('text before calls may be anything but the beginning of one', async () => {
  const tool = { ...weather.function, where: 'tools[0]' };
  const grammar = await toolGrammar([tool], { mode: 'auto', parallel: true }, undefined);
  const texts = [
    '',
    'if (a < b) { return "<t>"; }',
    '<',
    '<<tool_call',
    '<tool_<tool_call',
    '<tool_call >{}',
  ];
  for (const text of texts) {
    expect([text, await matchGrammar(grammar, text)]).toEqual([text, 'conforms']);
    const called = `${text}${inOslo}`;
    expect([called, await matchGrammar(grammar, called)]).toEqual([called, 'conforms']);
    expect([text, await matchGrammar(grammar, `${text}<tool_call>no`)]).toEqual([text, 'refused']);
    for (const size of [1, 3, 7, 100]) {
      const [plain, calling] = [split(text, size), split(called, size)];
      expect([size, plain]).toEqual([size, { text: text.trimEnd(), calls: [] }]);
      expect([size, calling]).toEqual([
        size,
        { text: text.trimEnd(), calls: [{ name: 'get_weather', arguments: '{"city":"Oslo"}' }] },
      ]);
    }
  }
});

/** Splits a reply that arrives in pieces of a size. */
function split(reply: string, size: number) {
  const splitter = new CallSplitter(false);
  let text = '';
  for (let at = 0; at < reply.length; at += size) text += splitter.push(reply.slice(at, at + size));
  const { text: rest, calls } = splitter.finish();
  return { text: text + rest, calls };
}

it('two tools of one name are refused, by the name and the place of the second', async () => {
  const { call } = await setting();
  const own = { type: 'function', name: 'get_weather' };
  for (const [path, tools, param] of [
    ['chat/completions', [weather, weather], 'tools[1].function.name'],
    ['responses', [own, { ...own, name: 'other' }, own], 'tools[2].name'],
  ] as const) {
    const body = { model: 'talker', messages: ask('Hi.'), input: 'Hi.', tools };
    for (const tool_choice of ['auto', 'none', 'required']) {
      const refused = await call('POST', `/v1/${path}`, { ...body, tool_choice });
      const message = `${param}: there are two tools named "get_weather"`;
      expect(refused.status, refused.text).toBe(400);
      expect(refused.json().error, path).toMatchObject({ message, param, type: 'invalid_request_error' });
    }
  }
});
