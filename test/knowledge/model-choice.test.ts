import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { EmbeddingModel } from '../../lib/index.js';
import { indexFolder } from '../../src/knowledge/index.js';
import { temporaryFolder } from '../helpers/folder.js';
import { tinyBert } from '../helpers/models.js';

const folders = temporaryFolder();
const output = temporaryFolder();

const texts = {
  english: 'The lamp is lit every night by the keeper, and it is seen from all of the boats in the bay.',
  german: 'Die Lampe wird jede Nacht vom Wärter angezündet, und man sieht sie von allen Booten in der Bucht.',
  japanese: '灯台守は毎晩ランプを灯し、湾内のすべての船から見えます。',
  chinese: '守塔人每天晚上点亮灯，海湾里的所有船只都能看到。',
  thai: 'ผู้ดูแลจุดตะเกียงทุกคืนและเรือทุกลำในอ่าวสามารถมองเห็นได้',
  korean: '등대지기는 매일 밤 등불을 켜고 만에 있는 모든 배에서 볼 수 있습니다.',
  hindi: 'रखवाला हर रात दीपक जलाता है और खाड़ी की सभी नावों से दिखाई देता है।',
  arabic: 'يضيء الحارس المصباح كل ليلة ويمكن رؤيته من جميع القوارب في الخليج.',
  code: 'const lamp = new Lamp(); lamp.light(harbour.keeper, night); return lamp.state === LampState.On;',
};

let model: EmbeddingModel;
beforeAll(async () => {
  model = await EmbeddingModel.load(await tinyBert());
});
afterAll(() => model.close());

const command = 'lorekeep models pull polyglot';

/** Any name is a model. */
const models = (present: boolean) => ({
  resolve: async () => ({ model }),
  multilingual: () => ({ name: 'polyglot', present, command }),
});

function folderOf(name: string, kinds: (keyof typeof texts)[]): string {
  const folder = folders(name);
  mkdirSync(folder, { recursive: true });
  for (const [i, kind] of kinds.entries()) writeFileSync(join(folder, `${i}.txt`), `${texts[kind]}\n`);
  return folder;
}

const configOf = (config: string) => JSON.parse(readFileSync(config, 'utf8'));

test.each([
  ['english', ['english', 'english'], 'all-MiniLM-L6-v2'],
  ['code', ['code', 'code'], 'all-MiniLM-L6-v2'],
  [
    'little',
    ['english', 'english', 'english', 'english', 'english', 'english', 'english', 'thai'],
    'all-MiniLM-L6-v2',
  ],
  ['mostly code', ['code', 'code', 'code', 'code', 'code', 'code', 'code', 'german'], 'all-MiniLM-L6-v2'],
  ['german', ['german'], 'polyglot'],
  ['japanese', ['japanese', 'code'], 'polyglot'],
  ['chinese', ['chinese'], 'polyglot'],
  ['thai', ['thai'], 'polyglot'],
  ['korean', ['korean'], 'polyglot'],
  ['hindi', ['hindi'], 'polyglot'],
  ['arabic', ['arabic'], 'polyglot'],
  ['mixed', ['english', 'german', 'japanese'], 'polyglot'],
] as const)('a folder of %s texts gets the model that knows them', async (name, kinds, expected) => {
  const folder = folderOf(name, [...kinds]);
  const index = await indexFolder({ folder, output: output(name), models: models(true) });
  expect(index.unfit).toBeUndefined();
  expect(configOf(index.config)).toMatchObject({
    embedding_model: expected,
    bm25_tokenizer: 'multilingual',
    search: { mode: 'hybrid' },
  });
});

test('without such a model, words are searched, and the result says which model fits', async () => {
  const folder = folderOf('absent', ['thai', 'thai', 'thai', 'english']);
  const options = { folder, output: output('absent') };
  const unfit = { languages: ['Thai'], better: { model: 'polyglot', present: false, command } };
  const first = await indexFolder({ ...options, models: models(false) });
  expect(first.unfit).toEqual(unfit);
  expect(configOf(first.config)).toMatchObject({
    embedding_model: 'all-MiniLM-L6-v2',
    search: { mode: 'lexical' },
  });
  // The index keeps what it has, also when the model has come, until one is named.
  const second = await indexFolder({ ...options, models: models(true) });
  expect(second.unfit).toMatchObject({ languages: ['Thai'], better: { present: true } });
  expect(configOf(second.config)).toMatchObject({
    embedding_model: 'all-MiniLM-L6-v2',
    search: { mode: 'lexical' },
  });
  const named = await indexFolder({ ...options, models: models(true), model: 'polyglot' });
  expect(named.unfit).toBeUndefined();
  expect(configOf(named.config)).toMatchObject({ embedding_model: 'polyglot', search: { mode: 'hybrid' } });
  const kept = await indexFolder({ ...options, models: models(true) });
  expect(configOf(kept.config)).toMatchObject({ embedding_model: 'polyglot', search: { mode: 'hybrid' } });
});

test('what the user has set stays when the model changes', async () => {
  const folder = folderOf('own', ['chinese', 'korean', 'thai']);
  const options = { folder, output: output('own'), models: models(false) };
  const { config } = await indexFolder(options);
  const written = configOf(config);
  writeFileSync(config, JSON.stringify({ ...written, search: { ...written.search, top_k: 3, min_best: 0 } }));
  await indexFolder({ ...options, model: 'polyglot' });
  expect(configOf(config).search).toMatchObject({ mode: 'hybrid', top_k: 3, min_best: 0 });
  expect(
    JSON.parse(readFileSync(join(dirname(config), 'folder.json'), 'utf8')).unknownLanguages,
  ).toBeUndefined();
});

test('a model that is named wins', async () => {
  const folder = folderOf('named', ['thai']);
  const index = await indexFolder({ folder, output: output('named'), models: models(true), model: 'own' });
  expect(index.unfit).toBeUndefined();
  expect(configOf(index.config)).toMatchObject({ embedding_model: 'own', search: { mode: 'hybrid' } });
});
