import { rmSync, writeFileSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import { EmbeddingModel } from '../../lib/index.js';
import { buildKnowledgeBase } from '../../src/knowledge/index.js';
import { runChild } from '../helpers/children.js';
import { temporaryFolder } from '../helpers/folder.js';
import { createTinyModel } from '../helpers/tiny-model/tiny-model.mjs';
import { words } from './words.js';

const file = temporaryFolder();
/** Texts that make one portion of 64 KiB each. */
const texts = 6;
const length = 70 * 1024;

beforeAll(async () => {
  // Blanks are no tokens, so a text may be long.
  const text = (n: number) => `${words[n]} ${n}`.padEnd(length);
  const records = Array.from({ length: texts }, (_, n) => ({ id: `r${n}`, text: text(n) }));
  writeFileSync(file('records.json'), JSON.stringify(records));
  const config = { embedding_model: 'tiny', records_file: 'records.json', embeddings_file: 'kb.embeddings' };
  writeFileSync(file('kb.json'), JSON.stringify({ ...config, index_file: 'kb.index' }));
  await createTinyModel({ texts: [...words, '0 1 2 3 4 5'], path: file('tiny.gguf'), dimension: 128 });
});

/** Kills a build right after one of its portions, and tells how many embeddings the next build finds. */
async function keptAfter(portion: number): Promise<number> {
  rmSync(file('kb.embeddings'), { force: true });
  const { signal, messages } = await runChild(
    '../../knowledge/children/slow-build.mjs',
    [file(), `${portion}`],
    {
      onMessage: (child) => child.kill('SIGKILL'),
    },
  );
  expect([signal, messages]).toEqual(['SIGKILL', [{ done: portion, total: texts }]]);
  await using model = await EmbeddingModel.load(file('tiny.gguf'));
  const { embedded, reused } = await buildKnowledgeBase(file('kb.json'), { models: async () => ({ model }) });
  expect(embedded + reused).toBe(texts);
  return reused;
}

test('a build that is killed loses at most the embeddings of its last minute', async () => {
  // The clock moves on after a portion, and the next one finds that a minute is over.
  expect(await keptAfter(1)).toBe(0);
  expect(await keptAfter(2)).toBe(2);
  expect(await keptAfter(5)).toBe(5);
});
