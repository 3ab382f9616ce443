/** The words of a change log, which are saved beside it. */
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test, vi } from 'vitest';
import { EmbeddingModel, type Storage, TextIndex } from '../../../lib/index.js';
import { ChangeLog } from '../../../lib/internal.js';
import { restMerges } from '../../../lib/search/background-merges.js';
import { LoggedChanges } from '../../../lib/search/change-log.js';
import { buildKnowledgeBase, type KnowledgeBase, openKnowledgeBase } from '../../../src/knowledge/index.js';
import { temporaryFolder } from '../../helpers/folder.js';
import { random, testSeed } from '../../helpers/random.js';
import { createTinyModel } from '../../helpers/tiny-model/tiny-model.mjs';
import { words } from '../words.js';

const file = temporaryFolder();
const tokenizer = 'multilingual';
const secret = 'xylographicsecret';
let model: EmbeddingModel;
const models = async () => ({ model });
let made = 0;

beforeAll(async () => {
  await createTinyModel({ texts: words, path: file('tiny.gguf'), dimension: 64 });
  model = await EmbeddingModel.load(file('tiny.gguf'));
});

const open = (config: string, options: object = {}) => openKnowledgeBase(config, { models, ...options });

const textBytes = 100_000;

/** A text of words that many texts have. */
function textOf(next: () => number): string {
  let text = '';
  while (text.length < textBytes) text += `${words[0]} w${Math.floor(3000 ** next())} `;
  return text;
}

/** A base with a change log that is long enough for its words to be saved, and some batches behind them. */
async function changedBase(next: () => number, options: object = {}) {
  const folder = file(`kb${made++}`);
  mkdirSync(folder);
  const config = join(folder, 'kb.json');
  // Longer than the log, which is merged otherwise.
  const base = Array.from({ length: 5 }, (_, n) => ({ id: `base${n}`, text: `w${n} w7 `.repeat(500_000) }));
  writeFileSync(join(folder, 'records.json'), JSON.stringify(base));
  const names = { records_file: 'records.json', index_file: 'kb.index' };
  const settings = { embedding_model: 'tiny', long_text: 'truncate', bm25_tokenizer: tokenizer };
  writeFileSync(config, JSON.stringify({ ...settings, ...names }));
  await buildKnowledgeBase(config, { models });
  const log = join(folder, 'records.json.changes');
  const saved = `${log}.bm25`;
  {
    await using kb = await open(config, options);
    const record = (id: string) => ({ id, text: textOf(next) });
    for (let n = 0; n < 48; n += 8) {
      const add = Array.from({ length: 8 }, (_, i) => record(`added${n + i}`));
      // Some of the batch before, and of the base.
      const remove = n > 0 ? [`added${n - 1 - Math.floor(next() * 4)}`] : ['base1'];
      const replace = n > 0 ? [record(`added${n - 8}`)] : [record('base2')];
      await kb.update({ add, replace, remove });
    }
    await kb.changes.completed();
    expect(stampOf(saved)).toBeDefined();
    await kb.add([{ id: 'late', text: `${secret} w1` }]);
    await kb.replace([record('added17')]);
    await kb.remove(['added26', 'base0']);
  }
  return { folder, config, log, saved };
}

const stampOf = (path: string) => {
  const found = statSync(path, { throwIfNoEntry: false });
  // An empty file is made first.
  return found === undefined || found.size === 0 ? undefined : `${found.ino} ${found.mtimeMs}`;
};

/** Waits until words are saved after those with a stamp. */
const wordsAfter = (saved: string, stamp: string | undefined) =>
  vi.waitFor(() => expect(stampOf(saved) ?? stamp).not.toBe(stamp), { timeout: 60_000, interval: 100 });

/** Records, scores of searches and counts. */
async function answers(kb: KnowledgeBase) {
  const found: unknown[] = [await kb.list({ limit: 1000 }), kb.version];
  for (const text of ['w1', 'w7 w2000', `w12 ${secret}`, 'w2 w3 w5', words[0] as string]) {
    const { hits } = await kb.search({ mode: 'lexical', text, topK: 100 });
    found.push(hits.map(({ id, score }) => ({ id, score })));
  }
  return found;
}

/** The version up to which words are saved for a log, and how many texts they are of. */
async function savedFor({ log, saved }: { log: string; saved: string }) {
  await using read = await ChangeLog.read(log);
  const { version, index } = await read.loadWords(saved, tokenizer);
  const { baseVersion: after } = read.facts;
  await using folded = await read.fold({ after, upTo: version }, undefined);
  const texts = folded.ids().changed.map(({ text }) => text);
  expect(folded.removedIds()).toContain('base1');
  await using fresh = await TextIndex.build(texts, { tokenizer });
  expect([index.size, index.terms]).toEqual([fresh.size, fresh.terms]);
  const query = { k: 100 };
  expect(await index.search('w1 w7 w1000', query)).toEqual(await fresh.search('w1 w7 w1000', query));
  return { version, last: read.facts.version };
}

test('an opening with the saved words of a log equals one without them', async () => {
  const seed = testSeed;
  const base = await changedBase(random(seed));
  const { version, last } = await savedFor(base);
  expect([version >= 5, last], `seed ${seed}`).toEqual([true, 9]);
  expect(statSync(base.saved).mode & 0o777).toBe(0o600);
  const infos: object[] = [];
  const log = { info: (facts: object) => infos.push(facts), warn() {} };
  // Strings of JavaScript outlive a forgetting.
  const texts = vi.spyOn(LoggedChanges.prototype, 'ids');
  await using kb = await open(base.config, { readOnly: true, log });
  expect(texts).not.toHaveBeenCalled();
  texts.mockRestore();
  expect(infos).toEqual([]);
  const found = await answers(kb);
  rmSync(base.saved);
  await using without = await open(base.config, { readOnly: true });
  expect(found, `seed ${seed}`).toEqual(await answers(without));
  // Versions that are kept are those of the batches, with the words or without them.
  const versions = { count: 2 };
  await using keeping = await open(base.config, { readOnly: true, versions });
  expect((keeping.storage as Storage).versions().map((kept) => kept.version)).toEqual([
    last - 2,
    last - 1,
    last,
  ]);
});

test('saved words that are damaged, cut, or of another log are not used, and are saved again, also after a throttle', async () => {
  const base = await changedBase(random(testSeed));
  const other = await changedBase(random(testSeed + 1));
  const good = readFileSync(base.saved);
  await using kb = await open(base.config, { readOnly: true });
  const expected = await answers(kb);
  const spoil: (() => void)[] = [
    () =>
      writeFileSync(base.saved, good.with(Math.floor(good.length / 2), (good[good.length >> 1] ?? 0) ^ 1)),
    () => truncateSync(base.saved, good.length - 100),
    () => truncateSync(base.saved, 0),
    () => cpSync(other.saved, base.saved),
  ];
  for (const spoiled of spoil) {
    spoiled();
    const infos: object[] = [];
    const log = { info: (facts: object) => infos.push(facts), warn() {} };
    await using opened = await open(base.config, { readOnly: true, log });
    expect(infos).toMatchObject([{ file: base.saved }]);
    expect(await answers(opened)).toEqual(expected);
  }
  const stamp = stampOf(base.saved);
  // The log is the owner's alone.
  chmodSync(base.saved, 0o644);
  await using writer = await open(base.config);
  await writer.add([{ id: 'more', text: 'w1' }]);
  await vi.waitFor(() => expect(stampOf(base.saved)).not.toBe(stamp), { timeout: 60_000, interval: 1 });
  restMerges(true);
  restMerges(false);
  await wordsAfter(base.saved, stamp);
  expect((await savedFor(base)).version).toBe(10);
  expect(statSync(base.saved).mode & 0o777).toBe(statSync(base.log).mode & 0o777);
});

test('a forgotten word is in no file, a merge removes the saved words, and a backup does without them', async () => {
  const base = await changedBase(random(testSeed));
  await using kb = await open(base.config);
  await kb.backup(file(`copy${made++}`));
  expect(readdirSync(file(`copy${made - 1}`)).filter((name) => name.endsWith('.changes.bm25'))).toEqual([]);
  const filler = Array.from({ length: 50 }, (_, n) => ({
    id: `filler${n}`,
    text: `w1 w2 ${'w3 '.repeat(30_000)}`,
  }));
  const stamp = stampOf(base.saved);
  await kb.add(filler);
  await wordsAfter(base.saved, stamp);
  const withSecret = () =>
    readdirSync(base.folder).filter((name) => readFileSync(join(base.folder, name)).includes(secret));
  expect(withSecret()).toContain('records.json.changes.bm25');
  const { filesWith } = await kb.forget(['late']);
  expect(withSecret()).toEqual([]);
  expect(await filesWith()).toEqual([]);
  expect(existsSync(base.saved)).toBe(false);
  // A folder in its place holds no words.
  mkdirSync(base.saved);
  await kb.add([{ id: 'last', text: 'w1' }]);
  await kb.merge();
  await kb.forget(['last']);
  expect(kb.changes.isBehind).toBe(false);
});
