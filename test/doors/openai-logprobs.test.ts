import { writeFileSync } from 'node:fs';
import OpenAI from 'openai';
import { beforeAll, describe, expect, it } from 'vitest';
import { LanguageModel } from '../../lib/index.js';
import { TextLogprobs } from '../../src/doors/openai/logprobs.js';
import { temporaryFolder } from '../helpers/folder.js';
import { random, testSeed } from '../helpers/random.js';
import { repetitions } from '../helpers/repetitions.js';
import { writeTinyDecoder } from '../helpers/tiny-model/tiny-decoder.mjs';
import { door } from './door-setting.js';

type Logprob = OpenAI.ChatCompletionTokenLogprob;
type Logprobs = OpenAI.ChatCompletion.Choice.Logprobs | null | undefined;

const included = ['message.output_text.logprobs' as const];
const inFolder = temporaryFolder();
const load = () =>
  LanguageModel.load(inFolder('tiny.gguf'), { threads: 1, batchThreads: 1, deterministic: true });

const contentOf = (logprobs: Logprobs): Logprob[] => logprobs?.content ?? [];
const bytesOf = (tokens: readonly { bytes: number[] | null }[]) =>
  Buffer.from(tokens.flatMap(({ bytes }) => bytes ?? []));
const textOf = (tokens: readonly { bytes: number[] | null }[]) => bytesOf(tokens).toString('utf8');

/** Random weights; a template that begins to think, which only the agent `thinker` does. */
describe('log-probabilities of', () => {
  const agents: Record<string, string> = {};

  beforeAll(async () => {
    const template =
      '{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}bot: {% if enable_thinking %}<think>\n{% else %}<think></think>{% endif %}{# </think> #}';
    await writeTinyDecoder('llama', inFolder('tiny.gguf'), { context: 1024, template });
    const generate = (id: string, params: object = {}) => ({ id, type: 'generate', params });
    const graphs = {
      thinker: [generate('a', { thinking: { budget: 5 } })],
      twice: [generate('a'), generate('b')],
      marks: [generate('a', { cite: 'marks' })],
      canned: [{ id: 'a', type: 'canned_response', params: {} }],
      greeter: [{ id: 'a', type: 'canned_response', params: {} }, generate('b')],
    };
    for (const [name, nodes] of Object.entries(graphs)) {
      agents[name] = inFolder(`${name}.json`);
      writeFileSync(agents[name], JSON.stringify({ nodes }));
    }
  });

  async function setting() {
    const opened = await door({ agents }, { loadLanguageModel: load });
    const baseURL = `http://127.0.0.1:${opened.port}/v1`;
    return { ...opened, client: new OpenAI({ apiKey: 'unused', baseURL, maxRetries: 0 }) };
  }

  const request = (fields: Partial<OpenAI.ChatCompletionCreateParamsNonStreaming> = {}) => ({
    model: 'talker',
    messages: [{ role: 'user' as const, content: 'the cat sat' }],
    temperature: 0,
    max_tokens: 30,
    logprobs: true,
    ...fields,
  });

  async function chat(client: OpenAI, fields: Partial<OpenAI.ChatCompletionCreateParamsNonStreaming> = {}) {
    const { choices } = await client.chat.completions.create(request(fields));
    const [choice] = choices;
    return { text: choice?.message.content ?? '', tokens: contentOf(choice?.logprobs), choice };
  }

  it('a whole chat completion are those of the tokens of its text, the likeliest first', async () => {
    const { client } = await setting();
    const { text, tokens } = await chat(client, { top_logprobs: 20 });
    expect(tokens.length).toBeGreaterThan(5);
    expect(textOf(tokens)).toBe(text);
    for (const { top_logprobs, ...own } of tokens) {
      expect(own.token).toBe(textOf([own]));
      expect(top_logprobs).toHaveLength(20);
      expect(top_logprobs[0]).toEqual(own);
      const values = top_logprobs.map(({ logprob }) => logprob);
      expect(values).toEqual(values.toSorted((a, b) => b - a));
      const sum = values.reduce((total, value) => total + Math.exp(value), 0);
      expect(sum).toBeGreaterThan(0);
      expect(sum).toBeLessThanOrEqual(1 + 1e-6);
    }
    const { choice } = await chat(client, { logprobs: false });
    expect(choice?.logprobs).toBeNull();
  });

  it('a drawn reply are given without alternatives, too', async () => {
    const { client } = await setting();
    const { text, tokens } = await chat(client, { temperature: 1, seed: 7 });
    expect(textOf(tokens)).toBe(text);
    for (const { top_logprobs, logprob } of tokens) {
      expect(top_logprobs).toEqual([]);
      expect(logprob).toBeLessThanOrEqual(0);
    }
  });

  it('a streamed chat completion arrive with the text in which each token begins', async () => {
    const { client } = await setting();
    const whole = await chat(client, { top_logprobs: 3 });
    const stream = await client.chat.completions.create({
      ...request({ top_logprobs: 3 }),
      stream: true,
    });
    let text = '';
    const tokens: Logprob[] = [];
    for await (const { choices } of stream) {
      text += choices[0]?.delta.content ?? '';
      const before = bytesOf(tokens).length;
      const more = contentOf(choices[0]?.logprobs);
      if (more.length > 0) expect(before).toBeLessThan(Buffer.byteLength(text));
      tokens.push(...more);
      expect(bytesOf(tokens).length).toBeGreaterThanOrEqual(Buffer.byteLength(text));
    }
    expect([text, tokens]).toEqual([whole.text, whole.tokens]);
    const helper = client.chat.completions.stream(request({ top_logprobs: 3 }) as never);
    const final = await helper.finalChatCompletion();
    expect(final.choices[0]?.logprobs?.content).toEqual(whole.tokens);
  });

  it('a response are asked for by include, whole and streamed', async () => {
    const { client } = await setting();
    const asked = { model: 'talker', input: 'the cat sat', temperature: 0, max_output_tokens: 30 };
    const given = { ...asked, include: included, top_logprobs: 2 };
    const partOf = ({ output }: OpenAI.Responses.Response) =>
      (output[0] as OpenAI.Responses.ResponseOutputMessage).content[0] as OpenAI.Responses.ResponseOutputText;
    const { text, logprobs = [] } = partOf(await client.responses.create(given));
    expect(textOf(logprobs)).toBe(text);
    for (const { token, logprob, bytes, top_logprobs } of logprobs) {
      expect(top_logprobs).toHaveLength(2);
      expect(top_logprobs[0]).toEqual({ token, logprob, bytes });
    }
    const streamed: unknown[] = [];
    for await (const event of await client.responses.create({ ...given, stream: true })) {
      if (event.type === 'response.output_text.delta') streamed.push(...event.logprobs);
      if (event.type === 'response.output_text.done') expect(event.logprobs).toEqual(logprobs);
      if (event.type === 'response.completed' || event.type === 'response.incomplete')
        expect(partOf(event.response).logprobs).toEqual(logprobs);
    }
    expect(streamed).toEqual(logprobs);
    expect(partOf(await client.responses.create(asked)).logprobs).toEqual([]);
  });

  it('parts of characters have their bytes', async () => {
    const { client } = await setting();
    const schema = { const: 'é 😀' };
    const response_format = { type: 'json_schema' as const, json_schema: { name: 'it', schema } };
    const { text, tokens } = await chat(client, { response_format, top_logprobs: 1 });
    expect(text).toBe('"é 😀"');
    expect(textOf(tokens)).toBe(text);
    expect(tokens.some(({ token, bytes }) => token === '\ufffd' && bytes?.[0] === 0xc3)).toBe(true);
    const cut = await chat(client, { response_format, max_tokens: 2 });
    expect(cut.text).toBe('"');
    expect(bytesOf(cut.tokens)).toEqual(Buffer.from([0x22, 0xc3]));
  });

  it('a text that ends the reply, and of a tool call, are left out', async () => {
    const { client } = await setting();
    const { text } = await chat(client);
    const stop = text.slice(text.length - 6);
    const stopped = await chat(client, { stop });
    expect(stopped.choice?.finish_reason).toBe('stop');
    expect(stopped.text.length).toBeLessThan(text.length);
    const all = textOf(stopped.tokens);
    // The last token may go on into the stop text.
    expect(all.startsWith(stopped.text)).toBe(true);
    expect(textOf(stopped.tokens.slice(0, -1)).length).toBeLessThan(stopped.text.length);
    const called = await chat(client, {
      tools: [{ type: 'function', function: { name: 'go', parameters: { const: 1 } } }],
      tool_choice: 'required',
      max_tokens: 100,
    });
    expect(called.choice?.message.tool_calls).toHaveLength(1);
    expect(called.tokens).toEqual([]);
  });

  it('an agent are those of its reply, without thinking and without the text of other nodes', async () => {
    const { client } = await setting();
    const { text, tokens, choice } = await chat(client, { model: 'thinker' });
    expect(choice?.message).toHaveProperty('reasoning_content');
    expect(tokens.length).toBeGreaterThan(0);
    expect(textOf(tokens).trimStart()).toBe(text.trimStart());
    const greeted = await chat(client, { model: 'greeter' });
    expect(greeted.text).toMatch(/^.+\n/);
    expect(greeted.text.slice(greeted.text.indexOf('\n') + 1)).toBe(textOf(greeted.tokens));
    expect(greeted.tokens.length).toBeGreaterThan(0);
  });

  it.each([
    [{ top_logprobs: 21, logprobs: true }, 'top_logprobs', /at most 20/],
    [{ top_logprobs: -1, logprobs: true }, 'top_logprobs', /^top_logprobs: /],
    [{ top_logprobs: 2 }, 'top_logprobs', /^top_logprobs: has no effect without logprobs true/],
    [{ top_logprobs: 2, logprobs: false }, 'top_logprobs', /has no effect/],
    [{ logprobs: 5 }, 'logprobs', /^logprobs: /],
    [
      { logprobs: true, model: 'docs' },
      'logprobs',
      /^logprobs: "docs" gives no log-probabilities: its replies/,
    ],
    [{ logprobs: true, model: 'marks' }, 'logprobs', /^logprobs: "marks" .*marks of unknown sources/],
    [{ logprobs: true, model: 'twice' }, 'logprobs', /^logprobs: "twice" .*several nodes/],
    [{ logprobs: true, model: 'canned' }, 'logprobs', /^logprobs: "canned" .*no language model/],
  ])('a chat completion are refused for %j', async (fields, param, message) => {
    const { call } = await setting();
    const reply = await call('POST', '/v1/chat/completions', {
      ...request(),
      logprobs: undefined,
      ...fields,
    });
    const { error } = reply.json();
    expect([reply.status, error.param, error.message]).toEqual([400, param, expect.stringMatching(message)]);
  });

  it.each([
    [{ include: included, top_logprobs: 21 }, 'top_logprobs', /at most 20/],
    [{ top_logprobs: 1 }, 'top_logprobs', /has no effect without include/],
    [{ include: included, model: 'docs' }, 'include', /^include: "docs" gives no log-probabilities/],
  ])('a response are refused for %j', async (fields, param, message) => {
    const { call } = await setting();
    const reply = await call('POST', '/v1/responses', { model: 'talker', input: 'x', ...fields });
    const { error } = reply.json();
    expect([reply.status, error.param, error.message]).toEqual([400, param, expect.stringMatching(message)]);
    const other = { model: 'talker', input: 'x', include: ['reasoning.encrypted_content'], top_logprobs: 0 };
    expect((await call('POST', '/v1/responses', { ...other, max_output_tokens: 1 })).status).toBe(200);
  });
});

describe('tokens beside text', () => {
  const frame = { type: 'TurnText', turn_id: 't', node: 'a', kind: 'reply', text: '' } as const;
  const tokenOf = (bytes: Uint8Array) => ({ token: '', bytes: [...bytes], logprob: -1, top_logprobs: [] });

  it('go with the text in which they begin, however bytes and pieces are divided, and up to its cut', () => {
    const next = random(testSeed);
    const below = (count: number) => Math.floor(next() * count);
    for (let round = 0; round < repetitions('TOKENS', 100, 3000); round++) {
      const characters = Array.from(
        { length: 1 + below(12) },
        () => ['a', ' ', 'é', '😀'][below(4)] as string,
      );
      const bytes = Buffer.from(characters.join(''));
      /** Length of the text of whole characters in the first `count` bytes. */
      const lengthAt = (count: number) => {
        let text = '';
        for (const each of characters) {
          if (Buffer.byteLength(text + each) > count) break;
          text += each;
        }
        return text.length;
      };
      const text = characters.slice(0, below(characters.length + 1)).join('');
      const aligned = new TextLogprobs('a');
      const starts: number[] = [];
      let sent = 0;
      let given = 0;
      for (let at = 0; at < bytes.length || sent < text.length; ) {
        const end = Math.min(bytes.length, at + below(4));
        const until = Math.min(text.length, Math.max(sent, lengthAt(end) - below(3)));
        starts.push(lengthAt(at));
        const logprobs = [tokenOf(bytes.subarray(at, end))];
        given += aligned.push({ ...frame, logprobs }, text.slice(sent, until)).length;
        [at, sent] = [end, until];
        const due = starts.filter((start) => start < sent).length;
        expect(given, JSON.stringify({ seed: testSeed, round, characters, starts, sent })).toBe(due);
      }
    }
  });

  it('are all given with a text of ill-formed bytes', () => {
    const bytes = Buffer.from([0x61, 0xff, 0xc3, 0x61, 0xf0, 0x9f, 0x98, 0x62, 0xf0, 0x80, 0x80, 0x63]);
    const aligned = new TextLogprobs('a');
    const logprobs = Array.from(bytes, (byte) => tokenOf(Uint8Array.of(byte)));
    const text = bytes.toString('utf8');
    expect(aligned.push({ ...frame, logprobs }, text.slice(0, -1))).toHaveLength(bytes.length - 1);
    expect(aligned.push(frame, text.slice(-1))).toHaveLength(1);
    expect(aligned.finish()).toEqual([]);
  });
});
