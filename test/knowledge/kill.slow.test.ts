import { readdirSync, writeFileSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import { EmbeddingModel } from '../../lib/index.js';
import { buildKnowledgeBase, openKnowledgeBase } from '../../src/knowledge/index.js';
import { runChild } from '../helpers/children.js';
import { temporaryFolder } from '../helpers/folder.js';
import { random, testSeed } from '../helpers/random.js';
import { repetitions } from '../helpers/repetitions.js';
import { createTinyModel } from '../helpers/tiny-model/tiny-model.mjs';
import { words } from './words.js';

const kills = repetitions('BUILD_KILLS', 40, 200);
/** Builders at a time: they also get in each other's way. */
const builders = 3;
/** Milliseconds from a builder's start of building to its end, at most: some builds long. */
const longestLife = 80;
/** Every second builder dies while it writes one of its first so many files instead. */
const mostFiles = 6;

const file = temporaryFolder();
const config = { embedding_model: 'tiny', records_file: 'records.json', embeddings_file: 'kb.embeddings' };
let model: EmbeddingModel;
const models = async () => ({ model });
const strays = () => readdirSync(file()).filter((name) => name.endsWith('.tmp'));

beforeAll(async () => {
  const next = random(testSeed);
  const word = () => words[Math.floor(next() * words.length)] ?? '';
  const records = Array.from({ length: 239 }, (_, n) => ({
    id: `r${n}`,
    text: `${Array.from({ length: 12 }, word).join(' ')} ${n}`,
  }));
  records.push({ id: 'target', text: 'honey glaciers flour' });
  writeFileSync(file('records.json'), JSON.stringify(records));
  writeFileSync(file('kb.json'), JSON.stringify({ ...config, index_file: 'kb.index' }));
  writeFileSync(file('no-index.json'), JSON.stringify({ ...config, bm25_file: 'kb.bm25' }));
  await createTinyModel({ texts: words, path: file('tiny.gguf'), dimension: 128 });
  model = await EmbeddingModel.load(file('tiny.gguf'));
  await buildKnowledgeBase(file('kb.json'), { models });
});

test(`builders killed ${kills} times, while they write and at random moments, leave nothing torn`, async () => {
  console.log(`seed ${testSeed}`);
  const next = random(testSeed);
  let told: unknown;
  let stopOpening = () => {};
  const opening = runChild('../../knowledge/children/open.mjs', [file()], {
    onMessage: (child, message) => {
      stopOpening = () => child.send('stop');
      told = message;
    },
  });
  let left = kills;
  let seenStrays = 0;
  const killOneByOne = async () => {
    while (left-- > 0) {
      const written = left % 2 === 0 ? 1 + Math.floor(next() * mostFiles) : 0;
      const life = next() * longestLife;
      const { signal, output } = await runChild(
        '../../knowledge/children/build.mjs',
        [file(), `${written}`],
        {
          onMessage: (child) => {
            if (written === 0) setTimeout(() => child.kill('SIGKILL'), life);
          },
        },
      );
      expect({ signal, output }).toEqual({ signal: 'SIGKILL', output: '' });
      seenStrays += strays().length;
    }
  };
  await Promise.all(Array.from({ length: builders }, killOneByOne));
  stopOpening();
  expect(await opening).toMatchObject({ code: 0, output: '' });
  console.log(JSON.stringify({ told, seenStrays }));
  expect(told).toMatchObject({ opens: expect.any(Number), problems: [] });
  expect((told as { opens: number }).opens).toBeGreaterThan(kills / 10);
  expect(seenStrays).toBeGreaterThan(0);

  await buildKnowledgeBase(file('kb.json'), { models });
  expect(strays()).toEqual([]);
  await using opened = await openKnowledgeBase(file('kb.json'), { models });
  expect((await opened.search({ text: 'honey glaciers flour', topK: 1 })).hits[0]?.id).toBe('target');
}, 900_000);

test('processes that build the same storage at once do not harm each other', async () => {
  const options = { models };
  const built = await Promise.all(
    Array.from({ length: 4 }, () => buildKnowledgeBase(file('kb.json'), options)),
  );
  expect(built.map(({ records }) => records)).toEqual([240, 240, 240, 240]);
  expect(strays()).toEqual([]);
  await using opened = await openKnowledgeBase(file('kb.json'), { models });
  expect((await opened.search({ text: 'honey glaciers flour', topK: 1 })).hits[0]?.id).toBe('target');
});
