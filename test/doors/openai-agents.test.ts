/** Agents and knowledge bases as models of the API of OpenAI. */
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Graph } from '../../src/client/index.js';
import { FakeTextModel } from '../helpers/fake-text-model.js';
import { temporaryFolder } from '../helpers/folder.js';
import { TestServer } from '../server/test-server.js';
import { door, type Json } from './door-setting.js';
import { ask, openAiSetting as setting } from './openai-setting.js';

const file = temporaryFolder();

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

it('an agent opens a memory that lasts by its secret alone, and forgets nothing: no client of this door can confirm it', async () => {
  const forget = JSON.stringify({ action: 'forget', arguments: { text: 'Bees dance.' } });
  const model = new FakeTextModel({
    reply: (_, messages) => [messages.at(-1)?.content === 'Forget it' ? `No. ${forget}` : 'Noted.'],
  });
  const { folder, server } = await door();
  const graphOf = (secret?: string) => {
    const keep = { storage: 'memory', embedding_model: 'tiny', scope: 'agent', speakers: ['user'], secret };
    const nodes = [
      { id: 'talker', type: 'generate', params: { model: 'talker', memory: 'keep' } },
      { id: 'keep', type: 'remember', params: keep },
    ];
    return { nodes } as Graph;
  };
  const config = { memories_dir: join(folder, 'memories') };
  await server.server.close();
  const maker = await TestServer.start({ config, loadLanguageModel: async () => model });
  const agent = await (await maker.session()).createAgent({ graph: graphOf() });
  await agent.turn('Bees dance.');
  const secret = agent.memories[0]?.secret as string;
  await maker.server.close();
  const agents = { known: join(folder, 'known.json'), unknown: join(folder, 'unknown.json') };
  writeFileSync(agents.known, JSON.stringify(graphOf(secret)));
  writeFileSync(agents.unknown, JSON.stringify(graphOf()));
  const opened = await door({ agents }, { config, loadLanguageModel: async () => model });
  const chat = (name: string, content: string) =>
    opened.call('POST', '/v1/chat/completions', { model: name, messages: ask(content) });
  const refused = await chat('unknown', 'Hi');
  expect([refused.status, refused.text]).toEqual([
    500,
    expect.stringContaining('this door cannot tell the secret'),
  ]);
  expect(readdirSync(config.memories_dir)).toHaveLength(1);
  const reply = await chat('known', 'Forget it');
  expect([reply.status, reply.json().choices[0].message.content]).toEqual([200, 'No.']);
  const session = await opened.server.session();
  await session.createAgent({ graph: graphOf(secret) });
  const { records } = await session.listRecords({ name: 'memory' });
  expect(records.map(({ text }) => text)).toEqual(['Bees dance.', 'Forget it']);
});

it('a mistake in the graph of an agent is not blamed on the request, and cited marks are named', async () => {
  const generate = (params: object) => ({ nodes: [{ id: 'g', type: 'generate', params }] });
  const agents: Record<string, string> = {};
  for (const [name, graph] of Object.entries({
    misspelt: generate({ maxTokens: 4 }),
    other: generate({ model: 'nosuch' }),
    marks: {
      nodes: [
        { id: 's', type: 'retrieve', params: { embedded_string_storage: 'docs' } },
        { id: 'g', type: 'generate', params: { cite: 'marks' } },
      ],
    },
  })) {
    agents[name] = file(`${name}.json`);
    writeFileSync(agents[name], JSON.stringify(graph));
  }
  const model = new FakeTextModel({});
  const { call } = await door({ agents }, { loadLanguageModel: async () => model });
  const chat = async (name: string, fields: object = {}) => {
    const reply = await call('POST', '/v1/chat/completions', { model: name, messages: ask('Hi'), ...fields });
    const { message, param, code } = reply.json().error;
    return [reply.status, code, param, message];
  };
  expect(await chat('misspelt')).toEqual([
    500,
    'agent_invalid',
    'model',
    expect.stringMatching(
      /^model: the graph of "misspelt" cannot be used: .*maxTokens: is not a known field/,
    ),
  ]);
  expect(await chat('other', { stream: true })).toEqual([
    500,
    'agent_invalid',
    'model',
    expect.stringMatching(/^model: the graph of "other" cannot be used: .*"nosuch"/),
  ]);
  expect(await chat('marks', { response_format: { type: 'json_object' } })).toEqual([
    400,
    'invalid_field',
    'response_format',
    'response_format: "marks" cites its sources by marks in plain text, which this replaces',
  ]);
});

it('a knowledge base replies in JSON and calls tools, without marks', async () => {
  const { call, model } = await setting();
  const chat = (fields: object) =>
    call('POST', '/v1/chat/completions', { model: 'docs', messages: ask('where do bees dance?'), ...fields });
  const json = await chat({ response_format: { type: 'json_object' } });
  expect(json.status, json.text).toBe(200);
  const tools = [{ type: 'function', function: { name: 'look' } }];
  const called = await chat({ tools, tool_choice: 'required' });
  expect(called.status, called.text).toBe(200);
  expect(JSON.stringify(model.prompts.at(-1))).not.toContain('number of its source');
});
