import { expect, it } from 'vitest';
import type { Json } from './door-setting.js';
import { openAiSetting } from './openai-setting.js';

/** Headers of Open WebUI's backend, with the user's as it forwards them. */
const headers = {
  accept: '*/*',
  'accept-encoding': 'gzip, deflate, br',
  'user-agent': 'Python/3.11 aiohttp/3.12.15',
  authorization: 'Bearer sk-unused',
  'x-openwebui-user-name': 'Ada%20Holm',
  'x-openwebui-user-email': 'ada@example.test',
  'x-openwebui-chat-id': 'c0a8',
};

/** Fields that it sends besides OpenAI's. */
const extra = {
  ...{
    chat_id: 'c0a8',
    id: 'd41d',
    session_id: 'AbC',
    parent_id: null,
    model_item: { id: 'talker', owned_by: 'x' },
  },
  features: { web_search: false, image_generation: false, code_interpreter: false, memory: false },
  variables: { '{{USER_NAME}}': 'Ada', '{{CURRENT_DATE}}': '2026-11-28' },
  files: [{ type: 'file', id: 'f1', name: 'notes.pdf', file: { data: {} } }],
  tool_ids: [],
  background_tasks: { title_generation: true, tags_generation: true, follow_up_generation: true },
  ...{ user: null, stop: null, seed: null, logit_bias: null, temperature: null, top_p: null, tools: null },
  ...{ response_format: null, reasoning_effort: null, function_calling: null, custom_params: null },
};

const setting = async (answer: string) => {
  const opened = await openAiSetting({ reply: () => answer.split(/(?<= )/) });
  const post = (body: object) => opened.call('POST', '/v1/chat/completions', body, headers);
  return { ...opened, post };
};

it('the list of models has what it shows', async () => {
  const { call } = await setting('');
  const { object, data } = (await call('GET', '/v1/models', undefined, headers)).json();
  expect(object).toBe('list');
  expect(data.map(({ id }: Json) => id)).toEqual(expect.arrayContaining(['docs', 'talker']));
  for (const model of data) expect(model).toMatchObject({ object: 'model', owned_by: 'lorekeep' });
});

it('a chat is streamed with its usage, whatever else the request says', async () => {
  const { post, model } = await setting('The bees fly.');
  const messages = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: [{ type: 'text', text: 'What do the bees do?' }] },
    { role: 'assistant', content: 'They hum.', tool_calls: null },
    { role: 'user', content: 'And then?' },
  ];
  const request = {
    model: 'talker',
    messages,
    stream: true,
    stream_options: { include_usage: true },
    ...extra,
  };
  const { status, text, headers: received } = await post(request);
  expect(status, text).toBe(200);
  expect(received['content-type']).toMatch(/^text\/event-stream/);
  const lines = text.split('\n').filter((line) => line.startsWith('data: '));
  expect(lines.pop()).toBe('data: [DONE]');
  const chunks: Json[] = lines.map((line) => JSON.parse(line.slice('data: '.length)));
  expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe('The bees fly.');
  expect(chunks.at(-2).choices[0].finish_reason).toBe('stop');
  expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { completion_tokens: expect.any(Number) } });
  expect(model.prompts.at(-1)?.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user']);
});

it.each([
  ['title_generation', '{ "title": "Bees" }'],
  ['tags_generation', '{ "tags": ["Nature", "Bees"] }'],
  ['follow_up_generation', '{ "follow_ups": ["Why do bees fly?"] }'],
  ['query_generation', '{ "queries": ["bees fly"] }'],
])('a task of %s is answered whole', async (task, answer) => {
  const { post } = await setting(answer);
  const content = `### Task:\nSuggest as JSON.\n### Chat History:\n<chat_history>\nUSER: bees\n</chat_history>`;
  const request = { model: 'talker', messages: [{ role: 'user', content }], stream: false, ...extra };
  const reply = await post({
    ...request,
    metadata: { task, chat_id: 'c0a8', task_body: {} },
    max_completion_tokens: 500,
  });
  expect(reply.status, reply.text).toBe(200);
  const [choice] = reply.json().choices;
  expect(JSON.parse(choice.message.content)).toEqual(JSON.parse(answer));
  expect(choice.finish_reason).toBe('stop');
});

it('pictures are refused in words, not ignored', async () => {
  const { post } = await setting('');
  const content = [
    { type: 'text', text: 'What is this?' },
    { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } },
  ];
  const refused = await post({
    model: 'talker',
    messages: [{ role: 'user', content }],
    stream: true,
    ...extra,
  });
  expect(refused.status).toBe(400);
  expect(refused.json().error).toMatchObject({
    param: 'messages[0].content',
    message: 'messages[0].content: only parts of text are supported, at most 1000',
  });
});

it('a limit that leaves no room is named as the request names it', async () => {
  const { post } = await setting('');
  const request = { model: 'talker', messages: [{ role: 'user', content: 'Hi' }], ...extra };
  for (const field of ['max_tokens', 'max_completion_tokens']) {
    const refused = await post({ ...request, [field]: 1000 });
    expect(refused.status).toBe(400);
    expect(refused.json().error).toMatchObject({
      param: field,
      message: expect.stringMatching(new RegExp(`^${field}: 1000 tokens for the reply leave no room`)),
    });
  }
});
