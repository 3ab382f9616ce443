/** What happens to changes that are not merged when the files of a knowledge base are made anew. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import type { FolderReader } from '../../../src/knowledge/folder/folder-reader.js';
import type { RecordSink, ScannedFile } from '../../../src/knowledge/folder/scan.js';
import { ChangedFiles } from '../../../src/knowledge/folder/watch/changed-files.js';
import type { WatchedFile } from '../../../src/knowledge/folder/watch/watched-files.js';
import {
  buildKnowledgeBase,
  type IndexFolderOptions,
  indexFolder,
  type KnowledgeBase,
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

test('a build beside a forgetting leaves no file with the text', async () => {
  const { config, records } = await built();
  write(records, { ...original, 'c.md': 'Tea steeps.' });
  let forgetting: Promise<void> | undefined;
  const forget = async () => {
    await using kb = await openKnowledgeBase(config, { models });
    await kb.forget(['a.md']);
  };
  const embed = async (texts: readonly string[]) => {
    forgetting ??= forget();
    await forgetting;
    return embedder.embed(texts);
  };
  const slow = { ...embedder, embed } as unknown as IndexFolderOptions['models'];
  const withText = () => {
    const files = readdirSync(place, { withFileTypes: true }).filter((entry) => entry.isFile());
    return files
      .map(({ name }) => name)
      .filter((name) => /bees dance/i.test(readFileSync(join(place, name), 'latin1')));
  };
  // Also before the index is built again, which may be killed.
  const before: string[][] = [];
  const info = (_: object, message: string) => {
    if (message.includes('the index is built again')) before.push(withText());
  };
  const options = { models: slow, log: { info, warn() {} } };
  expect(await buildKnowledgeBase(config, options)).toMatchObject({ records: 2 });
  expect([before, withText()]).toEqual([[[]], []]);
  expect(Object.keys(await content(config)).sort()).toEqual(['b.md', 'c.md']);
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

test('records that another process changes while their folder is indexed stay so, and forgotten ones stay gone', async () => {
  const folder = join(place, 'docs');
  mkdirSync(folder);
  const writeAll = (round: number) => {
    for (let n = 0; n < 30; n++) writeFileSync(join(folder, `${n}.md`), `Bees dance, ${n}.`);
    writeFileSync(join(folder, 'changed.md'), `Tea steeps, ${round}.`);
  };
  writeAll(0);
  const index = (onProgress = () => {}) =>
    indexFolder({ folder, models, output: join(place, 'index'), onProgress });
  const { config } = await index();
  const rounds: ((kb: KnowledgeBase) => Promise<unknown>)[] = [
    (kb) => kb.add([{ id: 'own', text: 'Herons stand still.' }]),
    (kb) => kb.remove(['own']),
    (kb) => kb.forget(['3.md']),
  ];
  const merged = async (change: (typeof rounds)[number]) => {
    await using kb = await openKnowledgeBase(config, { models });
    await change(kb);
  };
  const present: string[][] = [];
  for (const [round, change] of rounds.entries()) {
    writeAll(round + 1);
    let changing: Promise<unknown> | undefined;
    await index(() => {
      changing ??= merged(change).catch((error: unknown) => error);
    });
    // It may have come too late: nothing is half done then, and it can be repeated.
    if ((await changing) !== undefined) await merged(change);
    const found = await content(config);
    expect(found['changed.md']).toBe(`Tea steeps, ${round + 1}.`);
    present.push(['own', '3.md'].filter((id) => id in found));
  }
  expect(present).toEqual([['own', '3.md'], ['3.md'], []]);
  await index();
  expect(await content(config)).not.toHaveProperty('3.md');
});

test('a forgotten text stays out however its lines are wrapped and its letters are written', async () => {
  const folder = join(place, 'docs');
  const output = join(place, 'index');
  mkdirSync(folder);
  const write = (text: string) => writeFileSync(join(folder, 'a.txt'), text);
  write('The owl hides the\nkey in the caf\u00e9.\n');
  writeFileSync(join(folder, 'b.txt'), 'Ice flows.');
  const { config } = await indexFolder({ folder, models, output });
  const forgotten = join(output, 'forgotten.json');
  await using kb = await openKnowledgeBase(config, { models });
  await kb.forget(['a.txt']);
  await kb.close();
  const spellings = [
    'The owl hides the key\nin  the caf\u00e9.',
    'The owl hides the\r\nkey in the cafe\u0301.\n',
  ];
  for (const text of spellings) {
    write(text);
    expect(await indexFolder({ folder, models, output })).toMatchObject({ records: 1 });
  }
  write('The owl hides a key in the caf\u00e9.\n');
  expect(await indexFolder({ folder, models, output })).toMatchObject({ records: 2 });
  // Lists of earlier versions have the digests of texts as they were.
  const was = 'The owl hides the\nkey in the caf\u00e9.';
  const digests = [createHash('sha256').update(was).digest('hex')];
  writeFileSync(forgotten, JSON.stringify({ kind: 'lorekeep forgotten texts', version: 1, digests }));
  write(was);
  expect(await indexFolder({ folder, models, output })).toMatchObject({ records: 1 });
});

test('a forgotten passage stays out below another title, and other passages do not', async () => {
  const folder = join(place, 'docs');
  mkdirSync(folder);
  const document = (title: string) =>
    `# ${title}\n\n## Owl\n\nThe owl hides the amber key.\n\n## Ice\n\nIce flows.\n`;
  writeFileSync(join(folder, 'a.md'), document('Birds'));
  const index = (more: object = {}) => indexFolder({ folder, models, output: join(place, 'index'), ...more });
  const { config } = await index();
  await using kb = await openKnowledgeBase(config, { models });
  await kb.forget(['a.md#owl', 'a.md#ice']);
  await kb.close();
  writeFileSync(join(folder, 'a.md'), document('Birds of the wood'));
  await index();
  // A short passage may be anywhere.
  expect(Object.keys(await content(config))).toEqual(['a.md#ice']);
  await index({ forgotten: true });
  expect(Object.keys(await content(config))).toEqual(['a.md#owl', 'a.md#ice']);
});

test('what is forgotten while a watch reads its file does not come back', async () => {
  const folder = join(place, 'docs');
  mkdirSync(folder);
  writeFileSync(join(folder, 'a.md'), original['a.md']);
  const output = join(place, 'index');
  const { config } = await indexFolder({ folder, models, output });
  await using kb = await openKnowledgeBase(config, { models });
  const { signal } = new AbortController();
  const changed = await ChangedFiles.begin(kb, new Map(), output, signal);
  const records = Object.entries(original).map(([id, text]) => ({ id, text, metadata: {} }));
  const read = async (_: object, sink: RecordSink) => {
    for (const record of records) await sink.add(record);
    return { stamp: 'new' };
  };
  await changed.changed({ path: 'a.md' } as ScannedFile<WatchedFile>, { read } as unknown as FolderReader);
  await kb.forget(['a.md']);
  await changed.flush();
  expect((await kb.list()).map(({ id }) => id)).toEqual(['b.md']);
});
