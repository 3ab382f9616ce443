/** A grammar that takes much work slows its own reply. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LanguageModel } from '../../lib/index.js';
import { temporaryFolder } from '../helpers/folder.js';
import { writeTinyDecoder } from '../helpers/tiny-model/tiny-decoder.mjs';

const folder = temporaryFolder();
const letters = Array.from('abcdefghijklmnopqrstuvwxyz ', (letter) => `"${letter}"`).join(' | ');
/** Thousands of ways at each byte. */
const dear = `root ::= ((${letters})?){290} [a-z ]*`;
const good = { prompt: 'the keeper lights the lamp', maxTokens: 24, sampling: { temperature: 0 } } as const;

describe('a dear grammar', () => {
  let model: LanguageModel;
  beforeAll(async () => {
    await writeTinyDecoder('llama', folder('llama.gguf'), { context: 512 });
    model = await LanguageModel.load(folder('llama.gguf'), {
      threads: 1,
      batchThreads: 1,
      contextSize: 512,
      runtime: 'decoder',
    });
  });
  afterAll(() => model.close());

  const dearReply = (maxTokens: number) =>
    model.generate({ prompt: 'a b', grammar: dear, maxTokens, sampling: { temperature: 1 }, seed: 7 });

  it('waits for its masks, and the replies beside it stay as they were', async () => {
    const alone = await model.generate(good).result;
    expect(alone.timing).toMatchObject({ constraintWaits: 0, constraintMs: 0 });
    const [slow, ...others] = await Promise.all([
      dearReply(60).result,
      model.generate(good).result,
      model.generate({ ...good, schema: { type: 'array', items: { type: 'string' } } }).result,
    ]);
    expect(slow.text).toMatch(/^[a-z ]*$/);
    expect(slow.timing.constraintWaits).toBeGreaterThan(0);
    expect(slow.timing.constraintMs).toBeGreaterThan(0);
    expect(others[0]?.text).toBe(alone.text);
    expect(others[1]?.text).toMatch(/^\[/);
  });

  it('gives the same reply again, with the masks that are known and without', async () => {
    const first = await dearReply(30).result;
    expect((await dearReply(30).result).text).toBe(first.text);
    // Other grammars take the room of its masks.
    for (let n = 0; n < 40; n++)
      await model.generate({ ...good, maxTokens: 2, grammar: `root ::= [a-z ]* "${'x'.repeat(20_000 + n)}"` })
        .result;
    expect((await dearReply(30).result).text).toBe(first.text);
  });

  it('ends when it is cancelled', async () => {
    const running = dearReply(400);
    for await (const _ of running) break;
    expect((await running.result).finish).toBe('cancelled');
    expect((await model.generate(good).result).usage.completion).toBe(24);
  });
});
