/** The files of a folder's index: what they replace, and what stays in them. */
import {
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { EmbeddingModel } from '../../lib/index.js';
import { indexFolder, openKnowledgeBase } from '../../src/knowledge/index.js';
import { temporaryFolder } from '../helpers/folder.js';
import { createTinyModel } from '../helpers/tiny-model/tiny-model.mjs';
import { words } from './words.js';

const file = temporaryFolder();
let model: EmbeddingModel;
const models = async () => ({ model });
let folder = '';
let trial = 0;

beforeAll(async () => {
  process.env.LOREKEEP_STATE = file('state');
  await createTinyModel({ texts: words, path: file('tiny.gguf'), dimension: 64 });
  model = await EmbeddingModel.load(file('tiny.gguf'));
});

afterAll(() => model.close());

beforeEach(() => {
  folder = file(`docs-${trial++}`);
  mkdirSync(folder);
});

describe('the files of an index', () => {
  const files = ['folder.json', 'files.jsonl', 'kb.json', 'records.json'];
  const content = 'not of lorekeep';
  let place = '';
  let foreign = '';
  beforeEach(() => {
    place = file(`place-${trial}`);
    foreign = file(`foreign-${trial}`);
    mkdirSync(place);
    writeFileSync(foreign, content);
    writeFileSync(join(folder, 'a.md'), 'bees dance');
  });
  const index = () => indexFolder({ folder, models, model: 'tiny', output: place });

  test.each(files)('replace no other %s, and no link', async (name) => {
    for (const make of [
      () => writeFileSync(join(place, name), content),
      () => symlinkSync(foreign, join(place, name)),
      () => symlinkSync(file('never-there'), join(place, name)),
      () => mkdirSync(join(place, name)),
    ]) {
      make();
      await expect(index()).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
      rmSync(join(place, name), { recursive: true });
    }
    expect(readFileSync(foreign, 'utf8')).toBe(content);
    expect(existsSync(file('never-there'))).toBe(false);
  });

  test('are written through no link that waits beside them', async () => {
    for (const name of files) symlinkSync(foreign, join(place, `${name}.tmp`));
    await index();
    expect(readFileSync(foreign, 'utf8')).toBe(content);
    expect((await index()).records).toBe(1);
  });

  test.each(['kb.json', 'records.json', 'files.jsonl'])(
    'replace no %s that took the place of theirs',
    async (name) => {
      await index();
      writeFileSync(join(folder, 'b.md'), 'more bees');
      rmSync(join(place, name));
      symlinkSync(foreign, join(place, name));
      await expect(index()).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
      rmSync(join(place, name));
      writeFileSync(join(place, name), content);
      await expect(index()).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
      expect(readFileSync(foreign, 'utf8')).toBe(content);
      expect(readFileSync(join(place, name), 'utf8')).toBe(content);
    },
  );
});

test('records that were added to an index stay when its folder is indexed again', async () => {
  writeFileSync(join(folder, 'bees.txt'), 'Honey bees dance in the hive.');
  const options = { folder, models, model: 'tiny' };
  const { config } = await indexFolder(options);
  const ids = async () => {
    await using kb = await openKnowledgeBase(config, { models });
    return (await kb.list()).map(({ id }) => id);
  };
  const [own] = await ids();
  {
    await using kb = await openKnowledgeBase(config, { models });
    await kb.add([{ id: 'note', text: 'Glaciers grind valleys', metadata: { title: 'A note' } }]);
  }
  for (const round of [1, 2, 3]) {
    writeFileSync(join(folder, 'ice.txt'), `Ice is cold, ${'very '.repeat(round)}cold.`);
    await indexFolder(options);
    expect(await ids()).toEqual([own, expect.stringContaining('ice'), 'note']);
  }
});

test('a forgotten text does not come back when its folder is indexed again, unless it is asked for', async () => {
  writeFileSync(join(folder, 'bees.txt'), 'Honey bees dance in the hive.');
  writeFileSync(join(folder, 'ice.txt'), 'Glaciers grind valleys.');
  const options = { folder, models, model: 'tiny' };
  const { config } = await indexFolder(options);
  const texts = async () => {
    await using kb = await openKnowledgeBase(config, { models });
    return (await kb.list()).map(({ text }) => text);
  };
  {
    await using kb = await openKnowledgeBase(config, { models });
    const [first] = await kb.list();
    await kb.forget([first?.id as string]);
  }
  const problems = [{ path: 'bees.txt', reason: 'its text was forgotten; --forgotten indexes it again' }];
  expect(await indexFolder(options)).toMatchObject({ records: 1, problems });
  expect(await texts()).toEqual(['Glaciers grind valleys.']);
  expect(readFileSync(join(dirname(config), 'records.json'), 'utf8')).not.toContain('Honey');
  await indexFolder({ ...options, forgotten: true });
  expect(await texts()).toEqual(['Honey bees dance in the hive.', 'Glaciers grind valleys.']);
});

function becomeFolder(path: string): void {
  rmSync(path);
  mkdirSync(path);
}

const withDigests = (digests: unknown) => (path: string) =>
  writeFileSync(path, JSON.stringify({ kind: 'lorekeep forgotten texts', version: 1, digests }));

test.each([
  ['a number', withDigests(5), 'CORRUPT'],
  ['of other values', withDigests([7, ['a']]), 'CORRUPT'],
  ['cut', (path: string) => truncateSync(path, 40), 'CORRUPT'],
  ['a folder', becomeFolder, 'INVALID_ARGUMENT'],
  ['too long', (path: string) => truncateSync(path, 600 * 1024 * 1024), 'INVALID_ARGUMENT'],
])('a list of forgotten texts that is %s is named, and lets no text back', async (_, damage, code) => {
  writeFileSync(join(folder, 'bees.txt'), 'Honey bees dance in the hive.');
  writeFileSync(join(folder, 'ice.txt'), 'Glaciers grind valleys.');
  const options = { folder, models, model: 'tiny' };
  const { config } = await indexFolder(options);
  const list = join(dirname(config), 'forgotten.json');
  {
    await using kb = await openKnowledgeBase(config, { models });
    await kb.forget([(await kb.list())[0]?.id as string]);
  }
  const written = readFileSync(list);
  damage(list);
  writeFileSync(join(folder, 'new.txt'), 'Bees like honey.');
  await expect(indexFolder(options)).rejects.toMatchObject({ code, detail: { file: list } });
  rmSync(list, { recursive: true });
  writeFileSync(list, written);
  expect(await indexFolder(options)).toMatchObject({ records: 2 });
});
