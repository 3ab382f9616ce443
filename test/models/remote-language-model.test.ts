import type { ServerResponse } from 'node:http';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { RemoteLanguageModel } from '../../src/models/remote/language-model.js';
import { RemoteServer } from '../../src/models/remote/remote-server.js';
import { type RemoteSettings, remoteSchema } from '../../src/models/remote/settings.js';
import type { GenerateRequest, Piece } from '../../src/models/text-model.js';
import { type Answerer, FakeModelServer, sendEvents, sendJson } from '../helpers/fake-model-server.js';

async function open(answer: Answerer, settings: Partial<RemoteSettings> = {}) {
  const peer = await FakeModelServer.start(answer);
  const all = remoteSchema.parse({ url: peer.url, model: 'far-away', retries: 1, ...settings });
  const server = await RemoteServer.open({ name: 'far', file: '/models.json' }, all, (file) => file);
  const model = new RemoteLanguageModel(server, 1000);
  onTestFinished(() => model.close());
  return { peer, model };
}

const messages = [{ role: 'user', content: 'How do tides rise?' }] as const;
const delta = (content: string, more: object = {}) => ({
  choices: [{ index: 0, delta: { content }, ...more }],
});
const ending = (reason = 'stop') => ({ choices: [{ index: 0, delta: {}, finish_reason: reason }] });
const usage = {
  choices: [],
  usage: { prompt_tokens: 12, completion_tokens: 3, prompt_tokens_details: { cached_tokens: 4 } },
};

/** Reads a whole reply. */
async function read(
  model: RemoteLanguageModel,
  request: Partial<GenerateRequest> = {},
  signal?: AbortSignal,
) {
  const generation = model.generate({ messages, ...request }, signal === undefined ? {} : { signal });
  generation.result.catch(() => {});
  const pieces: Piece[] = [];
  for await (const piece of generation) pieces.push(piece);
  return { pieces, result: await generation.result };
}

const usual: Answerer = (_, response) =>
  sendEvents(response, [delta('The moon '), delta('pulls'), delta('.'), ending(), usage, '[DONE]']);

describe('a remote language model', () => {
  it('streams a reply, with its usage', async () => {
    const { model, peer } = await open(usual);
    const { pieces, result } = await read(model, { seed: 5, maxTokens: 20 });
    expect(pieces.map(({ text }) => text)).toEqual(['The moon ', 'pulls', '.']);
    expect(result).toMatchObject({
      text: 'The moon pulls.',
      finish: 'stop',
      seed: 5,
      usage: { prompt: 12, cached: 4, computed: 8, completion: 3 },
    });
    expect(peer.requests[0]).toMatchObject({
      path: '/v1/chat/completions',
      body: {
        model: 'far-away',
        messages,
        stream: true,
        max_tokens: 20,
        seed: 5,
        temperature: 0.7,
        top_p: 0.95,
      },
    });
  });

  it('understands streams however they are cut, with comments and carriage returns', async () => {
    const text = 'Ebbe und Flut 🌊 – “tides”';
    const { model } = await open(async (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const events = [`: ping\r\n\r\nid: 1\r\nevent: message\r\ndata:${JSON.stringify(delta(text))}\r\n\r\n`];
      events.push(`data: ${JSON.stringify(ending())}\n\ndata: [DONE]`);
      for (const byte of Buffer.from(events.join('')))
        await new Promise((resolve) => response.write(Buffer.of(byte), resolve));
      response.end();
    });
    expect((await read(model)).result).toMatchObject({ text, finish: 'stop' });
  });

  it('never sends half a character', async () => {
    const { model } = await open((_, response) => {
      response.writeHead(200);
      response.write('data: {"choices":[{"delta":{"content":"a\\ud83c"}}]}\n\n');
      response.end(
        `data: {"choices":[{"delta":{"content":"\\udf0ab"}}]}\n\ndata: ${JSON.stringify(ending())}\n\n`,
      );
    });
    const { pieces, result } = await read(model);
    expect(result.text).toBe('a🌊b'.replace('🌊', '\ud83c\udf0a'));
    for (const { text } of pieces) expect(text).not.toMatch(/\p{Surrogate}/u);
  });

  it.each([
    ['llama-server', { top_k: 7, min_p: 0.1, repeat_penalty: 1.1, repeat_last_n: 9 }],
    ['vllm', { top_k: 7, min_p: 0.1, repetition_penalty: 1.1 }],
    ['openai', {}],
  ] as const)('names options of sampling as %s does', async (api, named) => {
    const { model, peer } = await open(usual, { api });
    const sampling = { temperature: 0.2, topP: 0.8, topK: 7, minP: 0.1, repeatPenalty: 1.1, penaltyLastN: 9 };
    await read(model, { sampling: { ...sampling, frequencyPenalty: 0.5, presencePenalty: 0.4 } });
    const { body } = peer.requests[0] ?? {};
    const given = { temperature: 0.2, top_p: 0.8, frequency_penalty: 0.5, presence_penalty: 0.4, ...named };
    expect(body).toMatchObject(given);
    const all = ['top_k', 'min_p', 'repeat_penalty', 'repetition_penalty', 'repeat_last_n'];
    expect(all.filter((name) => name in body).toSorted()).toEqual(Object.keys(named).toSorted());
  });

  it('ends before a stop text, also one that the server does not know, and closes the request', async () => {
    const { model, peer } = await open((_, response) =>
      sendEvents(response, [delta('one tw'), delta('o thr'), delta('ee'), delta(' four'), delta('x')], false),
    );
    const stop = ['a', 'b', 'c', 'd', 'three', 'o x'].map((text) => (text.length === 1 ? `##${text}` : text));
    const { result, pieces } = await read(model, { stop });
    expect(result).toMatchObject({ text: 'one two ', finish: 'stop_string' });
    expect(pieces.map(({ text }) => text).join('')).toBe('one two ');
    expect(peer.requests[0]?.body.stop).toHaveLength(4);
    await peer.requests[0]?.aborted;
  });

  it('passes on thinking, log-probabilities, and why the reply ended', async () => {
    const scored = {
      logprobs: {
        content: [
          {
            token: 'Yes',
            logprob: -0.25,
            bytes: [89, 101, 115],
            top_logprobs: [
              { token: 'Yes', logprob: -0.25 },
              { token: 'No', logprob: null },
            ],
          },
        ],
      },
    };
    const thought = { choices: [{ delta: { reasoning_content: 'hm' } }] };
    const { model, peer } = await open((_, response) =>
      sendEvents(response, [thought, delta('Yes', scored), ending('length')]),
    );
    const { pieces, result } = await read(model, { logprobs: 2 });
    expect(peer.requests[0]?.body).toMatchObject({ logprobs: true, top_logprobs: 2 });
    expect(result).toMatchObject({ text: 'Yes', thinking: 'hm', finish: 'length' });
    expect(pieces[0]).toEqual({ kind: 'thinking', text: 'hm' });
    const [token] = pieces[1]?.logprobs ?? [];
    expect(token).toMatchObject({
      logprob: -0.25,
      top: [{ logprob: -0.25 }, { logprob: Number.NEGATIVE_INFINITY }],
    });
    expect(Buffer.from(token?.bytes ?? []).toString()).toBe('Yes');
  });

  it('passes on a JSON Schema, and does not take text for JSON', async () => {
    const schema = { type: 'object', properties: { n: { type: 'integer' } } };
    const { model, peer } = await open((_, response) => sendEvents(response, [delta('{"n":1}'), ending()]));
    expect((await read(model, { schema })).result.text).toBe('{"n":1}');
    expect(peer.requests[0]?.body.response_format).toMatchObject({
      type: 'json_schema',
      json_schema: { schema },
    });
    peer.answer = usual;
    await expect(read(model, { schema })).rejects.toThrow(/it ignores json_schema/);
  });

  it('that is cancelled closes its request and keeps the text so far', async () => {
    const { model, peer } = await open((_, response) => sendEvents(response, [delta('The moon')], false));
    const stop = new AbortController();
    const generation = model.generate({ messages }, { signal: stop.signal });
    for await (const { text } of generation) {
      expect(text).toBe('The moon');
      stop.abort();
    }
    expect(await generation.result).toMatchObject({ text: 'The moon', finish: 'cancelled' });
    await peer.requests[0]?.aborted;
  });

  it('ends at its deadline with the text so far', async () => {
    const { model, peer } = await open((_, response) => sendEvents(response, [delta('The moon')], false));
    const { result } = await read(model, { deadlineMs: 200 });
    expect(result).toMatchObject({ text: 'The moon', finish: 'deadline' });
    await peer.requests[0]?.aborted;
  });

  it('tries again until a reply begins, and not after that', async () => {
    const cut: Answerer = (_, response) => {
      response.writeHead(200);
      response.write(`data: ${JSON.stringify(delta('The'))}\n\n`, () => response.destroy());
    };
    const answers: Answerer[] = [
      (_, response) => sendJson(response, {}, 503, { 'retry-after': '0' }),
      usual,
      cut,
    ];
    const { model, peer } = await open((asked, response) => answers.shift()?.(asked, response));
    expect((await read(model)).result.text).toBe('The moon pulls.');
    await expect(read(model)).rejects.toThrow(/connection was lost/);
    expect(peer.requests).toHaveLength(3);
  });

  it('estimates tokens, and takes what it rendered', async () => {
    const { model, peer } = await open(usual);
    const prompt = await model.render(messages);
    expect(prompt.tokens.length).toBe(prompt.messageTokens[0]);
    expect(await model.countTokens('a'.repeat(30))).toBe(10);
    await read(model, { messages: undefined, prompt });
    expect(peer.requests[0]?.body.messages).toEqual(messages);
    expect(() => model.generate({ prompt: new Int32Array(3) })).toThrow(
      /what this model rendered is expected/,
    );
  });
});

describe('a hostile server of a language model', () => {
  const send = (text: string) => (_: unknown, response: ServerResponse) => response.end(text);
  it.each<[string, Answerer, RegExp]>([
    ['HTML', send('<html>no</html>'), /a reply that breaks off/],
    ['one JSON object', (_, response) => sendJson(response, delta('Hello')), /a reply that breaks off/],
    ['nothing', send(''), /a reply that breaks off/],
    ['half a reply', (_, response) => sendEvents(response, [delta('Hello')]), /a reply that breaks off/],
    ['broken JSON', send('data: {"choices\n\n'), /an event that is not JSON/],
    [
      'an error',
      (_, response) => sendEvents(response, [{ error: { message: 'gossip' } }]),
      /reports a failure in/,
    ],
    ['an error of llama-server', send('error: {"message":"gossip"}\n\n'), /reports a failure in the reply/],
    ['silence', () => {}, /does not answer within 300 ms/],
    ['silence in a reply', (_, r) => sendEvents(r, [delta('Hello')], false), /does not answer within 300 ms/],
  ])('that sends %s gets a clear error', async (_, answer, message) => {
    const { model } = await open(answer, { timeout_ms: 300 });
    const error = await read(model).catch((thrown) => thrown);
    expect(error).toMatchObject({ name: 'RemoteModelError', model: 'far' });
    expect(error.message).toMatch(message);
    expect(error.message).not.toContain('gossip');
  });

  it('that sends without end is cut off', async () => {
    const { model, peer } = await open((_, response) => {
      const event = `data: ${JSON.stringify(delta('x'.repeat(10_000)))}\n\n`;
      const more = (): void => {
        while (!response.destroyed && response.write(event));
        response.once('drain', more);
      };
      more();
    });
    await expect(read(model, { maxTokens: 10 })).rejects.toThrow(/answers with more than \d+ bytes/);
    await peer.requests[0]?.aborted;
  });

  it('that sends a line without end is cut off', async () => {
    const { model, peer } = await open((_, response) => {
      response.write('data: ');
      const more = (): void => {
        while (!response.destroyed && response.write('x'.repeat(60_000)));
        response.once('drain', more);
      };
      more();
    });
    await expect(read(model, { maxTokens: 10_000 })).rejects.toThrow(
      /an event of more than 262144 characters/,
    );
    await peer.requests[0]?.aborted;
  });

  it('that sends odd values gets none of them through', async () => {
    const odd = [
      null,
      [],
      { choices: 5 },
      { choices: [null] },
      { choices: [{ delta: { content: { toString: 1 } } }] },
      { choices: [{ delta: null, logprobs: { content: [5, null, { logprob: 'x', bytes: ['y'] }] } }] },
      { usage: { prompt_tokens: -5, completion_tokens: 'many' } },
    ];
    const { model } = await open((_, response) => sendEvents(response, [...odd, delta('ok'), ending()]));
    const { result } = await read(model);
    expect(result).toMatchObject({ text: 'ok', finish: 'stop', usage: { prompt: 0, completion: 0 } });
  });

  it('fails a pending reply when the model must close at once', async () => {
    const { model, peer } = await open(() => {});
    const reading = read(model).catch((thrown) => thrown);
    await vi.waitFor(() => expect(peer.requests).toHaveLength(1));
    await model.close(Object.assign(new Error('over'), { code: 'DEVICE_LOST', detail: {} }) as never);
    expect(await reading).toMatchObject({ message: 'over' });
  });
});
