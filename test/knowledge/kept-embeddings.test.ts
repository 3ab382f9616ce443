/** Embeddings outlive the texts of a folder for a time. */
import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type IndexFolderOptions, indexFolder, openKnowledgeBase } from '../../src/knowledge/index.js';
import { temporaryFolder } from '../helpers/folder.js';

const file = temporaryFolder();
const folder = file('docs');
let embedded: string[] = [];
const embedder = {
  dimension: 2,
  fingerprint: 'length, 1',
  embed: async (texts: readonly string[]) => {
    embedded.push(...texts);
    return texts.map((text) => [1, text.length]);
  },
};
const models = embedder as unknown as IndexFolderOptions['models'];
const output = file('index');
const kept = join(output, '.embeddings');
const index = (options: Partial<IndexFolderOptions> = {}) =>
  indexFolder({ folder, models, output, ...options });
const day = 86_400_000;

beforeEach(() => {
  rmSync(output, { recursive: true, force: true });
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  embedded = [];
});
afterEach(() => void vi.useRealTimers());

const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
/** Lets the index have `name` once, and no more. */
async function indexOnce(name: string, text: string, options: Partial<IndexFolderOptions> = {}) {
  write(name, text);
  await index(options);
  rmSync(join(folder, name));
  write('other.md', `Not ${text}`);
  await index(options);
}

test('a text that comes back in time is not embedded again, a later one is', async () => {
  write('a.md', 'Bees dance.');
  const now = Date.now();
  vi.useFakeTimers({ toFake: ['Date'], now });
  await indexOnce('b.md', 'Ice flows.');
  expect(embedded).toEqual(['Bees dance.', 'Ice flows.', 'Not Ice flows.']);
  vi.setSystemTime(now + 29 * day);
  write('b.md', 'Ice flows.');
  expect(await index()).toMatchObject({ embedded: 0, records: 3 });
  rmSync(join(folder, 'b.md'));
  write('c.md', 'Tea steeps.');
  await index();
  vi.setSystemTime(now + 100 * day);
  write('b.md', 'Ice flows.');
  expect(await index()).toMatchObject({ embedded: 1, records: 4 });
});

test('another number of days counts for what is kept already, and none removes it', async () => {
  write('a.md', 'Bees dance.');
  const now = Date.now();
  vi.useFakeTimers({ toFake: ['Date'], now });
  await indexOnce('b.md', 'Ice flows.', { keepEmbeddings: 1 });
  write('other.md', 'Tea steeps.');
  await index({ keepEmbeddings: 30 });
  write('b.md', 'Ice flows.');
  expect(await index()).toMatchObject({ embedded: 0 });
  vi.setSystemTime(now + 61 * day);
  rmSync(join(folder, 'b.md'));
  await index();
  vi.setSystemTime(now + 122 * day);
  write('b.md', 'Ice flows.');
  expect(await index()).toMatchObject({ embedded: 1 });
  rmSync(join(folder, 'b.md'));
  await index({ keepEmbeddings: 0 });
  expect(existsSync(kept)).toBe(false);
});

test('nothing is kept for 0 days', async () => {
  write('a.md', 'Bees dance.');
  await indexOnce('b.md', 'Ice flows.', { keepEmbeddings: 0 });
  expect(existsSync(kept)).toBe(false);
  write('b.md', 'Ice flows.');
  expect(await index({ keepEmbeddings: 0 })).toMatchObject({ embedded: 1 });
  await expect(index({ keepEmbeddings: -1 })).rejects.toThrow('keepEmbeddings');
});

test('many small files become one, and a folder that loses all its text keeps its embeddings', async () => {
  write('a.md', 'Bees dance.');
  const { config } = await index();
  const kb = await openKnowledgeBase(config, { models });
  for (let number = 0; number < 30; number++) {
    await kb.add([{ id: `own${number}`, text: `Heron ${number}.` }]);
    await kb.remove([`own${number}`]);
  }
  expect(readdirSync(kept).length).toBeLessThan(10);
  embedded = [];
  await kb.add([...Array(30).keys()].map((number) => ({ id: `x${number}`, text: `Heron ${number}.` })));
  expect(embedded).toEqual([]);
  await kb.remove([...Array(30).keys()].map((number) => `x${number}`));
  await kb.close();
  rmSync(join(folder, 'a.md'));
  expect(await index()).toMatchObject({ records: 0 });
  write('a.md', 'Bees dance.');
  expect(await index()).toMatchObject({ records: 1, embedded: 0 });
});

test('the embeddings of a forgotten text are gone', async () => {
  write('a.md', 'Bees dance.');
  const { config } = await index();
  const kb = await openKnowledgeBase(config, { models });
  await kb.add([{ id: 'own', text: 'A secret.' }]);
  await kb.forget(['own']);
  embedded = [];
  await kb.add([{ id: 'own', text: 'A secret.' }]);
  expect(embedded).toEqual(['A secret.']);
  await kb.close();
});

test('records that were added stay when all documents are gone', async () => {
  write('a.md', 'Bees dance.');
  const { config } = await index();
  const kb = await openKnowledgeBase(config, { models });
  await kb.add([{ id: 'own', text: 'Herons stand.' }]);
  await kb.close();
  rmSync(join(folder, 'a.md'));
  for (let run = 0; run < 2; run++) expect(await index()).toMatchObject({ records: 1, files: 0 });
  const again = await openKnowledgeBase(config, { models });
  expect((await again.list()).map(({ id }) => id)).toEqual(['own']);
  await again.close();
});

test('a forgotten text leaves no file that a killed writer left', async () => {
  await indexOnce('b.md', 'Ice flows.');
  const ended = spawnSync(process.execPath, ['--version']).pid;
  const [name] = readdirSync(kept) as [string];
  const uuid = randomUUID();
  const nameless = `1-${uuid}.embeddings.${ended}-0.tmp`;
  const strays = [`${name}.${ended}-${uuid}.tmp`, `${name}.${ended}-${uuid}.tmp.${ended}-1.tmp`, nameless];
  const paths = [...strays.map((each) => join(kept, each)), join(output, `kb.embeddings.${ended}-7.tmp`)];
  const others = [join(kept, 'mine.tmp'), join(output, `kb.embeddings.mine-7.tmp`)];
  for (const path of [...paths, ...others]) writeFileSync(path, 'Ice flows.');
  await using kb = await openKnowledgeBase(join(output, 'kb.json'), { models });
  await kb.forget(['other.md']);
  expect(paths.filter((path) => existsSync(path))).toEqual([]);
  expect(others.every((path) => existsSync(path))).toBe(true);
});
