/** A question that no record is relevant to is answered in words at every door. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect, it, onTestFinished } from 'vitest';
import { FakeTextModel } from '../helpers/fake-text-model.js';
import { door, type Json, knowledgeBase } from './door-setting.js';

/** A server with a storage in which nothing is relevant enough. */
async function opened(withModel: boolean) {
  const folder = mkdtempSync(join(tmpdir(), 'lorekeep-nothing-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const config = knowledgeBase(folder);
  const facts = JSON.parse(readFileSync(config, 'utf8'));
  writeFileSync(config, JSON.stringify({ ...facts, search: { min_best: 1 } }));
  const model = new FakeTextModel({ reply: () => ['An answer.'] });
  const storages = { docs: { config } };
  const options = withModel ? { loadLanguageModel: async () => model } : {};
  return { model, ...(await door({ storages }, options)) };
}

it('a search over REST says so', async () => {
  const { call } = await opened(false);
  const nothing = (await call('POST', '/v1/search', { text: 'quantum lobster' })).json();
  expect(nothing).toMatchObject({ hits: [], message: 'Nothing relevant found.' });
  const nearest = (await call('POST', '/v1/search', { text: 'quantum lobster', min_best: 0 })).json();
  expect(nearest.hits.length).toBeGreaterThan(0);
  expect(nearest.message).toBeUndefined();
});

it('the tools of MCP say so', async () => {
  const { port } = await opened(false);
  const client = new Client({ name: 'test', version: '1' });
  onTestFinished(() => client.close());
  await client.connect(new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`)));
  const searched: Json = await client.callTool({ name: 'search', arguments: { query: 'quantum lobster' } });
  expect(searched.structuredContent).toEqual({ hits: [], message: 'Nothing relevant found.' });
  expect(searched.content[0].text).toBe('Nothing relevant found.');
  const asked: Json = await client.callTool({ name: 'ask', arguments: { question: 'quantum lobster?' } });
  expect(asked.content[0].text).toBe('Nothing relevant found.');
});

it('a knowledge base as a model of the API of OpenAI says so, and does not answer from what its model has learned', async () => {
  const { call, model } = await opened(true);
  const asked = async (messages: object[], more: object = {}) => {
    const reply = await call('POST', '/v1/chat/completions', { model: 'docs', messages, ...more });
    expect(reply.status, reply.text).toBe(200);
    return reply.json().choices[0].message.content;
  };
  const user = (content: string) => ({ role: 'user', content });
  expect(await asked([user('quantum lobster?')])).toBe('Nothing relevant found.');
  expect(model.prompts).toEqual([]);
  // Later messages may be about earlier ones.
  const earlier = [user('Who?'), { role: 'assistant', content: 'Ann.' }];
  expect(await asked([...earlier, user('and when?')])).toBe('An answer.');
});
