import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'node:test';
import {
  cosineSimilarity,
  embed,
  embedMany,
  generateObject,
  generateText,
  Output,
  rerank,
  stepCountIs,
  streamObject,
  streamText,
  tool,
} from 'ai';
import { z } from 'zod';
import { createLorekeep } from '../dist/index.js';

const url = process.env.LOREKEEP_URL;
const model = process.env.LOREKEEP_CHAT_MODEL;
const provider = createLorekeep({ url });
const few = { temperature: 0, maxOutputTokens: 24, maxRetries: 0 };

test('embeddings', async () => {
  const { embedding } = await embed({ model: provider.embeddingModel('tiny'), value: 'bees dance' });
  const values = ['bees dance', 'copper and tin'];
  const { embeddings, usage } = await embedMany({ model: provider.textEmbeddingModel('tiny'), values });
  assert.ok(cosineSimilarity(embedding, embeddings[0]) > 0.999);
  assert.ok(cosineSimilarity(embedding, embeddings[1]) < 0.9);
  assert.ok(usage.tokens > 0);
});

test('an unknown model is refused with the words of the server', async () => {
  const prompt = 'x';
  await assert.rejects(generateText({ model: provider('nobody'), prompt, maxRetries: 0 }), /nobody/);
  await assert.rejects(
    rerank({ model: provider.rerankingModel('nobody'), query: 'x', documents: ['y'], maxRetries: 0 }),
    /nobody/,
  );
  assert.throws(() => provider.imageModel('x'), /no image models/);
});

test('reranking sends what the server reads, and reads what it sends', async () => {
  const asked = [];
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (piece) => {
      text += piece;
    });
    request.on('end', () => {
      asked.push({ path: request.url, key: request.headers.authorization, body: JSON.parse(text) });
      response.end(
        JSON.stringify({
          results: [
            { index: 1, relevance_score: 0.9 },
            { index: 0, relevance_score: 0.1 },
          ],
        }),
      );
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const own = createLorekeep({ url: `http://127.0.0.1:${server.address().port}/`, apiKey: 'k' });
  const { ranking } = await rerank({
    model: own.rerankingModel('r'),
    query: 'q',
    documents: ['a', 'b'],
    topN: 2,
  });
  server.close();
  server.closeAllConnections();
  assert.deepEqual(
    ranking.map(({ document }) => document),
    ['b', 'a'],
  );
  assert.deepEqual(asked, [
    {
      path: '/v1/rerank',
      key: 'Bearer k',
      body: { model: 'r', query: 'q', documents: ['a', 'b'], top_n: 2 },
    },
  ]);
});

test('text, whole and streamed', { skip: model === undefined }, async () => {
  const prompt = 'Say hello.';
  const whole = await generateText({ model: provider(model), prompt, ...few });
  assert.ok(whole.text.length > 0);
  assert.ok(whole.usage.outputTokens > 0);
  const streamed = streamText({ model: provider(model), prompt, ...few });
  let text = '';
  for await (const piece of streamed.textStream) text += piece;
  assert.equal(text, whole.text);
  assert.ok((await streamed.usage).outputTokens > 0);
});

test('structured output obeys its schema', { skip: model === undefined }, async () => {
  const schema = z.object({ sky: z.enum(['blue', 'green']) });
  const { output } = await generateText({
    model: provider(model),
    prompt: 'What colour is the sky?',
    output: Output.object({ schema }),
    ...few,
  });
  assert.ok(['blue', 'green'].includes(output.sky));
});

test('tools are called', { skip: model === undefined }, async () => {
  const weather = tool({
    description: 'Weather of a place.',
    inputSchema: z.object({ place: z.enum(['Gozo', 'Malta']) }),
  });
  const { toolCalls } = await generateText({
    model: provider(model),
    prompt: 'Weather in Gozo?',
    tools: { weather },
    toolChoice: { type: 'tool', toolName: 'weather' },
    ...few,
    maxOutputTokens: 64,
  });
  assert.equal(toolCalls[0].toolName, 'weather');
  assert.ok(['Gozo', 'Malta'].includes(toolCalls[0].input.place));
});

test('objects are generated, whole and streamed', { skip: model === undefined }, async () => {
  const given = {
    model: provider(model),
    schema: z.object({ sky: z.enum(['blue', 'green']) }),
    prompt: 'What colour is the sky?',
    ...few,
  };
  const { object } = await generateObject(given);
  assert.ok(['blue', 'green'].includes(object.sky));
  const streamed = streamObject(given);
  for await (const _ of streamed.partialObjectStream);
  assert.deepEqual(await streamed.object, object);
});

test('results of tools go back to the model', { skip: model === undefined }, async () => {
  const weather = tool({
    description: 'Weather of a place.',
    inputSchema: z.object({ place: z.enum(['Gozo', 'Malta']) }),
    execute: async ({ place }) => `sunny in ${place}`,
  });
  const { steps, text } = await generateText({
    model: provider(model),
    prompt: 'Weather in Gozo?',
    tools: { weather },
    stopWhen: stepCountIs(2),
    prepareStep: ({ stepNumber }) => ({ toolChoice: stepNumber === 0 ? 'required' : 'none' }),
    ...few,
    maxOutputTokens: 128,
  });
  assert.equal(steps.length, 2);
  assert.match(steps[0].toolResults[0].output, /^sunny in (Gozo|Malta)$/);
  assert.ok(text.length > 0);
});

test('a stream that is left is cancelled', { skip: model === undefined }, async () => {
  const leave = new AbortController();
  const { textStream } = streamText({
    model: provider(model),
    prompt: 'Tell a long story.',
    maxOutputTokens: 400,
    abortSignal: leave.signal,
    onError: () => {},
  });
  for await (const _ of textStream) leave.abort();
  const { text } = await generateText({ model: provider(model), prompt: 'Say hello.', ...few });
  assert.ok(text.length > 0);
});

test('a knowledge base as a model answers, with citations as metadata where it cites', {
  skip: model === undefined,
}, async () => {
  const { text, providerMetadata } = await generateText({
    model: provider('docs'),
    prompt: 'Who services the telescope?',
    ...few,
  });
  assert.ok(text.length > 0);
  for (const { url } of providerMetadata?.lorekeep?.citations ?? [])
    assert.match(url, /^lorekeep:\/\/docs\//);
});
