/** What happens to changes that are not merged when the files of a knowledge base are made anew. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  buildKnowledgeBase,
  type IndexFolderOptions,
  indexFolder,
  openKnowledgeBase,
} from '../../../src/knowledge/index.js';
import { temporaryFolder } from '../../helpers/folder.js';

const file = temporaryFolder();
const embedder = {
  dimension: 2,
  fingerprint: 'length, 1',
  embed: async (texts: readonly string[]) => texts.map((text) => [1, text.length]),
};
const models = embedder as unknown as IndexFolderOptions['models'];
let place = '';
let made = 0;

beforeEach(() => {
  place = file(`place-${made++}`);
  mkdirSync(place);
});

const changes = {
  add: { add: [{ id: 'own', text: 'Herons stand still.' }] },
  replace: { replace: [{ id: 'a.md', text: 'Bees hum.' }] },
  remove: { remove: ['b.md'] },
};
type Kind = keyof typeof changes;
const kinds = Object.keys(changes) as Kind[];
const original = { 'a.md': 'Bees dance.', 'b.md': 'Ice flows.' };
const changed: Record<Kind, Record<string, string>> = {
  add: { ...original, own: 'Herons stand still.' },
  replace: { ...original, 'a.md': 'Bees hum.' },
  remove: { 'a.md': 'Bees dance.' },
};

/** Applies a change that stays in the log. */
async function change(config: string, kind: Kind): Promise<void> {
  const kb = await openKnowledgeBase(config, { models });
  await kb.update(changes[kind]);
  await kb.close();
}

async function content(config: string): Promise<Record<string, string>> {
  const kb = await openKnowledgeBase(config, { models });
  const records = await kb.list();
  await kb.close();
  return Object.fromEntries(records.map(({ id, text }) => [id, text]));
}

async function built(): Promise<{ config: string; records: string }> {
  const config = join(place, 'kb.json');
  const records = join(place, 'records.json');
  write(records, original);
  const named = { records_file: 'records.json', index_file: 'kb.index', embeddings_file: 'kb.embeddings' };
  writeFileSync(config, JSON.stringify({ embedding_model: 'own', ...named }));
  await buildKnowledgeBase(config, { models });
  return { config, records };
}

const write = (path: string, records: Record<string, string>) =>
  writeFileSync(path, JSON.stringify(Object.entries(records).map(([id, text]) => ({ id, text }))));

describe.each(kinds)('a change that is not merged: %s', (kind) => {
  test('survives a build', async () => {
    const { config } = await built();
    await change(config, kind);
    await buildKnowledgeBase(config, { models });
    expect(await content(config)).toEqual(changed[kind]);
  });

  test('survives a records file with a further record, or is an error that names the record', async () => {
    const { config, records } = await built();
    await change(config, kind);
    write(records, { ...original, 'c.md': 'Tea steeps.' });
    if (kind === 'add') expect(await content(config)).toEqual({ ...changed.add, 'c.md': 'Tea steeps.' });
    else await expect(content(config)).rejects.toThrow(kind === 'replace' ? '"a.md"' : '"b.md"');
    expect(existsSync(`${records}.changes`)).toBe(true);
  });

  test('survives a records file that has it already', async () => {
    const { config, records } = await built();
    await change(config, kind);
    write(records, changed[kind]);
    expect(await content(config)).toEqual(changed[kind]);
  });

  test('is kept, or told, when its folder is indexed', async () => {
    const folder = join(place, 'docs');
    mkdirSync(folder);
    for (const [name, text] of Object.entries(original)) writeFileSync(join(folder, name), text);
    const warned: string[] = [];
    const log = { info() {}, warn: (_: object, message: string) => void warned.push(message) };
    const index = () => indexFolder({ folder, models, output: join(place, 'index'), log });
    const { config } = await index();
    await change(config, kind);
    writeFileSync(join(folder, 'c.md'), 'Tea steeps.');
    await index();
    const found = await content(config);
    // Documents win over changes of their records.
    expect(found).toEqual({
      ...original,
      'c.md': 'Tea steeps.',
      ...(kind === 'add' && { own: 'Herons stand still.' }),
    });
    expect(warned.some((message) => message.startsWith('records that were changed are replaced'))).toBe(
      kind === 'replace',
    );
    const lines = readFileSync(join(dirname(config), 'records.json'), 'utf8').split('\n');
    expect(lines.filter((line) => line.includes('lorekeep_origin'))).toHaveLength(kind === 'add' ? 1 : 0);
  });
});

test('an index whose change log another process holds is not made anew', async () => {
  const folder = join(place, 'docs');
  mkdirSync(folder);
  writeFileSync(join(folder, 'a.md'), 'Bees dance.');
  const index = () => indexFolder({ folder, models, output: join(place, 'index') });
  const { config } = await index();
  const kb = await openKnowledgeBase(config, { models });
  await kb.update(changes.add);
  writeFileSync(join(folder, 'b.md'), 'Ice flows.');
  await expect(index()).rejects.toMatchObject({ code: 'IO', detail: { holder: process.pid } });
  await kb.close();
  await index();
  expect(Object.keys(await content(config)).sort()).toEqual(['a.md', 'b.md', 'own']);
});
