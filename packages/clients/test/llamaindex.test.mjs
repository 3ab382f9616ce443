import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OpenAI, OpenAIEmbedding } from '@llamaindex/openai';
import { Document, Settings, tool, VectorStoreIndex } from 'llamaindex';
import { z } from 'zod';

const { LOREKEEP_URL: url, LOREKEEP_CHAT_MODEL: model } = process.env;
const connection = { apiKey: 'unused', baseURL: `${url}/v1`, maxRetries: 0 };
const skip = model === undefined && 'there is no language model';

test('an index finds by the embeddings of the server', async () => {
  Settings.embedModel = new OpenAIEmbedding({ ...connection, model: 'tiny' });
  const texts = ['bees dance in the hive', 'flour and water'];
  const index = await VectorStoreIndex.fromDocuments(texts.map((text) => new Document({ text })));
  const [best] = await index.asRetriever({ similarityTopK: 1 }).retrieve('bees');
  assert.match(best.node.text, /hive/);
});

test('a model chats, whole and streamed', { skip }, async () => {
  const llm = new OpenAI({ ...connection, model, temperature: 0, maxTokens: 24 });
  const messages = [{ role: 'user', content: 'Say hello.' }];
  const { message } = await llm.chat({ messages });
  assert.ok(message.content.length > 0);
  let text = '';
  for await (const { delta } of await llm.chat({ messages, stream: true })) text += delta;
  assert.equal(text, message.content);
});

test('a model calls a tool', { skip }, async () => {
  const weather = tool({
    name: 'weather',
    description: 'Weather of a place.',
    parameters: z.object({ place: z.enum(['Gozo', 'Malta']) }),
    execute: ({ place }) => `sunny in ${place}`,
  });
  const additionalChatOptions = { tool_choice: 'required', parallel_tool_calls: false };
  const llm = new OpenAI({ ...connection, model, maxTokens: 64, additionalChatOptions });
  const { message } = await llm.chat({
    messages: [{ role: 'user', content: 'Weather in Gozo?' }],
    tools: [weather],
  });
  assert.equal(message.options.toolCall[0].name, 'weather');
});
