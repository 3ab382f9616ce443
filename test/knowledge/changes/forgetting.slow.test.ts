/** Forgetting that is killed, fails, or is done by another process. */
import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { beforeAll, expect, test, vi } from 'vitest';
import { EmbeddingModel, Storage } from '../../../lib/index.js';
import { ForgottenByOthers, tellForgotten } from '../../../src/knowledge/changes/forgotten-batches.js';
import { buildKnowledgeBase, type KnowledgeBase, openKnowledgeBase } from '../../../src/knowledge/index.js';
import { runChild } from '../../helpers/children.js';
import { rejection } from '../../helpers/errors.js';
import { temporaryFolder } from '../../helpers/folder.js';
import { repetitions } from '../../helpers/repetitions.js';
import { createTinyModel } from '../../helpers/tiny-model/tiny-model.mjs';
import { words } from '../words.js';

const file = temporaryFolder();
const secret = 'honey "secret" glaciers';
let model: EmbeddingModel;
const models = async () => ({ model });
let made = 0;

beforeAll(async () => {
  await createTinyModel({ texts: words, path: file('tiny.gguf'), dimension: 64 });
  model = await EmbeddingModel.load(file('tiny.gguf'));
});

/** A built knowledge base in a folder of its own, with a secret record in its files and another one in its change log. */
async function knowledgeBase() {
  const folder = file(`kb${made++}`);
  mkdirSync(folder);
  const config = join(folder, 'kb.json');
  const base = [
    { id: 'bees', text: 'Honey bees dance in the hive' },
    { id: 'old', text: secret },
    { id: 'ice', text: 'Glaciers grind valleys' },
  ];
  writeFileSync(join(folder, 'records.json'), JSON.stringify(base));
  const names = { records_file: 'records.json', index_file: 'kb.index', embeddings_file: 'kb.embeddings' };
  writeFileSync(config, JSON.stringify({ embedding_model: 'tiny', ...names }));
  await buildKnowledgeBase(config, { models });
  await using kb = await open(config);
  await kb.add([{ id: 'new', text: `${secret}, again` }]);
  const changes = join(folder, 'records.json.changes');
  writeFileSync(`${changes}.bm25`, secret); // in place of saved words, which only long logs have
  return { folder, config, changes };
}

const open = (config: string, options: object = {}) => openKnowledgeBase(config, { models, ...options });
const ids = async (kb: KnowledgeBase) => (await kb.list({ limit: 100 })).map(({ id }) => id);
const storageOf = (kb: KnowledgeBase) => kb.storage as Storage;
/** Files of a folder that have the secret, as it is or in JSON. */
const filesWithSecret = (folder: string) =>
  readdirSync(folder).filter((name) => {
    const path = join(folder, name);
    return !name.endsWith('.operator') && readFileSync(path).includes('secret');
  });

/** Intents in a folder, finished or not. */
const intents = (folder: string) => readdirSync(folder).filter((name) => name.includes('.forgetting'));

/** A module that kills its process before or after the change number KILL_AT of a folder. */
const killAtChange = `
import promises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
let changes = 0;
for (const name of ['rename', 'rm', 'open']) {
  const call = promises[name];
  promises[name] = async (path, ...rest) => {
    const isLast = String(path).includes('records.json') && ++changes === Number(process.env.KILL_AT.slice(1));
    if (isLast && process.env.KILL_AT[0] === '-') process.kill(process.pid, 'SIGKILL');
    const result = await call(path, ...rest);
    if (isLast) process.kill(process.pid, 'SIGKILL');
    return result;
  };
}
syncBuiltinESMExports();
`;

/** Of the changes of files, every one in long runs. */
const stride = repetitions('FORGET_STRIDE', 3, 1);

const forgetInChild = (config: string, id: string, at: string) =>
  runChild('../../knowledge/children/forget.mjs', [config, file('tiny.gguf'), id], {
    execArgv: ['--import', `data:text/javascript,${encodeURIComponent(killAtChange)}`],
    env: { KILL_AT: at },
  });

test('a forgetting that is killed at any change of a file has not begun, or the next opening completes it', async () => {
  const seen = { before: 0, completed: 0 };
  for (const [sign, id] of [
    ['-', 'old'],
    ['+', 'new'],
  ] as const) {
    for (let place = 1; ; place += stride) {
      const { config, folder, changes } = await knowledgeBase();
      const { signal, output } = await forgetInChild(config, id, `${sign}${place}`);
      expect({ place, output }).toEqual({ place, output: '' });
      const isPending = existsSync(`${changes}.forgetting`);
      await using kb = await open(config);
      expect(kb.warnings).toEqual([]);
      expect({ sign, place, left: intents(folder) }).toEqual({ sign, place, left: [] });
      const isThere = await kb.has(id);
      if (isPending) expect({ sign, place, isThere }).toEqual({ sign, place, isThere: false });
      seen[isThere ? 'before' : 'completed']++;
      const others = ['bees', id === 'old' ? 'new' : 'old', 'ice'];
      expect((await ids(kb)).filter((one) => one !== id).sort()).toEqual(others.sort());
      await kb.remove([id === 'old' ? 'new' : 'old']);
      await kb.merge();
      if (!isThere)
        expect({ sign, place, files: filesWithSecret(folder) }).toEqual({ sign, place, files: [] });
      expect(existsSync(`${changes}.forgetting`)).toBe(false);
      if (signal === null) break;
    }
  }
  expect(seen.before).toBeGreaterThan(0);
  expect(seen.completed).toBeGreaterThan(4);
  console.log(JSON.stringify(seen));
}, 600_000);

/** Of a file that the process with this number was writing when it was killed. */
const unfinished = (changes: string, pid: number) => `${changes}.forgetting.${pid}-${randomUUID()}.tmp`;

test('a forgetting that is aborted while it merges ends, and the next opening completes it', async () => {
  const { folder, config } = await knowledgeBase();
  const stop = new AbortController();
  {
    await using kb = await open(config);
    const { merge } = Storage.prototype;
    const merging = vi.spyOn(Storage.prototype, 'merge').mockImplementation(function (
      this: Storage,
      options,
    ) {
      stop.abort();
      return merge.call(this, options);
    });
    await rejection(kb.forget(['old'], { signal: stop.signal }), 'CANCELLED');
    merging.mockRestore();
    expect(await ids(kb)).toEqual(['bees', 'ice', 'new']);
  }
  expect(intents(folder)).toHaveLength(1);
  await using kb = await open(config);
  expect(await ids(kb)).toEqual(['bees', 'ice', 'new']);
  expect(intents(folder)).toEqual([]);
  await kb.forget(['new']);
  expect(filesWithSecret(folder)).toEqual([]);
});

test('a forgetting that is killed is completed though the records file was replaced since', async () => {
  for (const at of ['+3', '+4', '+5', '+6']) {
    const { folder, config } = await knowledgeBase();
    expect((await forgetInChild(config, 'old', at)).signal).toBe('SIGKILL');
    const again = [
      { id: 'old', text: secret },
      { id: 'sea', text: 'Octopus in the sea' },
    ];
    writeFileSync(join(folder, 'records.json'), JSON.stringify(again));
    const isBegun = intents(folder).some((name) => name.endsWith('.forgetting'));
    await using kb = await open(config);
    const [first] = await ids(kb);
    expect([at, first]).toEqual([at, isBegun ? 'sea' : 'old']);
    if (isBegun) expect(await kb.get('sea')).toBeDefined();
  }
});

test('an intent that a killed process has not finished goes when the base is opened or changed, and no opening for reading touches it', async () => {
  const { config, folder, changes } = await knowledgeBase();
  const { pid: gone } = spawnSync(process.execPath, ['--version']);
  // In a container, the next process may have the number of the killed one.
  for (const pid of [gone, process.pid]) {
    writeFileSync(unfinished(changes, pid), secret);
    await (await open(config, { readOnly: true })).close();
    expect(intents(folder)).toHaveLength(1);
    await (await open(config)).close();
    expect(intents(folder)).toEqual([]);
  }
  await using kb = await open(config);
  writeFileSync(unfinished(changes, gone), secret);
  await kb.add([{ id: 'next', text: 'More' }]);
  expect(intents(folder)).toEqual([]);
  expect(await ids(kb)).toEqual(['bees', 'old', 'ice', 'new', 'next']);
});

test('an intent that another process is writing stays', async () => {
  const { config, folder, changes } = await knowledgeBase();
  await using writer = await open(config);
  await writer.add([{ id: 'next', text: 'More' }]);
  writeFileSync(unfinished(changes, process.pid), secret);
  await using other = await open(config);
  expect(other.warnings).toEqual([]);
  expect(intents(folder)).toHaveLength(1);
});

test('a process that has the base open completes the forgetting of a killed one, unless the record was made anew', async () => {
  const { config, folder, changes } = await knowledgeBase();
  await using server = await open(config);
  const records = ['old', 'new', 'ice'].map((id) => ({
    id,
    text: id === 'old' ? secret : `${secret}, again`,
  }));
  const lines = [{ kind: 'lorekeep forgetting', log: '0123456789abcdef', version: 2 }, ...records];
  writeFileSync(`${changes}.forgetting`, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  await expect.poll(() => existsSync(`${changes}.forgetting`), { timeout: 30_000 }).toBe(false);
  // The record "ice" has another text than the one that was forgotten.
  expect(await ids(server)).toEqual(['bees', 'ice']);
  expect(filesWithSecret(folder)).toEqual([]);
  // It has let the lock go.
  await using other = await open(config);
  await expect
    .poll(() => other.add([{ id: 'next', text: 'More' }]).then(() => 'added', String))
    .toBe('added');
});

test('files that have a forgotten text are found, however their JSON escapes it', async () => {
  const { folder, config } = await knowledgeBase();
  await using kb = await open(config);
  await kb.add([{ id: 'é', text: 'honey é/è <b>' }]);
  const written = {
    plain: 'honey é/è <b>',
    python: 'honey \\u00e9/\\u00e8 <b>',
    php: 'honey \\u00e9\\/\\u00e8 <b>',
    net: 'honey \\u00E9/\\u00E8 \\u003Cb\\u003E',
  };
  for (const [name, text] of Object.entries(written)) writeFileSync(join(folder, name), `{"text":"${text}"}`);
  writeFileSync(join(folder, 'other'), 'honey é/è');
  const { filesWith } = await kb.forget(['é']);
  expect((await filesWith()).map((path) => basename(path)).sort()).toEqual(Object.keys(written).sort());
});

test('files of another config over the same records lose a forgotten text, and that config opens', async () => {
  const { folder, config } = await knowledgeBase();
  const other = join(folder, 'other.json');
  mkdirSync(join(folder, 'own'));
  mkdirSync(file('far'), { recursive: true });
  const names = {
    records_file: 'records.json',
    index_file: 'own/other.index',
    embeddings_file: 'own/other.embeddings',
  };
  writeFileSync(other, JSON.stringify({ embedding_model: 'tiny', ...names }));
  const far = join(folder, 'far.json');
  const outside = { ...names, index_file: '../far/far.index', embeddings_file: 'far.embeddings' };
  writeFileSync(far, JSON.stringify({ embedding_model: 'tiny', ...outside }));
  await using kb = await open(config);
  await kb.merge();
  for (const path of [other, far]) await buildKnowledgeBase(path, { models });
  expect(filesWithSecret(join(folder, 'own'))).toEqual(['other.bm25', 'other.index']);
  const { filesWith } = await kb.forget(['old', 'new']);
  expect(filesWithSecret(join(folder, 'own'))).toEqual([]);
  // Outside of the base's folders nothing is written, and it is told.
  expect((await filesWith()).map((path) => basename(path))).toEqual(['far.index']);
  await using again = await open(other);
  expect([await ids(again), again.embeddings?.embedded]).toEqual([['bees', 'ice'], 0]);
  expect((await again.search({ text: 'bees', topK: 1 })).hits[0]?.id).toBe('bees');
});

test.each([['before'], ['after']])(
  "a folder that takes the place of the base's own %s its first change is not written to",
  async (when) => {
    const { folder, config } = await knowledgeBase();
    const { folder: other } = await knowledgeBase();
    const content = () => readdirSync(other).map((name) => [name, readFileSync(join(other, name), 'utf8')]);
    const before = content();
    await using kb = await open(config);
    await using reader = await open(config, { readOnly: true });
    if (when === 'after') await kb.add([{ id: 'tea', text: 'Tea steeps' }]);
    renameSync(folder, `${folder}-moved`);
    await expect(kb.add([{ id: 'x', text: 'X' }])).rejects.toMatchObject({ code: 'CORRUPT' });
    expect(kb.outdated).toBe(false);
    symlinkSync(other, folder);
    const changes = [() => kb.add([{ id: 'x', text: 'X' }]), () => kb.forget(['old']), () => kb.merge()];
    for (const change of changes) await expect(change()).rejects.toMatchObject({ code: 'CORRUPT' });
    expect(content()).toEqual(before);
    expect(kb.outdated).toBe(true);
    await expect.poll(() => reader.outdated, { timeout: 10_000 }).toBe(true);
    rmSync(folder);
    renameSync(`${folder}-moved`, folder);
  },
);

test('a file of something else in the place of the intent is told, and nothing is removed', async () => {
  const { config, changes } = await knowledgeBase();
  writeFileSync(`${changes}.forgetting`, 'mine');
  await using kb = await open(config);
  expect(kb.warnings).toEqual([expect.stringContaining('cannot be completed')]);
  await expect(kb.forget(['old'])).rejects.toMatchObject({ code: 'CORRUPT' });
  expect(await kb.has('old')).toBe(true);
  await kb.add([{ id: 'next', text: 'More' }]);
  expect(readFileSync(`${changes}.forgetting`, 'utf8')).toBe('mine');
});

test('other processes lose a forgotten record from memory and older versions, and keep a removed one there', async () => {
  const { config } = await knowledgeBase();
  const reader = await open(config, { readOnly: true, versions: { count: 20 } });
  const dropped = vi.spyOn(storageOf(reader), 'forgetFormer');
  await using writer = await open(config);
  await writer.remove(['ice']);
  await expect.poll(() => reader.version, { timeout: 10_000 }).toBe(2);
  await writer.forget(['old']);
  const isLost = async () => {
    const versions = reader.storage.versions().map(({ version }) => version);
    const known = await Promise.all(
      versions.map(async (version) => {
        await using past = reader.at(version);
        return past.has('old');
      }),
    );
    return known.includes(true) ? 'there' : 'lost';
  };
  await expect.poll(isLost, { timeout: 10_000 }).toBe('lost');
  expect(reader.version).toBe(3);
  // It has read the batch, or loaded the merged files instead; those have no older version.
  if (dropped.mock.calls.length > 0) {
    expect(dropped.mock.calls.map(([ids]) => ids)).toEqual([['old']]);
    await using past = reader.at(1);
    expect(await past.has('ice')).toBe(true);
  } else expect(reader.storage.versions().map(({ version }) => version)).toEqual([3]);
  await reader.close();
});

test('a record that was forgotten and added again keeps its new text in other processes, and loses the former one', async () => {
  const { config } = await knowledgeBase();
  await using reader = await open(config, { readOnly: true, versions: { count: 20 } });
  await using writer = await open(config);
  // As if the merge of the forgetting took so long that the reader sees the removal first.
  const seen = vi.spyOn(storageOf(writer), 'merge').mockImplementationOnce(async () => {
    await expect.poll(() => reader.version, { timeout: 10_000 }).toBe(2);
  });
  await writer.forget(['old']);
  seen.mockRestore();
  await writer.add([{ id: 'old', text: 'Tea steeps' }]);
  const textsOf = async (version: number) => {
    await using past = reader.at(version);
    return (await past.get('old'))?.text;
  };
  await expect.poll(() => reader.version, { timeout: 10_000 }).toBe(3);
  await expect.poll(() => textsOf(1), { timeout: 10_000 }).toBe(undefined);
  expect(await textsOf(3)).toBe('Tea steeps');
});

test('removals by others are remembered up to a number, the latest ones', async () => {
  const folder = file(`batches${made++}`);
  mkdirSync(folder);
  const changes = join(folder, 'records.json.changes');
  const others = new ForgottenByOthers(changes);
  const removed = (version: number) => ({
    log: 'a',
    after: version - 1,
    upTo: version,
    ids: Array.from({ length: 1000 }, (_, n) => `${version}-${n}`),
  });
  for (let version = 1; version <= 150; version++) {
    others.add(removed(version));
    expect(await others.take()).toEqual([]);
  }
  await tellForgotten(
    changes,
    [1, 149].map((version) => ({ log: 'a', version })),
  );
  await tellForgotten(changes, [{ log: 'b', version: 148 }]);
  expect(await others.take()).toEqual(removed(149).ids);
  expect(await others.take()).toEqual([]);
});

test.each([['some'], ['all']])(
  'files of a killed merge do not outlive a forget of %s records',
  async (which) => {
    const { folder, config } = await knowledgeBase();
    await using kb = await open(config);
    writeFileSync(join(folder, 'kb.index.merging'), readFileSync(join(folder, 'kb.index')));
    writeFileSync(
      join(folder, 'records.json.merging'),
      `[\n{"id":"old","text":${JSON.stringify(secret)}}\n]\n`,
    );
    await kb.forget(which === 'all' ? await ids(kb) : ['old', 'new']);
    expect(readdirSync(folder).filter((name) => name.endsWith('.merging'))).toEqual([]);
    expect(filesWithSecret(folder)).toEqual([]);
    expect(existsSync(join(folder, 'kb.index'))).toBe(which !== 'all');
  },
);

test('files of a killed merge go when the base is opened, unless another process may be merging or it is opened for reading', async () => {
  const { folder, config } = await knowledgeBase();
  const left = join(folder, 'kb.index.merging');
  writeFileSync(left, secret);
  await (await open(config, { readOnly: true })).close();
  expect(existsSync(left)).toBe(true);
  await (await open(config)).close();
  expect(existsSync(left)).toBe(false);
  await using writer = await open(config);
  await writer.add([{ id: 'more', text: 'more' }]);
  writeFileSync(left, secret);
  await (await open(config)).close();
  expect(existsSync(left)).toBe(true);
});

test('a record that was removed or replaced before is forgotten with every text that files, log and versions have', async () => {
  for (const [id, texts] of [
    ['old', [secret]],
    ['new', [`${secret}, again`]],
  ] as const) {
    for (const change of ['removed', 'replaced'] as const) {
      const { config, folder } = await knowledgeBase();
      await using kb = await open(config, { versions: { count: 2 } });
      await kb.remove([id === 'old' ? 'new' : 'old']);
      if (change === 'removed') await kb.remove([id]);
      else await kb.update({ replace: [{ id, text: 'Another text' }] });
      await kb.add([{ id: 'later', text: 'Later bees' }]);
      await kb.add([{ id: 'latest', text: 'Latest bees' }]);
      const { version } = kb;
      await expect(kb.forget([id, 'unknown'])).rejects.toMatchObject({ code: 'RECORD_MISSING' });
      const forgotten = await kb.forget([id]);
      const isNew = change === 'replaced';
      expect(forgotten).toMatchObject({ version: version + (isNew ? 1 : 0), removed: 1 });
      expect(forgotten.texts).toEqual([...(isNew ? ['Another text'] : []), ...texts]);
      expect(await ids(kb)).toEqual(['bees', 'ice', 'later', 'latest']);
      expect(await forgotten.filesWith()).toEqual([]);
      await expect(kb.forget([id])).rejects.toMatchObject({ code: 'RECORD_MISSING' });
      await kb.forget([id === 'old' ? 'new' : 'old']).catch(() => {});
      expect({ id, change, files: filesWithSecret(folder) }).toEqual({ id, change, files: [] });
    }
  }
});
