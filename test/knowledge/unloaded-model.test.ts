import { expect, it, onTestFinished } from 'vitest';
import { EmbeddingModel } from '../../lib/index.js';
import { createStorage } from '../../src/knowledge/index.js';
import { tinyBert } from '../helpers/models.js';

it('a storage searches in every mode while its model is unloaded', async () => {
  const native = await EmbeddingModel.load(await tinyBert());
  onTestFinished(() => native.close());
  let users = 0;
  const model = {
    name: 'tiny',
    facts: native.facts,
    get model(): EmbeddingModel {
      if (users === 0) throw new Error('used without use()');
      return native;
    },
    use() {
      users++;
      return () => void users--;
    },
    inMemory: async () => native,
  };
  users++; // as while the model is loaded
  const storage = await createStorage({ strings: ['bees make honey', 'ice melts'], model });
  users--;
  onTestFinished(() => storage.close());
  for (const mode of [undefined, 'dense', 'lexical', 'hybrid'] as const)
    expect((await storage.search({ text: 'honey', mode })).hits.length).toBeGreaterThan(0);
  expect(users).toBe(0);
});
