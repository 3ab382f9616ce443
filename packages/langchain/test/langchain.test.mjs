import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Document } from '@langchain/core/documents';
import { AIMessage, HumanMessage } from '@langchain/core/messages';
import { ChatPromptTemplate } from '@langchain/core/prompts';
import { RunnableWithMessageHistory } from '@langchain/core/runnables';
import {
  ChatLorekeep,
  LorekeepChatMessageHistory,
  LorekeepEmbeddings,
  LorekeepError,
  LorekeepRetriever,
  LorekeepVectorStore,
} from '../dist/index.js';

const url = process.env.LOREKEEP_URL;
const model = process.env.LOREKEEP_CHAT_MODEL;
const store = (storage = 'docs') => new LorekeepVectorStore(undefined, { url, storage });
const ids = (documents) => documents.map(({ id }) => id);

test('the vector store adds, finds, reads, replaces and deletes documents', async () => {
  const vectors = store();
  const added = await vectors.addDocuments([
    new Document({ pageContent: 'The ferry leaves on Tuesdays.', metadata: { kind: 'ferry' }, id: 'ferry' }),
    new Document({ pageContent: 'Trains leave every hour.', metadata: { kind: 'train' } }),
  ]);
  assert.equal(added[0], 'ferry');
  assert.match(added[1], /^[0-9a-f-]{36}$/);
  const [best] = await vectors.similaritySearch('when does the ferry leave on Tuesdays?', 1);
  assert.equal(best.pageContent, 'The ferry leaves on Tuesdays.');
  assert.equal(best.metadata.kind, 'ferry');
  const filter = { '==': [{ knowledge: 'kind' }, 'train'] };
  assert.deepEqual(ids(await vectors.similaritySearch('ferry', 5, filter)), [added[1]]);
  const scored = await vectors.similaritySearchWithScore('ferry', 2);
  assert.ok(scored.every(([, score]) => typeof score === 'number'));
  await vectors.addDocuments([{ pageContent: 'The ferry leaves on Fridays.', metadata: {} }], {
    ids: ['ferry'],
  });
  assert.equal((await vectors.getByIds(['ferry', 'none']))[0].pageContent, 'The ferry leaves on Fridays.');
  await vectors.delete({ ids: [...added, 'none', 'ferry'] });
  assert.deepEqual(await vectors.getByIds(added), []);
});

test('fromTexts and asRetriever work as in other vector stores', async () => {
  const vectors = await LorekeepVectorStore.fromTexts(['Ravens count.'], { kind: 'raven' }, undefined, {
    url,
    storage: 'docs',
  });
  const retriever = vectors.asRetriever({ k: 1, filter: { '==': [{ knowledge: 'kind' }, 'raven'] } });
  const found = await retriever.invoke('who counts?');
  assert.equal(found[0].pageContent, 'Ravens count.');
  await vectors.delete({ ids: ids(found) });
});

test('vectors of others are refused in words', async () => {
  await assert.rejects(store().similaritySearchVectorWithScore([1], 1), /takes texts, not vectors/);
  await assert.rejects(store().addVectors([[1]], []), /takes texts, not vectors/);
});

test('errors of the server have its code and message', async () => {
  await assert.rejects(store('dacs').similaritySearch('x'), (error) => {
    assert.ok(error instanceof LorekeepError);
    assert.equal(error.code, 'storage_not_found');
    assert.match(error.message, /did you mean "docs"/);
    return true;
  });
});

test('the retriever has a filter and the options of searches', async () => {
  const filter = { in: [{ knowledge: 'kind' }, ['bees', 'dough']] };
  const retriever = new LorekeepRetriever({
    url,
    storage: 'docs',
    k: 2,
    filter,
    search: { mode: 'lexical' },
  });
  assert.deepEqual(ids(await retriever.invoke('bees dance')), ['bees']);
  const batch = await retriever.batch(['bees', 'sourdough']);
  assert.deepEqual(
    batch.map((found) => found[0]?.id),
    ['bees', 'dough'],
  );
});

test('embeddings are those of the server, one per text', async () => {
  const embeddings = new LorekeepEmbeddings({ url, model: 'tiny' });
  const vectors = await embeddings.embedDocuments(['bees dance', 'copper', ...Array(600).fill('bees')]);
  assert.equal(vectors.length, 602);
  assert.equal(vectors[0].length, 256);
  const query = await embeddings.embedQuery('bees dance');
  assert.ok(query.every((value, at) => Math.abs(value - vectors[0][at]) < 1e-6));
});

test('messages outlive their objects, in their order, until they are cleared', async () => {
  const history = () => new LorekeepChatMessageHistory({ url, storage: 'memory', sessionId: 'ada' });
  await history().addMessages([new HumanMessage('Who feeds the quagga?'), new AIMessage('Ada does.')]);
  await history().addMessage(new HumanMessage('When?'));
  const other = new LorekeepChatMessageHistory({ url, storage: 'memory', sessionId: 'bob' });
  await other.addMessage(
    new AIMessage({ content: '', tool_calls: [{ name: 'look', args: { at: 1 }, id: 'c1' }] }),
  );
  const messages = await history().getMessages();
  assert.deepEqual(
    messages.map(({ type, text }) => [type, text]),
    [
      ['human', 'Who feeds the quagga?'],
      ['ai', 'Ada does.'],
      ['human', 'When?'],
    ],
  );
  assert.deepEqual((await other.getMessages())[0].tool_calls, [{ name: 'look', args: { at: 1 }, id: 'c1' }]);
  const recalled = await store('memory').similaritySearch('quagga', 1);
  assert.match(recalled[0].pageContent, /quagga/);
  await history().clear();
  assert.deepEqual(await history().getMessages(), []);
  assert.equal((await other.getMessages()).length, 1);
  await other.clear();
});

test('the chat model replies, streams, and follows a schema', { skip: model === undefined }, async () => {
  const chat = new ChatLorekeep({ url, model, temperature: 0, maxTokens: 24 });
  const reply = await chat.invoke('Say hello.');
  assert.ok(reply.text.length > 0);
  assert.ok(reply.usage_metadata.output_tokens > 0);
  assert.equal(reply.response_metadata.model, model);
  let streamed = '';
  for await (const chunk of await chat.stream('Say hello.')) streamed += chunk.text;
  assert.equal(streamed, reply.text);
  const schema = {
    type: 'object',
    properties: { sky: { enum: ['blue', 'green'] } },
    required: ['sky'],
    additionalProperties: false,
  };
  const structured = chat.withStructuredOutput(schema, { name: 'sky', method: 'jsonSchema' });
  assert.ok(['blue', 'green'].includes((await structured.invoke('What colour is the sky?')).sky));
});

test('a message of any length is kept, and found by its beginning', async () => {
  const history = new LorekeepChatMessageHistory({ url, storage: 'memory', sessionId: 'long' });
  const long = `The quagga sleeps. ${'bees dance 😀 '.repeat(8000)}`;
  await history.addMessages([new HumanMessage(long), new AIMessage('Fine.')]);
  assert.deepEqual(
    (await history.getMessages()).map(({ text }) => text),
    [long, 'Fine.'],
  );
  await history.clear();
});

test('a streaming chat model asks its server alone', { skip: model === undefined }, async () => {
  const asked = new Set();
  const real = globalThis.fetch;
  globalThis.fetch = (input, init) => {
    asked.add(new URL(input instanceof Request ? input.url : input).origin);
    return real(input, init);
  };
  try {
    const chat = new ChatLorekeep({ url, model, maxTokens: 4, streaming: true });
    assert.ok((await chat.invoke('Say hello.')).usage_metadata.output_tokens > 0);
    assert.equal(await chat.getNumTokens('12345678'), 2);
    assert.equal(await chat.getNumTokens([{ type: 'text', text: '12345' }]), 2);
  } finally {
    globalThis.fetch = real;
  }
  assert.deepEqual([...asked], [new URL(url).origin]);
});

test('the chat model calls tools', { skip: model === undefined }, async () => {
  const chat = new ChatLorekeep({ url, model, temperature: 0, maxTokens: 64, schedulerClass: 'background' });
  const weather = {
    type: 'function',
    function: {
      name: 'weather',
      description: 'Weather of a place.',
      parameters: {
        type: 'object',
        properties: { place: { enum: ['Gozo', 'Malta'] } },
        required: ['place'],
        additionalProperties: false,
      },
    },
  };
  const reply = await chat
    .bindTools([weather], { tool_choice: 'weather' })
    .invoke('How is the weather in Gozo?');
  assert.equal(reply.tool_calls[0].name, 'weather');
  assert.ok(['Gozo', 'Malta'].includes(reply.tool_calls[0].args.place));
});

test('a chain with a retriever, a model and memory runs', { skip: model === undefined }, async () => {
  const prompt = ChatPromptTemplate.fromMessages([
    ['placeholder', '{history}'],
    ['human', '{question}'],
  ]);
  const chain = new RunnableWithMessageHistory({
    runnable: prompt.pipe(new ChatLorekeep({ url, model, temperature: 0, maxTokens: 8 })),
    getMessageHistory: (sessionId) => new LorekeepChatMessageHistory({ url, storage: 'memory', sessionId }),
    inputMessagesKey: 'question',
    historyMessagesKey: 'history',
  });
  const config = { configurable: { sessionId: 'chain' } };
  await chain.invoke({ question: 'Hello.' }, config);
  await chain.invoke({ question: 'And again.' }, config);
  const history = new LorekeepChatMessageHistory({ url, storage: 'memory', sessionId: 'chain' });
  assert.deepEqual(
    (await history.getMessages()).map(({ type }) => type),
    ['human', 'ai', 'human', 'ai'],
  );
  await history.clear();
});

test('a knowledge base as a model answers', { skip: model === undefined }, async () => {
  const reply = await new ChatLorekeep({ url, model: 'docs', temperature: 0, maxTokens: 24 }).invoke(
    'Who services the telescope?',
  );
  assert.ok(reply.text.length > 0);
});
