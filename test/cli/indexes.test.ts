/** `lorekeep indexes`, and folders that are moved or gone. */
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { lockFile } from '../../lib/internal.js';
import { placeOf } from '../../src/knowledge/folder/place.js';
import { watchLockOf } from '../../src/knowledge/folder/watch/watch-lock.js';
import { temporaryFolder } from '../helpers/folder.js';
import { commandHost } from './commands.js';

const inFolder = temporaryFolder();
const lorekeep = commandHost();
const cwd = inFolder('work');
const env = { LOREKEEP_STATE: inFolder('state') };
const run = async (...args: string[]) => {
  const { status, stdout, stderr } = await lorekeep(args, { cwd, env });
  return { status, stdout: stdout.trim(), stderr: stderr.trim() };
};
const json = async (...args: string[]) => JSON.parse((await run(...args, '--json')).stdout);
const model = ['--model', 'lorekeep-mini'];
const places = () => readdirSync(join(env.LOREKEEP_STATE, 'folders'));

function write(path: string, text: string) {
  mkdirSync(join(cwd, path, '..'), { recursive: true });
  writeFileSync(join(cwd, path), text);
}

beforeAll(() => mkdirSync(cwd));

test('the index of a folder that was named by a link is removed by it', async () => {
  write('real/a.md', 'Bees dance in the hive.');
  symlinkSync('real', join(cwd, 'link'));
  await json('index', 'link', ...model);
  expect(await json('indexes', 'remove', 'link')).toMatchObject({ removed: [{ folder: join(cwd, 'real') }] });
  expect((await run('indexes', 'list')).stdout).toBe('no folder is indexed');
});

test('indexes are listed with their states and sizes, and removed', async () => {
  expect((await run('indexes', 'list')).stdout).toBe('no folder is indexed');
  write('one/a.md', 'Bees dance in the hive.');
  write('one/broken.md', '\0');
  write('two/b.md', 'Glaciers grind valleys.');
  await json('index', 'one', ...model);
  await json('index', 'two', ...model);
  const { indexes } = await json('indexes', 'list');
  expect(indexes).toMatchObject([
    { folder: join(cwd, 'two'), state: 'ready', files: 1, records: 1, unread: 0, missing: [] },
    { folder: join(cwd, 'one'), state: 'ready', files: 1, records: 1, unread: 1, missing: [] },
  ]);
  expect(indexes[0].bytes).toBeGreaterThan(1000);
  const place = join(indexes[1].config, '..');
  rmSync(join(place, 'kb.bm25'));
  renameSync(join(cwd, 'two/b.md'), join(cwd, 'b.md'));
  const emptied = await run('indexes', 'list');
  expect(emptied.stdout).toMatch(/work\/two +emptied +1 +1 /);
  expect(emptied.stderr).toContain('work/two: nothing is in the folder now');
  rmSync(join(cwd, 'two'), { recursive: true });
  const { stdout, stderr } = await run('indexes', 'list');
  expect(stdout.split('\n').slice(1)).toEqual([
    expect.stringMatching(/work\/two +gone +1 +1 .*KiB +20/),
    expect.stringMatching(/work\/one +damaged +1 +1 .*KiB +20/),
  ]);
  expect(stderr).toContain('work/two: the folder is gone');
  expect(stderr).toContain('missing: kb.bm25; 1 file could not be read');
  expect(await run('search', 'two', 'ice')).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/work\/two: is gone; .* indexes remove .*two/),
  });
  expect((await run('indexes', 'remove', '--gone')).stdout).toMatch(
    /^removed the index of .*work\/two: 1 record, /,
  );
  expect(await run('indexes', 'remove', 'two')).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/two: has no index in the data folder/),
  });
  expect((await run('indexes', 'remove', '--gone')).stdout).toBe('no indexed folder is gone');
  const watch = lockFile(watchLockOf(place));
  expect((await run('indexes', 'remove', 'one')).stderr).toContain('end its watch first');
  await watch.release();
  expect(await json('indexes', 'remove', 'one')).toMatchObject({ removed: [{ folder: join(cwd, 'one') }] });
  expect(existsSync(place)).toBe(false);
  expect((await run('indexes', 'remove')).status).toBe(2);
});

test('an index that cannot be removed is told, and the others are removed', async () => {
  for (const name of ['kept', 'left']) {
    write(`${name}/a.md`, `Bees dance in ${name}.`);
    await json('index', name, ...model);
    rmSync(join(cwd, name), { recursive: true });
  }
  const { indexes } = await json('indexes', 'list');
  const kept = indexes.find(({ folder }: { folder: string }) => folder === join(cwd, 'kept'));
  const watch = lockFile(watchLockOf(join(kept.config, '..')));
  const { status, stdout, stderr } = await run('indexes', 'remove', '--gone', 'absent');
  expect({ status, stdout }).toMatchObject({
    status: 1,
    stdout: expect.stringMatching(/^removed the index of .*work\/left: 1 record, [^\n]*$/),
  });
  expect(stderr).toMatch(/absent: has no index.*\n.*work\/kept: is kept current by process \d+/);
  const again = await json('indexes', 'remove', '--gone', 'absent');
  expect(again).toMatchObject({
    removed: [],
    kept: [
      { folder: 'absent', error: { code: 'NOT_FOUND' } },
      { folder: join(cwd, 'kept'), error: { code: 'IO' } },
    ],
  });
  await watch.release();
  expect((await json('indexes', 'remove', '--gone')).removed).toHaveLength(1);
});

test('records that were added, removed or forgotten since the last run count', async () => {
  write('live/a.md', 'Bees dance in the hive.');
  write('live/b.md', 'Glaciers grind valleys.');
  await json('index', 'live', ...model);
  const listed = async () => {
    const { indexes } = await json('indexes', 'list');
    return indexes.find((index: { folder: string }) => index.folder === join(cwd, 'live')).records;
  };
  expect(await listed()).toBe(2);
  await run('add', 'live', '--id', 'own', '--text', 'Herons stand still.');
  await run('add', 'live', '--id', 'other', '--text', 'Otters swim.');
  expect(await listed()).toBe(4);
  const { records } = await json('list', 'live');
  await run('remove', 'live', records[0].id, 'own');
  expect(await listed()).toBe(2);
  expect((await run('forget', 'live', records[1].id)).stdout).toMatch(/\ndocuments that .*: b\.md$/);
  expect(await listed()).toBe(1);
  await json('index', 'live', ...model);
  const { indexes } = await json('indexes', 'list');
  expect(indexes.find(({ folder }: { folder: string }) => folder === join(cwd, 'live')).unread).toBe(0);
});

test('a moved folder keeps its index, with the records that were added to it', async () => {
  write('here/a.md', 'Bees dance in the hive.');
  write('here/b.md', 'Glaciers grind valleys.');
  await json('index', 'here', ...model);
  expect((await run('add', 'here', '--id', 'own', '--text', 'Herons stand still.')).status).toBe(0);
  renameSync(join(cwd, 'here'), join(cwd, 'there'));
  const before = places().length;
  expect(await json('index', 'there', ...model)).toMatchObject({ embedded: 0, records: 3 });
  expect(places()).toHaveLength(before);
  expect(await json('list', 'there')).toMatchObject({ count: 3 });
  expect((await json('search', 'there', 'herons')).hits[0].id).toBe('own');
});

test('a folder that came from another file system keeps its embeddings', async () => {
  write('disk/a.md', 'Bees dance in the hive.');
  write('disk/b.md', 'Glaciers grind valleys.');
  write('other/c.md', 'Tea is steeped.');
  await json('index', 'disk', ...model);
  cpSync(join(cwd, 'disk'), join(cwd, 'copy'), { recursive: true });
  rmSync(join(cwd, 'disk'), { recursive: true });
  expect(await json('index', 'other', ...model)).toMatchObject({ embedded: 1 });
  expect(await json('index', 'copy', ...model)).toMatchObject({ embedded: 0, records: 2 });
});

test('a moved folder keeps its forgotten texts out and its embeddings, also where another one has taken its path', async () => {
  const search = async (folder: string) =>
    (await json('search', folder, 'herons', '--top-k', '9')).hits.map(({ text }: { text: string }) => text);
  const fill = (folder: string, word: string) => {
    write(`${folder}/a.md`, `${word} herons stand still.`);
    write(`${folder}/b.md`, `${word} herons fly at dusk.`);
  };
  fill('p', 'Grey');
  await json('index', 'p', ...model);
  await json('forget', 'p', (await json('search', 'p', 'herons that fly at dusk')).hits[0].id);
  expect(await search('p')).toEqual([expect.stringContaining('Grey herons stand')]);
  renameSync(join(cwd, 'p'), join(cwd, 'q'));
  fill('p', 'White');
  await json('index', 'p', ...model);
  expect(await json('index', 'q', ...model)).toMatchObject({ embedded: 0, records: 1 });
  expect(await search('q')).toEqual([expect.stringContaining('Grey herons stand')]);
  expect((await search('p')).sort()).toEqual([
    expect.stringContaining('White herons fly'),
    expect.stringContaining('White herons stand'),
  ]);

  // The two change places.
  renameSync(join(cwd, 'p'), join(cwd, 'r'));
  renameSync(join(cwd, 'q'), join(cwd, 'p'));
  renameSync(join(cwd, 'r'), join(cwd, 'q'));
  expect(await json('index', 'q', ...model)).toMatchObject({ embedded: 0, records: 2 });
  expect(await json('index', 'p', ...model)).toMatchObject({ embedded: 0, records: 1 });
  expect(await search('p')).toEqual([expect.stringContaining('Grey herons stand')]);

  // Another folder takes a path without being indexed.
  renameSync(join(cwd, 'p'), join(cwd, 's'));
  fill('p', 'Black');
  expect(await json('index', 's', ...model)).toMatchObject({ embedded: 0, records: 1 });
  expect(await json('index', 's', '--forgotten', ...model)).toMatchObject({ records: 2 });
});

describe('forgotten texts stay out', () => {
  const fill = (folder: string, word: string, ...more: string[]) => {
    write(`${folder}/a.md`, `${word} herons stand still.`);
    write(`${folder}/b.md`, `${word} herons fly at dusk.`);
    for (const [at, text] of more.entries()) write(`${folder}/more-${at}.md`, text);
  };
  const texts = async (folder: string): Promise<string[]> =>
    (await json('list', folder)).records.map(({ text }: { text: string }) => text).sort();
  /** Forgets the record whose text has these words. */
  const forget = async (folder: string, words: string) => {
    const { records } = await json('list', folder);
    const { id } = records.find(({ text }: { text: string }) => text.includes(words));
    await json('forget', folder, id);
  };
  /** As `mv` between two file systems. */
  const moveAcross = (from: string, to: string) => {
    cpSync(join(cwd, from), join(cwd, to), { recursive: true });
    rmSync(join(cwd, from), { recursive: true });
  };
  const move = (from: string, to: string) => renameSync(join(cwd, from), join(cwd, to));

  test('of a folder that goes to another file system, wherever it arrives', async () => {
    fill('disk-1', 'Grey');
    await json('index', 'disk-1', ...model);
    await forget('disk-1', 'dusk');
    moveAcross('disk-1', 'disk-2');
    await json('index', 'disk-2', ...model);
    expect(await texts('disk-2')).toEqual([expect.stringContaining('still')]);
    // The place of another folder that is indexed.
    fill('other-1', 'Tall');
    await json('index', 'other-1', ...model);
    rmSync(join(cwd, 'other-1'), { recursive: true });
    moveAcross('disk-2', 'other-1');
    await json('index', 'other-1', ...model);
    expect(await texts('other-1')).toEqual([expect.stringContaining('Grey herons stand still')]);
    // Its documents alone go.
    for (const name of ['a.md', 'b.md']) write(`disk-3/${name}`, '');
    for (const name of ['a.md', 'b.md']) move(`other-1/${name}`, `disk-3/${name}`);
    await json('index', 'other-1', ...model);
    await json('index', 'disk-3', ...model);
    expect(await texts('disk-3')).toEqual([expect.stringContaining('still')]);
  });

  test('of a folder that was at several paths, which other folders have since', async () => {
    fill('first', 'Blue', 'Owls hide the amber key.');
    await json('index', 'first', ...model);
    await forget('first', 'dusk');
    move('first', 'second');
    fill('first', 'White');
    await json('index', 'first', ...model);
    await json('index', 'second', ...model);
    await forget('second', 'amber');
    move('second', 'third');
    fill('second', 'Black');
    await json('index', 'second', ...model);
    write('first/c.md', 'Tea steeps.');
    await json('index', 'first', ...model);
    await json('index', 'third', ...model);
    expect(await texts('third')).toEqual([expect.stringContaining('Blue herons stand still')]);
  });

  test('of a folder that is named by a link, wherever the link leads', async () => {
    fill('release-1', 'Pale');
    fill('release-2', 'Pale');
    symlinkSync('release-1', join(cwd, 'current'));
    await json('index', 'current', ...model);
    await forget('current', 'dusk');
    rmSync(join(cwd, 'current'));
    symlinkSync('release-2', join(cwd, 'current'));
    expect(await json('index', 'current', ...model)).toMatchObject({ embedded: 0 });
    expect(await texts('current')).toEqual([expect.stringContaining('still')]);
  });

  test('of a folder that is made anew at its path, also where its index was moved away with the former one', async () => {
    fill('clone', 'Red');
    await json('index', 'clone', ...model);
    await forget('clone', 'dusk');
    move('clone', 'clone.old');
    fill('clone', 'Red');
    await json('index', 'clone.old', ...model);
    await json('index', 'clone', ...model);
    for (const folder of ['clone', 'clone.old'])
      expect(await texts(folder)).toEqual([expect.stringContaining('still')]);
  });
});

test('an index whose move was interrupted is moved by the next run', async () => {
  write('way/a.md', 'Bees dance in the hive.');
  const { config } = await json('index', 'way', ...model);
  await run('add', 'way', '--id', 'own', '--text', 'Herons stand still.');
  renameSync(join(cwd, 'way'), join(cwd, 'arrived'));
  const to = placeOf(join(cwd, 'arrived')).replace(/.*\/folders\//, join(env.LOREKEEP_STATE, 'folders/'));
  mkdirSync(to);
  for (const name of ['kb.json', 'kb.index']) renameSync(join(config, '..', name), join(to, name));
  expect(await json('index', 'arrived', ...model)).toMatchObject({ records: 2 });
  expect((await json('list', 'arrived')).records.map(({ id }: { id: string }) => id)).toContain('own');
});

test('a damaged list of facts keeps no other index from use', async () => {
  write('damaged/a.md', 'Bees dance in the hive.');
  write('whole/b.md', 'Glaciers grind valleys.');
  const { config } = await json('index', 'damaged', ...model);
  const file = join(config, '../folder.json');
  const facts = readFileSync(file, 'utf8');
  for (const [at, part] of [
    { formerIdentities: 5 },
    { folder: 7 },
    { indexedAt: 3 },
    { records: '1' },
  ].entries()) {
    writeFileSync(file, JSON.stringify({ ...JSON.parse(facts), ...part }));
    write(`whole/${at}.md`, `Glacier ${at}.`);
    expect(await json('index', 'whole', ...model)).toMatchObject({ records: at + 2 });
    const { indexes } = await json('indexes', 'list');
    expect(indexes.map(({ folder }: { folder: string }) => folder)).toContain(join(cwd, 'whole'));
  }
});
