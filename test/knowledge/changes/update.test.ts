import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import promises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { basename, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { EmbeddingModel } from '../../../lib/index.js';
import { buildKnowledgeBase, type KnowledgeBase, openKnowledgeBase } from '../../../src/knowledge/index.js';
import { random, testSeed } from '../../helpers/random.js';
import { createTinyModel } from '../../helpers/tiny-model/tiny-model.mjs';
import { words } from '../words.js';
import { base, file, ids, knowledgeBase, models, open, rejection, state } from './changed-bases.js';

test('changes are searched at once and are there after closing, in the order of a fresh build', async () => {
  const { config, log } = await knowledgeBase();
  {
    await using kb = await open(config);
    expect(kb.version).toBe(0);
    const added = await kb.add([{ id: 'sea', text: 'Octopus in the sea', metadata: { year: 1999n } }]);
    expect(added).toEqual({ version: 1, added: 1, replaced: 0, removed: 0, size: 4 });
    const batch = { replace: [{ id: 'bees', text: 'Bees sleep' }], remove: ['bread'], ifVersion: 1 };
    expect(await kb.update(batch)).toMatchObject({ version: 2, replaced: 1, removed: 1, size: 3 });
    expect((await kb.search({ mode: 'lexical', text: 'octopus' })).hits[0]?.id).toBe('sea');
    expect((await kb.search({ mode: 'lexical', text: 'honey' })).hits).toEqual([]);
  }
  expect(existsSync(`${log}.lock`)).toBe(false);
  await using again = await open(config);
  expect(again.version).toBe(2);
  expect(again.embeddings).toBeUndefined();
  expect(await state(again)).toEqual([
    { id: 'ice', text: 'Glaciers grind valleys', metadata: { year: 2010 } },
    { id: 'sea', text: 'Octopus in the sea', metadata: { year: 1999 } },
    { id: 'bees', text: 'Bees sleep', metadata: {} },
  ]);
  const filter = { '==': [{ knowledge: 'year' }, 1999] } as const;
  expect((await again.search({ text: 'sea', filter })).hits.map(({ id }) => id)).toEqual(['sea']);
});

test('a batch with a mistake changes nothing, and the error names the ids', async () => {
  const { config, log } = await knowledgeBase();
  await using kb = await open(config);
  const text = 'Bees';
  const refused = async (changes: object) => {
    const error = await rejection(kb.update(changes));
    return [error.code, error.detail.id ?? error.message];
  };
  expect(await refused({ add: [{ id: 'bees', text }] })).toEqual(['RECORD_EXISTS', 'bees']);
  expect(await refused({ add: [{ id: 'new', text }], remove: ['none'] })).toEqual(['RECORD_MISSING', 'none']);
  expect(await refused({ replace: [{ id: 'bés', text }] })).toEqual(['RECORD_MISSING', 'bés']);
  expect(await refused({ replace: [{ id: 'ice', text }], remove: ['ice'] })).toEqual(['DUPLICATE_ID', 'ice']);
  // Nothing is embedded for it: the second text is too long for the model.
  const twice = ['Bees', 'bees '.repeat(5000)].map((text) => ({ id: 'new', text }));
  expect(await refused({ add: twice })).toEqual(['DUPLICATE_ID', 'new']);
  expect((await rejection(kb.update({ ifVersion: 3 }))).code).toBe('VERSION_MISMATCH');
  const metadata = { year: 'x' };
  expect((await rejection(kb.add([{ id: 'new', text, metadata }]))).message).toBe(
    'add[0] ("new"): metadata.year: expected int, found "x"',
  );
  expect((await rejection(kb.add([{ id: 'new', text: ' ' }]))).message).toMatch(
    /add\[0\] \("new"\): text: expected/,
  );
  const long = await rejection(kb.add([{ id: 'long', text: 'bees '.repeat(5000) }]));
  expect([long.code, long.detail.id]).toEqual(['TEXT_TOO_LONG', 'long']);
  expect(await kb.update({})).toMatchObject({ version: 0, size: 3 });
  expect(kb.version).toBe(0);
  expect(existsSync(log) ? (await ids(kb)).length : 3).toBe(3);
});

test('a batch is what its records were when it was given, however they are changed or read later', async () => {
  const { config } = await knowledgeBase();
  let read = 0;
  {
    await using kb = await open(config);
    const record = { id: '', text: '', metadata: { year: 0 } };
    const removed = ['ice'];
    const batches = [1, 2, 3].map((year) => {
      Object.assign(record, { id: `year ${year}`, text: `Year ${year}` });
      record.metadata.year = year;
      return kb.add([record]);
    });
    const removal = kb.remove(removed);
    removed[0] = 'bees';
    const getters = {
      get id() {
        return `read ${read++}`;
      },
      text: 'Bees',
    };
    await Promise.all([...batches, removal, kb.add([getters])]);
    const ids = ['bread'];
    const forgetting = kb.forget(ids);
    ids[0] = 'bees';
    await forgetting;
    const expected = ['bees', 'year 1', 'year 2', 'year 3', 'read 0'];
    expect((await state(kb)).map(({ id }) => id)).toEqual(expected);
    expect((await kb.get('year 2'))?.metadata).toEqual({ year: 2 });
  }
  await using again = await open(config);
  expect((await state(again)).map(({ id, text }) => [id, text]).slice(1, 3)).toEqual([
    ['year 1', 'Year 1'],
    ['year 2', 'Year 2'],
  ]);
});

test('a batch that memory cannot take is refused before it is logged, and numbers stay what they are', async () => {
  const fields = [
    { name: 'tags', type: 'set<string>', optional: true },
    { name: 'size', type: 'float', optional: true },
    { name: 'serial', type: 'int', optional: true },
  ];
  const { config, log } = await knowledgeBase(base, { fields });
  const metadata = { size: 10n ** 40n, serial: 2 ** 62 };
  {
    await using kb = await open(config);
    const tags = Array.from({ length: 30_000 }, (_, n) => `${n}`);
    const record = { id: 'new', text: 'Bees' };
    const refused = [
      { add: [{ ...record, metadata: { tags } }] },
      { add: [record], upsert: 'yes' as never },
      { add: [record], ifVersion: null as never },
    ];
    for (const batch of refused) expect((await rejection(kb.update(batch))).code).toBe('INVALID_ARGUMENT');
    expect(existsSync(log) && readFileSync(log).includes('"new"')).toBe(false);
    expect(await kb.add([{ ...record, metadata }])).toMatchObject({ version: 1 });
    expect((await kb.get('new'))?.metadata).toEqual({ size: 1e40, serial: 2n ** 62n });
  }
  await using again = await open(config);
  expect((await again.get('new'))?.metadata).toEqual({ size: 1e40, serial: 2n ** 62n });
});

test('versions have the times of the change log, and a batch that cannot be written is refused', async () => {
  const { config } = await knowledgeBase();
  const options = { versions: { count: 9 } };
  const clock = vi.spyOn(Date, 'now');
  onTestFinished(() => clock.mockRestore());
  const times = (kb: KnowledgeBase) => kb.storage.versions().map(({ time }) => time);
  const made = [9_000_000_000_000, 1_000_000_000_000];
  {
    await using kb = await open(config, options);
    for (const [n, time] of made.entries()) {
      clock.mockReturnValue(time);
      await kb.add([{ id: `${n}`, text: 'Bees' }]);
    }
    expect(times(kb).slice(1)).toEqual(made);
    clock.mockReturnValue(Number.NaN);
    await expect(kb.add([{ id: 'never', text: 'Bees' }])).rejects.toThrow(RangeError);
    clock.mockRestore();
    expect((await kb.add([{ id: 'now', text: 'Bees' }])).version).toBe(3);
  }
  await using again = await open(config, options);
  expect(times(again).slice(1, 3)).toEqual(made);
  await expect(open(config, { versions: { counts: 9 } })).rejects.toThrow('versions.counts');
});

test('a log that is removed while a process writes it is put in place again; one that is replaced or cut is an error', async () => {
  const { config, log } = await knowledgeBase();
  const add = (kb: KnowledgeBase, id: string) => kb.add([{ id, text: 'Bees' }]);
  {
    await using kb = await open(config);
    await add(kb, 'first');
    rmSync(log);
    await add(kb, 'second');
  }
  {
    await using kb = await open(config);
    expect(await ids(kb)).toEqual(['bees', 'ice', 'bread', 'first', 'second']);
    const former = readFileSync(log);
    await add(kb, 'third');
    writeFileSync(log, former);
    expect((await rejection(add(kb, 'fourth'))).code).toBe('CORRUPT');
    expect(kb.outdated).toBe(true);
  }
  await using kb = await open(config);
  await add(kb, 'fifth');
  renameSync(log, `${log}.former`);
  writeFileSync(log, readFileSync(`${log}.former`));
  expect((await rejection(add(kb, 'sixth'))).code).toBe('CORRUPT');
  await using again = await open(config);
  expect(await ids(again)).toEqual(['bees', 'ice', 'bread', 'first', 'second', 'fifth']);
});

test('a text that is too long is refused, or its beginning is embedded as by a build if long_text says so', async () => {
  const text = 'honey bees dance and glaciers grind valleys '.repeat(100);
  const strict = await knowledgeBase();
  await using refusing = await open(strict.config);
  const { code, detail } = await rejection(refusing.add([{ id: 'long', text }]));
  expect([code, detail.id]).toEqual(['TEXT_TOO_LONG', 'long']);
  const config = { long_text: 'truncate' };
  const changed = await knowledgeBase(base, config);
  const built = await knowledgeBase([...base, { id: 'long', text }], config);
  await using kb = await open(changed.config);
  await using fresh = await open(built.config);
  await kb.add([{ id: 'long', text }]);
  expect(await kb.storage.embedding('long')).toEqual(await fresh.storage.embedding('long'));
  expect((await kb.get('long'))?.text).toBe(text);
});

test('ids that differ by their Unicode form are two records', async () => {
  const { config } = await knowledgeBase();
  await using kb = await open(config);
  await kb.add([
    { id: '\u00e9', text: 'one' },
    { id: 'e\u0301', text: 'two' },
  ]);
  await kb.remove(['e\u0301']);
  expect((await kb.get('\u00e9'))?.text).toBe('one');
  // In UTF-8, half of a surrogate pair would be this id.
  await kb.add([{ id: '\ufffd', text: 'three' }]);
  for (const change of [kb.remove(['\ud800']), kb.forget(['\udfff'])])
    expect((await rejection(change)).message).toContain('remove[0]: an id is expected');
  expect((await kb.get('\ufffd'))?.text).toBe('three');
});

test('batches of one moment are applied in their order, about one id too', async () => {
  const { config } = await knowledgeBase();
  await using kb = await open(config);
  const one = { id: 'x', text: 'one' };
  const results = await Promise.allSettled([
    kb.add([one]),
    kb.replace([{ id: 'x', text: 'two' }]),
    kb.add([one]),
    kb.add([{ id: 'y', text: 'three' }]),
    kb.remove(['x']),
  ]);
  expect(results.map(({ status }) => status === 'fulfilled')).toEqual([true, true, false, true, true]);
  expect(await ids(kb)).toEqual(['bees', 'ice', 'bread', 'y']);
  expect(kb.version).toBe(4);
});

test('one process at a time changes a knowledge base, and the others follow within a second', async () => {
  const { config } = await knowledgeBase();
  await using reader = await open(config);
  await using writer = await open(config);
  await writer.add([{ id: 'sea', text: 'Octopus in the sea' }]);
  await expect.poll(() => reader.version, { timeout: 1000, interval: 20 }).toBe(1);
  expect((await reader.search({ mode: 'lexical', text: 'octopus' })).hits[0]?.id).toBe('sea');
  const refused = await rejection(reader.remove(['bees']));
  expect(refused).toMatchObject({ code: 'IO', detail: { holder: process.pid } });
  expect(refused.message).toContain(`process ${process.pid} changes this knowledge base`);
  await writer.close();
  expect((await reader.remove(['bees'])).version).toBe(2);
});

test('a reader that missed batches takes the merged files, without being opened again', async () => {
  const { config } = await knowledgeBase();
  // The reader looks when the test says so.
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  await using reader = await open(config, { readOnly: true, versions: { count: 5 } });
  const look = () => vi.advanceTimersByTime(250);
  await using writer = await open(config);
  await writer.add([{ id: 'sea', text: 'Octopus in the sea' }]);
  look();
  await vi.waitUntil(() => reader.version === 1);
  await writer.update({ add: [{ id: 'owl', text: 'An owl in the oak' }], remove: ['bees'] });
  await writer.merge();
  await writer.add([{ id: 'late', text: 'A late record' }]);
  look();
  await vi.waitUntil(() => reader.version === 3, { timeout: 10_000 });
  expect(reader.outdated).toBe(false);
  expect(await state(reader)).toEqual(await state(writer));
  // Records of the versions before may have been forgotten meanwhile.
  expect(reader.storage.versions().map(({ version }) => version)).toEqual([3]);
  const { hits } = await reader.search({ mode: 'hybrid', text: 'owl oak' });
  expect(hits[0]?.id).toBe('owl');
  await writer.remove(['late']);
  look();
  await vi.waitUntil(() => reader.version === 4, { timeout: 10_000 });
});

test('after a process has merged, another one may change and merge the base', async () => {
  const { config } = await knowledgeBase();
  await using second = await open(config);
  {
    await using first = await open(config);
    await first.add([{ id: 'sea', text: 'Octopus in the sea' }]);
    await expect.poll(() => second.version).toBe(1);
    await first.merge();
  }
  await second.add([{ id: 'owl', text: 'An owl in the oak' }]);
  await second.merge();
  await using again = await open(config);
  expect(again.version).toBe(2);
  expect(await state(again)).toEqual(await state(second));
});

test('a base that was opened with readOnly takes no change and follows those of others', async () => {
  const { config } = await knowledgeBase();
  await using reader = await open(config, { readOnly: true });
  expect(await rejection(reader.remove(['bees']))).toMatchObject({ code: 'UNSUPPORTED' });
  await using writer = await open(config);
  await writer.remove(['bees']);
  await expect.poll(() => reader.version).toBe(1);
});

test('a merge writes files that open without the log, and copies unchanged records byte for byte', async () => {
  const source = `\uFEFF[${JSON.stringify(base[0])} ,\r\n  { "text":"Glaciers\\u0020grind valleys","id":"ice", "mine": [1.50] },${JSON.stringify(base[2])}]`;
  const { config, records, log, index } = await knowledgeBase(source);
  await using kb = await open(config);
  await kb.update({ add: [{ id: 'sea', text: 'Octopus in the sea' }], remove: ['bees'] });
  const before = await state(kb);
  const found = await kb.search({ mode: 'hybrid', text: 'octopus valleys' });
  await kb.merge();
  expect(readFileSync(records, 'utf8')).toContain(
    '{ "text":"Glaciers\\u0020grind valleys","id":"ice", "mine": [1.50] }',
  );
  expect(readFileSync(records, 'utf8')).not.toContain('Honey');
  expect(readFileSync(index).includes('Honey')).toBe(false);
  expect(readFileSync(log).includes('Octopus')).toBe(false);
  await kb.add([{ id: 'later', text: 'A later record' }]);
  await kb.close();
  expect(readdirSync(file()).filter((name) => name.endsWith('.merging'))).toEqual([]);
  const told: unknown[] = [];
  const report = {
    info: (_: object, message: string) => told.push(message),
    warn: (_: object, message: string) => told.push(message),
  };
  await using again = await open(config, { log: report });
  expect(told).toEqual([]);
  expect([again.version, again.embeddings]).toEqual([2, undefined]);
  expect((await state(again)).slice(0, -1)).toEqual(before);
  await again.remove(['later']);
  const scores = (outcome: typeof found) => outcome.hits.map(({ id, score }) => [id, score]);
  expect(scores(await again.search({ mode: 'hybrid', text: 'octopus valleys' }))).toEqual(scores(found));
});

test('a torn tail is dropped with a warning; damage is a warning, and no change is taken', async () => {
  const { config, log } = await knowledgeBase();
  {
    await using kb = await open(config);
    for (const id of ['a', 'b', 'c']) await kb.add([{ id, text: 'Octopus in the sea' }]);
  }
  const whole = readFileSync(log);
  appendFileSync(log, 'half a batch');
  {
    await using torn = await open(config);
    expect(torn.warnings).toEqual([expect.stringContaining('its last batch is incomplete')]);
    expect(torn.version).toBe(3);
    await torn.add([{ id: 'd', text: 'Octopus' }]);
  }
  const damaged = Buffer.from(whole);
  const middle = Math.floor(whole.length / 2);
  damaged[middle] = (damaged[middle] as number) ^ 1;
  writeFileSync(log, damaged);
  await using kb = await open(config);
  expect(kb.warnings).toEqual([expect.stringContaining('is damaged at byte')]);
  expect(await ids(kb)).toEqual(['bees', 'ice', 'bread', 'a']);
  expect(await rejection(kb.add([{ id: 'z', text: 'x' }]))).toMatchObject({
    code: 'CORRUPT',
    detail: { file: log },
  });
  expect(readFileSync(log)).toEqual(damaged);
});

test('a log without its header, or without anything, is an error that says what to do: its changes would be lost in silence', async () => {
  const { config, log } = await knowledgeBase();
  {
    await using kb = await open(config);
    await kb.add([{ id: 'a', text: 'Octopus' }]);
  }
  for (const size of [30, 0]) {
    truncateSync(log, size);
    expect(await rejection(open(config))).toMatchObject({
      code: 'CORRUPT',
      detail: { file: log, remedy: expect.stringContaining('restore the file from a backup') },
    });
  }
});

test('a records file that is replaced from outside keeps the changes of other records; a contradiction is an error', async () => {
  const { config, records, log } = await knowledgeBase();
  {
    await using kb = await open(config);
    await kb.update({ add: [{ id: 'sea', text: 'Octopus in the sea' }], remove: ['bread'] });
  }
  writeFileSync(records, JSON.stringify([{ id: 'new', text: 'From outside' }]));
  {
    await using kb = await open(config);
    expect([await ids(kb), kb.version]).toEqual([['new', 'sea'], 2]);
    await kb.add([{ id: 'later', text: 'Later' }]);
  }
  await buildKnowledgeBase(config, { models });
  {
    await using kb = await open(config);
    expect([await ids(kb), kb.version]).toEqual([['new', 'sea', 'later'], 3]);
    await kb.replace([{ id: 'new', text: 'Changed here' }]);
  }
  writeFileSync(records, JSON.stringify([{ id: 'new', text: 'Changed there' }]));
  const error = await rejection(open(config));
  expect(error).toMatchObject({ code: 'INVALID_ARGUMENT', detail: { file: log } });
  expect(error.message).toContain('"new"');
});

test('a log of another model is refused', async () => {
  const { config } = await knowledgeBase();
  {
    await using kb = await open(config);
    await kb.remove(['bees']);
  }
  await createTinyModel({ texts: words, path: file('other.gguf'), dimension: 32 });
  await using other = await EmbeddingModel.load(file('other.gguf'));
  writeFileSync(config, readFileSync(config, 'utf8').replace(/"index_file":"[^"]*",/, ''));
  expect(
    await rejection(openKnowledgeBase(config, { models: async () => ({ model: other }) })),
  ).toMatchObject({
    code: 'UNSUPPORTED',
  });
});

test('random changes equal a storage that was built from the same records', async () => {
  console.log(`seed ${testSeed}`);
  const next = random(testSeed);
  const below = (bound: number) => Math.floor(next() * bound);
  const text = () => Array.from({ length: 6 }, () => words[below(words.length)]).join(' ');
  const { config } = await knowledgeBase();
  const expected = new Map<string, string>(base.map(({ id, text }) => [id, text]));
  let kb = await open(config);
  for (let round = 0; round < 60; round++) {
    const id = `r${below(30)}`;
    const record = { id, text: text() };
    if (next() < 0.3 && expected.size > 1) {
      const [first] = [...expected.keys()].slice(below(expected.size));
      await kb.remove([first as string]);
      expected.delete(first as string);
    } else {
      await kb.add([record], { upsert: true });
      expected.delete(id);
      expected.set(id, record.text);
    }
    if (next() < 0.1) await kb.merge();
    if (next() < 0.2) {
      await kb.close();
      kb = await open(config);
    }
    expect((await state(kb)).map(({ id, text }) => [id, text])).toEqual([...expected]);
  }
  const copy = await knowledgeBase([...expected].map(([id, text]) => ({ id, text })));
  await using fresh = await open(copy.config);
  for (const mode of ['lexical', 'dense', 'hybrid'] as const) {
    const query = { mode, text: text(), topK: 10 };
    const hits = async (one: KnowledgeBase) =>
      (await one.search(query)).hits.map(({ id, rank }) => [id, rank]);
    expect(await hits(kb)).toEqual(await hits(fresh));
  }
  await kb.close();
});

test('forgotten records are in no file, and a base that is emptied opens and takes records', async () => {
  const secret = 'honey "secret" glaciers';
  const { config, records, log, index } = await knowledgeBase(base, {
    embeddings_file: 'forgotten.embeddings',
  });
  {
    await using kb = await open(config);
    await kb.add([{ id: 'secret', text: secret }]);
    const { filesWith, texts, ...result } = await kb.forget(['secret', 'bees']);
    expect(result).toEqual({ version: 2, added: 0, replaced: 0, removed: 2, size: 2 });
    expect(texts).toEqual([secret, 'Honey bees dance in the hive']);
    // The other knowledge bases of this folder have the text of bees.
    const own = basename(config, '.json');
    expect((await filesWith()).filter((name) => basename(name).startsWith(own))).toEqual([]);
    for (const name of [records, log, index]) expect(readFileSync(name).includes('secret')).toBe(false);
    expect((await rejection(kb.forget(['secret']))).code).toBe('RECORD_MISSING');
    await kb.forget(['ice', 'bread']);
    expect((await kb.search({ mode: 'hybrid', text: 'honey' })).hits).toEqual([]);
  }
  {
    await using kb = await open(config);
    expect([kb.size, kb.version]).toEqual([0, 3]);
    await kb.add([{ id: 'new', text: 'Octopus in the sea' }]);
    await kb.merge();
  }
  await using kb = await open(config);
  expect((await kb.search({ text: 'octopus' })).hits.map(({ id }) => id)).toEqual(['new']);
  await kb.close();
  writeFileSync(records, '[]');
  expect((await rejection(open(config))).code).toBe('INVALID_ARGUMENT');
});

test('a backup that begins while another process puts merged files in place opens without embedding', async () => {
  const { config, index } = await knowledgeBase();
  await using kb = await open(config);
  await using other = await open(config, { readOnly: true });
  await kb.add([{ id: 'sea', text: 'Octopus in the sea' }]);
  await expect.poll(() => other.version, { timeout: 10_000 }).toBe(1);
  const { rename } = promises;
  let copying: Promise<{ config: string }> | undefined;
  promises.rename = async (from, to) => {
    await rename(from, to);
    if (to !== index) return;
    // The records are not in place yet.
    copying = other.backup(file('between'));
    await Promise.race([copying, delay(30)]);
  };
  syncBuiltinESMExports();
  try {
    await kb.merge();
  } finally {
    promises.rename = rename;
    syncBuiltinESMExports();
  }
  const { config: copied } = (await copying) as { config: string };
  await using copy = await open(copied);
  expect([await ids(copy), copy.embeddings]).toEqual([await ids(kb), undefined]);
});

test('a reader that was opened without a log follows changes that were merged before it looked', async () => {
  const { config } = await knowledgeBase();
  await using reader = await open(config, { readOnly: true });
  {
    await using writer = await open(config);
    await writer.forget(['bees']);
  }
  await expect.poll(() => reader.version, { timeout: 10_000 }).toBe(1);
  expect([await ids(reader), reader.outdated]).toEqual([['ice', 'bread'], false]);
});

test('a backup that fails leaves its folder empty, for another attempt', async () => {
  const { config, index } = await knowledgeBase();
  await using kb = await open(config);
  renameSync(index, `${index}.kept`);
  mkdirSync(index);
  expect((await rejection(kb.backup(file('failed')))).code).toBe('IO');
  rmdirSync(index);
  renameSync(`${index}.kept`, index);
  expect((await kb.backup(file('failed'))).files).toHaveLength(4);
});

test('a backup opens as it is, with the version that was there', async () => {
  const { config } = await knowledgeBase();
  await using kb = await open(config);
  await kb.add([{ id: 'sea', text: 'Octopus in the sea' }]);
  const copied = await kb.backup(file('copy'));
  await kb.remove(['sea']);
  expect(copied).toMatchObject({ version: 1, config: join(file('copy'), basename(config)) });
  await using copy = await open(copied.config);
  expect([await ids(copy), copy.embeddings]).toEqual([['bees', 'ice', 'bread', 'sea'], undefined]);
  await copy.remove(['bees']);
  expect(await ids(kb)).toEqual(['bees', 'ice', 'bread']);
  expect((await rejection(kb.backup(file('copy')))).code).toBe('INVALID_ARGUMENT');
});

test('a config of any name can be copied', async () => {
  const { config } = await knowledgeBase();
  renameSync(config, file('records.json'));
  await using kb = await open(file('records.json'));
  const copied = await kb.backup(file('copy of records'));
  await using copy = await open(copied.config);
  expect(await ids(copy)).toEqual(['bees', 'ice', 'bread']);
});

test('a merge writes the records file that a link leads to, and a forgotten text is not in it', async () => {
  const { config, records } = await knowledgeBase();
  mkdirSync(file('elsewhere'));
  const target = file('elsewhere/target.json');
  renameSync(records, target);
  symlinkSync(target, records);
  await using kb = await open(config);
  await kb.add([{ id: 'sea', text: 'Octopus in the sea' }]);
  await kb.merge();
  expect(readFileSync(target, 'utf8')).toContain('Octopus');
  await kb.forget(['sea', 'bees']);
  expect(readFileSync(target, 'utf8')).not.toMatch(/Octopus|Honey/);
  expect(readlinkSync(records)).toBe(target);
});
