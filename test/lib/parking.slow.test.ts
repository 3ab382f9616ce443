import { expect, test } from 'vitest';
import { LanguageModel } from '../../lib/index.js';
import { haveModels, realModel, smolLm } from '../helpers/real-models.js';
import { continuesAfterParking } from './parking.js';

/** A cache for four of the requests below. Parking with a tiny model, on both runtimes: prefix.test.ts. */
const small = { threads: 1, batchThreads: 1, contextSize: 128, kvCells: 480 };

test.skipIf(!haveModels(smolLm)).each([
  ['llama.cpp', { runtime: 'llama.cpp', deterministic: true }],
  ['decoder', { runtime: 'decoder' }],
  ['decoder', { runtime: 'decoder', kvCacheType: 'q8_0' }],
] as const)(
  'a full cache parks requests of SmolLM2, which continue bit for bit: %s, %o',
  async (runtime, options) => {
    await using model = await LanguageModel.load(realModel(smolLm), { ...small, ...options });
    expect(model.facts.runtime).toBe(runtime);
    await continuesAfterParking(model, (salt) => ({
      messages: [{ role: 'user', content: `Tell me story ${salt}. ${'It has many words. '.repeat(4)}` }],
      maxTokens: 48,
      seed: salt,
      logitBias: { 2: Number.NEGATIVE_INFINITY },
    }));
  },
);
