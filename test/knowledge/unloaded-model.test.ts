import { expect, it, onTestFinished } from 'vitest';
import { EmbeddingModel } from '../../lib/index.js';
import { createStorage } from '../../src/knowledge/index.js';
import { tinyBert } from '../helpers/models.js';

it('a storage searches in every mode while its model is unloaded', async () => {
  const native = await EmbeddingModel.load(await tinyBert());
  onTestFinished(() => native.close());
  let leases = 0;
  let given = 0;
  const model = {
    name: 'tiny',
    facts: native.facts,
    hold: () => () => {},
    async lease() {
      leases++;
      given++;
      return { model: native, [Symbol.dispose]: () => void leases-- };
    },
  };
  const storage = await createStorage({ strings: ['bees make honey', 'ice melts'], model });
  onTestFinished(() => storage.close());
  for (const mode of [undefined, 'dense', 'lexical', 'hybrid'] as const)
    expect((await storage.search({ text: 'honey', mode })).hits.length).toBeGreaterThan(0);
  expect([leases, given]).toEqual([0, 4]); // the strings, and three searches with an embedding
});
