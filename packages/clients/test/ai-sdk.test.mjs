import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createOpenAI } from '@ai-sdk/openai';
import { embed, generateText, Output, stepCountIs, streamText, tool } from 'ai';
import { z } from 'zod';

const { LOREKEEP_URL: url, LOREKEEP_CHAT_MODEL: model } = process.env;
const openai = createOpenAI({ baseURL: `${url}/v1`, apiKey: 'unused' });
const skip = model === undefined && 'there is no language model';
const given = { maxRetries: 0, maxOutputTokens: 48, temperature: 0 };

const weather = tool({
  description: 'Weather of a place.',
  inputSchema: z.object({ place: z.enum(['Gozo', 'Malta']) }),
  execute: ({ place }) => `sunny in ${place}`,
});

/** Asks for a call of the tool in the first step, and for a text in the second. */
const twoSteps = (chosen, options = {}) =>
  generateText({
    ...given,
    model: chosen,
    prompt: 'Weather in Gozo?',
    tools: { weather },
    stopWhen: stepCountIs(2),
    prepareStep: ({ stepNumber }) => ({ toolChoice: stepNumber === 0 ? 'required' : 'none' }),
    providerOptions: { openai: { parallelToolCalls: false, ...options } },
  });

test('embeddings', async () => {
  const { embedding } = await embed({ model: openai.embedding('tiny'), value: 'bees', maxRetries: 0 });
  assert.equal(embedding.length, 256);
});

for (const route of ['responses', 'chat'])
  test(`${route}: a reply whole, streamed, and of a schema`, { skip }, async () => {
    const asked = { ...given, model: openai[route](model), prompt: 'Say hello.' };
    const { text } = await generateText(asked);
    assert.ok(text.length > 0);
    let streamed = '';
    for await (const piece of streamText(asked).textStream) streamed += piece;
    assert.equal(streamed, text);
    const output = Output.object({ schema: z.object({ colour: z.enum(['blue', 'green']) }) });
    const { output: sky } = await generateText({ ...asked, output });
    assert.match(sky.colour, /^(blue|green)$/);
  });

test('chat: the output of a tool is sent back', { skip }, async () => {
  const { steps } = await twoSteps(openai.chat(model));
  assert.equal(steps[0].toolResults[0].toolName, 'weather');
  assert.equal(steps.length, 2);
});

test('responses: the output of a tool is sent back with store false', { skip }, async () => {
  const { steps } = await twoSteps(openai(model), { store: false });
  assert.equal(steps[0].toolResults[0].toolName, 'weather');
  assert.equal(steps.length, 2);
});

test('responses: a conversation goes on with store false, and without is refused in words', {
  skip,
}, async () => {
  const first = [{ role: 'user', content: 'Say hello.' }];
  const { response } = await generateText({ ...given, model: openai(model), messages: first });
  const messages = [...first, ...response.messages, { role: 'user', content: 'Again.' }];
  const goOn = (options) =>
    generateText({ ...given, model: openai(model), messages, providerOptions: { openai: options } });
  assert.ok((await goOn({ store: false })).text.length > 0);
  await assert.rejects(goOn({}), { statusCode: 400, message: /keeps no items.*store false/ });
});
