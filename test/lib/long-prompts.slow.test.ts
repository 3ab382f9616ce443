import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { LanguageModel } from '../../lib/index.js';
import { temporaryFolder } from '../helpers/folder.js';
import { tinyDecoders, writeTinyDecoder } from '../helpers/tiny-model/tiny-decoder.mjs';

const at = temporaryFolder();

/** About the most that is cut into tokens. */
const longest = 1024 * 1024;

describe.each(tinyDecoders.filter((kind) => ['llama', 'gemma', 'qwen2'].includes(kind)))('%s', (kind) => {
  const path = () => at(`${kind}.gguf`);
  beforeAll(() => writeTinyDecoder(kind, path()));

  async function load(): Promise<LanguageModel> {
    const model = await LanguageModel.load(path());
    onTestFinished(() => model.close());
    return model;
  }

  test('a long text has the tokens of its words, wherever it is cut', async () => {
    const model = await load();
    const words = Array.from({ length: 20_000 }, (_, n) => ['ba', 'koluo', 'e', 'minero'][n % 4] as string);
    let tokens = 0;
    for (const word of new Set(words)) tokens += (words.length / 4) * (await model.countTokens(word));
    expect(await model.countTokens(words.join(' '))).toBe(tokens);
  });

  // The watch of all tests (helpers/watchdog.ts) finds a piece that takes too long.
  test.each(['\n', 'a', ' ', 'ж', '漢', '\u0001'])(
    'a text of %j has about as many tokens per character as its beginning',
    async (unit) => {
      const model = await load();
      const length = Math.floor(longest / Buffer.byteLength(unit));
      const some = 4096;
      const few = await model.countTokens(unit.repeat(some));
      const many = await model.countTokens(unit.repeat(length));
      expect(many / length / (few / some)).toBeGreaterThan(0.95);
      expect(many / length / (few / some)).toBeLessThan(1.05);
    },
  );

  test('cutting a long text into tokens can be cancelled', async () => {
    const model = await load();
    const controller = new AbortController();
    const counting = model.countTokens('\n'.repeat(longest), { signal: controller.signal });
    setImmediate(() => controller.abort(new Error('enough')));
    await expect(counting).rejects.toThrow();
  });
});
