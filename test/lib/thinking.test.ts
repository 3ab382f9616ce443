/** Replies of a model with random weights whose chat template thinks, whatever it would like to write. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LanguageModel } from '../../lib/index.js';
import { temporaryFolder } from '../helpers/folder.js';
import { random, testSeed } from '../helpers/random.js';
import { repetitions } from '../helpers/repetitions.js';
import { writeTinyDecoder } from '../helpers/tiny-model/tiny-decoder.mjs';

const context = 128;
const messages = [{ role: 'user' as const, content: 'a' }];
/** Of the model: the end of a reply, and the byte tokens. */
const end = 2;
const byte = (letter: string) => 3 + letter.charCodeAt(0);
const turns = '{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}bot: ';
const kinds = {
  'begins inside': `${turns}<think>\n{# </think> #}`,
  'begins by itself': `${turns}{# <think></think> #}`,
  'has a switch': `${turns}{% if enable_thinking is defined and not enable_thinking %}<think>\n\n</think>\n\n{% endif %}`,
};

describe.each(Object.entries(kinds))('a model that %s', (_, template) => {
  const inFolder = temporaryFolder();
  let model: LanguageModel;

  beforeAll(async () => {
    const path = inFolder('tiny.gguf');
    await writeTinyDecoder('llama', path, { context, template });
    model = await LanguageModel.load(path, { threads: 1, batchThreads: 1, kvCells: 4 * context });
  });
  afterAll(() => model.close());

  it('gives a reply after thinking, without tags and within its tokens', { timeout: 60_000 }, async () => {
    const draw = random(testSeed);
    const pick = <T>(values: readonly T[]) => values[Math.floor(draw() * values.length)] as T;
    for (let round = 0; round < repetitions('THINKING', 10, 60); round++) {
      const thinking = pick([
        undefined,
        'off',
        'on',
        { budget: 0 },
        { budget: 3 },
        { budget: 1000 },
      ] as const);
      const maxReplyTokens = pick([undefined, 1, 5]);
      const maxTokens = pick([8, 24, 1024]);
      const schema = pick([undefined, { type: 'boolean' }]);
      // What the model likes: to end at once, white space, and tags.
      const likes = [end, ...[...'<thinkTHINK/>\n '].map(byte)].filter(() => draw() < 0.3);
      const logitBias = Object.fromEntries(likes.map((token) => [token, 30 * draw()]));
      const reply = { maxTokens, maxReplyTokens, schema, logitBias, seed: round, logprobs: 0 };
      const request = { messages, thinking, ...reply };
      const generation = model.generate(request);
      const scored: Uint8Array[] = [];
      for await (const { logprobs } of generation) scored.push(...(logprobs ?? []).map(({ bytes }) => bytes));
      const result = await generation.result;
      const what = JSON.stringify({ seed: testSeed, request, result });
      // White space between thinking and the reply belongs to neither.
      expect(Buffer.concat(scored).toString().trimStart(), what).toBe(result.text.trimStart());
      expect(result.text, what).not.toMatch(/<\/?think>/);
      // 8 tokens have no room for the end tag, which takes 10 of this vocabulary.
      if (maxTokens > 8) {
        if (thinking === 'off' || (typeof thinking === 'object' && thinking.budget === 0))
          expect(result.thinking.trim(), what).toBe('');
        if (result.thinking !== '') expect(result.text.trim(), what).not.toBe('');
      }
      if (schema !== undefined && result.finish === 'stop') JSON.parse(result.text);
      // Tokens that may begin a tag are not counted before the reply has begun.
      if (maxReplyTokens !== undefined) {
        const most = maxReplyTokens + '<think>'.length;
        expect(await model.countTokens(result.text.trim()), what).toBeLessThanOrEqual(most);
      }
    }
  });

  it('keeps the tokens of a reply in a context that is nearly full', async () => {
    const long = [{ role: 'user' as const, content: 'xq'.repeat(35) }];
    const { text, thinking, finish } = await model.generate({
      messages: long,
      thinking: 'on',
      logitBias: { [end]: Number.NEGATIVE_INFINITY },
    }).result;
    expect(finish).toBe('context');
    expect(text.trim(), thinking).not.toBe('');
  });

  it('stops at a stop string of the reply only', async () => {
    const likely = { [byte('y')]: 40 };
    const { text, finish } = await model.generate({
      messages,
      thinking: { budget: 4 },
      stop: ['yyy'],
      logitBias: likely,
      maxTokens: 60,
    }).result;
    expect({ text: text.trim(), finish }).toEqual({ text: '', finish: 'stop_string' });
  });
});
