/** What language models take: as much as estimated, and one copy of packed weights however often a file is loaded. */
import { describe, expect, test } from 'vitest';
import { runChild } from '../helpers/children.js';
import { haveModels, realModel, smolLm } from '../helpers/real-models.js';

interface Taken {
  runtime: string;
  fileBytes: number;
  total: number;
  taken: number;
  again: number;
}

const MiB = 2 ** 20;
const measurable = process.platform === 'linux' && haveModels(smolLm);

/** In a process of its own, whose memory holds nothing else. */
async function taken(runtime: string, cacheType: string): Promise<Taken> {
  const script = '../../lib/children/language-model-memory.mjs';
  const { code, output, messages } = await runChild(script, [realModel(smolLm), runtime, cacheType, '512']);
  expect(output).toBe('');
  expect(code).toBe(0);
  return messages[0] as Taken;
}

describe.skipIf(!measurable)('the memory of a language model', () => {
  test.each([
    ['llama.cpp', 'f16'],
    ['llama.cpp', 'q8_0'],
    ['decoder', 'f16'],
    ['decoder', 'q8_0'],
  ])('is as estimated with %s and a cache in %s', { timeout: 120_000 }, async (runtime, cacheType) => {
    const found = await taken(runtime, cacheType);
    expect(found.runtime).toBe(runtime);
    expect(Math.abs(found.taken - found.total)).toBeLessThan(0.1 * found.total + 32 * MiB);
    // Another load of the file has a vocabulary and buffers of its own, but no weights.
    if (runtime === 'decoder') expect(found.again).toBeLessThan(0.5 * found.fileBytes);
  });
});
