/** Indexing a folder: what is read, what is kept, and what survives. */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { EmbeddingModel } from '../../lib/index.js';
import { indexesFor } from '../../src/knowledge/folder/place.js';
import {
  createKnowledgeBase,
  type IndexFolderOptions,
  indexFolder,
  openKnowledgeBase,
} from '../../src/knowledge/index.js';
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

/** A module that kills its process once a new file has the name KILL_AFTER_LINK. */
const killAfterLink = `
import promises from 'node:fs/promises';
import { basename } from 'node:path';
import { syncBuiltinESMExports } from 'node:module';
const { link } = promises;
promises.link = async (from, to) => {
  await link(from, to);
  if (basename(to) === process.env.KILL_AFTER_LINK) process.kill(process.pid, 'SIGKILL');
};
syncBuiltinESMExports();
`;

/** Writes files that were last changed long ago. */
function write(files: Readonly<Record<string, string | Buffer>>) {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
}

/** Waits until the file system's clock has moved on, so that a change cannot share the time of a reading. */
async function settled() {
  const newest = () =>
    Math.max(
      ...readdirSync(folder, { recursive: true }).map(
        (name) => statSync(join(folder, name.toString())).ctimeMs,
      ),
    );
  await vi.waitUntil(() => Date.now() - newest() > 100, { timeout: 30_000 });
}

const index = (options: Partial<IndexFolderOptions> = {}) => indexFolder({ folder, models, ...options });

const recordsOf = (config: string) =>
  JSON.parse(readFileSync(join(dirname(config), 'records.json'), 'utf8')) as {
    id: string;
    text: string;
    metadata: Record<string, unknown>;
  }[];

/** Opening must find all files as they should be. */
const refuse = {
  info: (facts: object, message: string) => {
    throw new Error(`${message}: ${JSON.stringify(facts)}`);
  },
  warn: (facts: object, message: string) => {
    throw new Error(`${message}: ${JSON.stringify(facts)}`);
  },
};

describe('indexFolder', () => {
  test.skipIf(process.platform === 'win32')('keeps the texts from other users', async () => {
    write({ 'a.md': 'Bees dance.' });
    const { config } = await index();
    expect(statSync(dirname(config)).mode & 0o077).toBe(0);
  });

  test('makes records with path, title, heading, page and time, and ids that stay', async () => {
    write({ 'a/guide.md': '# Bees\n\nBees dance.\n\n## Honey\n\nHoney is sweet.', 'ice.txt': 'Ice flows.' });
    utimesSync(join(folder, 'ice.txt'), 1_700_000_000, 1_700_000_000);
    const { config, files, records, problems } = await index();
    expect({ files, records, problems }).toEqual({ files: 2, records: 3, problems: [] });
    const made = recordsOf(config);
    expect(made.map(({ id }) => id)).toEqual(['ice.txt', 'a/guide.md#bees', 'a/guide.md#honey']);
    expect(made[0]).toMatchObject({
      text: 'Ice flows.',
      metadata: { path: 'ice.txt', mtime: 1_700_000_000_000 },
    });
    expect(made[2]).toMatchObject({
      text: 'Bees > Honey\n\nHoney is sweet.',
      metadata: { path: 'a/guide.md', title: 'Bees', heading: 'Honey' },
    });
    await using kb = await openKnowledgeBase(config, { models });
    const filter = { '<': [{ knowledge: 'mtime' }, '2023-12-31T00:00:00Z'] } as const;
    expect((await kb.search({ text: 'ice', filter })).hits.map(({ id }) => id)).toEqual(['ice.txt']);
  });

  test('a second run reads only what changed, embeds only new texts, and forgets what is gone', async () => {
    write({ 'a.md': '# A\n\nBees dance.', 'b.md': '# B\n\nIce flows.', 'c.md': '# C\n\nHoney.' });
    await settled();
    expect(await index()).toMatchObject({ read: 3, embedded: 3, removed: 0 });
    const { config } = await index();
    const before = statSync(join(dirname(config), 'records.json'), { bigint: true });
    expect(await index()).toMatchObject({ read: 0, embedded: 0, reused: 3, removed: 0, records: 3 });
    expect(statSync(join(dirname(config), 'records.json'), { bigint: true }).ino).toBe(before.ino);
    write({ 'b.md': '# B\n\nIce flows.\n\n## New\n\nGlaciers.', 'd.md': '# D\n\nFlour.' });
    rmSync(join(folder, 'a.md'));
    await settled();
    expect(await index()).toMatchObject({ read: 2, embedded: 2, reused: 2, removed: 1, records: 4 });
    expect(recordsOf(config).map(({ id }) => id)).toEqual(['b.md#b', 'b.md#new', 'c.md#c', 'd.md#d']);
    await using kb = await openKnowledgeBase(config, { models });
    expect(kb.size).toBe(4);
    expect((await kb.search({ text: 'bees dance', mode: 'lexical' })).hits).toEqual([]);
  });

  test('a file that changes back and forth within one tick of the clock is read again', async () => {
    write({ 'a.md': 'one' });
    const { config } = await index();
    const { atime, mtime } = statSync(join(folder, 'a.md'));
    write({ 'a.md': 'two' });
    utimesSync(join(folder, 'a.md'), atime, mtime);
    await index();
    expect(recordsOf(config)[0]?.text).toBe('two');
  });

  test('an index that is damaged, incomplete or of other settings is made again', async () => {
    write({ 'a.md': '# A\n\nBees dance.', 'b.md': 'Ice flows.' });
    await settled();
    const { config } = await index();
    const place = dirname(config);
    for (const name of ['kb.index', 'kb.bm25', 'records.json', 'files.jsonl', 'kb.embeddings']) {
      rmSync(join(place, name));
      expect(await index(), name).toMatchObject({ records: 2 });
      await (await openKnowledgeBase(config, { models })).close();
    }
    for (const name of ['kb.index', 'kb.bm25']) {
      const bytes = readFileSync(join(place, name));
      const end = bytes.length;
      const damages = [
        bytes.subarray(0, end / 2),
        Buffer.from(bytes).fill(7, end - 64),
        Buffer.from(bytes).fill(1, 8, 12),
        Buffer.from(bytes).fill(0, 0, Math.min(4096, end - 64)),
        Buffer.alloc(bytes.length),
        bytes.subarray(0, 5),
      ];
      for (const [at, damage] of damages.entries()) {
        writeFileSync(join(place, name), damage);
        expect(await index(), `${name}, ${at}`).toMatchObject({ read: 0, records: 2 });
        await (await openKnowledgeBase(config, { models, log: refuse })).close();
      }
    }
    writeFileSync(join(place, 'files.jsonl'), '{"records": 1}\nnonsense');
    expect(await index()).toMatchObject({ read: 2, records: 2 });
    for (const rest of [
      '\n'.repeat(2 ** 23),
      `${'['.repeat(2 ** 23)}\n`,
      '{"path":"a"}\n',
      'x'.repeat(2 ** 23),
    ]) {
      const [first] = readFileSync(join(place, 'files.jsonl'), 'utf8').split('\n');
      writeFileSync(join(place, 'files.jsonl'), `${first}\n${rest}`);
      expect(await index(), rest.slice(0, 10)).toMatchObject({ read: 2, records: 2 });
    }
    expect(await index({ chunkSize: 500 })).toMatchObject({ read: 2, embedded: 0 });
    expect(await index({ chunkSize: 500 })).toMatchObject({ read: 0 });
  });

  test.skipIf(process.platform === 'win32')(
    'what cannot be read is listed with its reason, and the rest is indexed',
    async () => {
      write({
        'good.md': 'Bees dance.',
        'binary.md': Buffer.from([1, 0, 2]),
        'empty.txt': ' \n',
        // UTF-16 that ends within its first character: a replacement character, for which no vocabulary has a token.
        'half.txt': Buffer.from([0xff, 0xfe, 0]),
        'latin1.txt': Buffer.from('Gr\xfc\xdfe', 'latin1'),
        'rows.csv': 'text\nfine\n"',
        'broken.pdf': '%PDF-1.7 nothing else',
        'closed/x.md': 'x',
      });
      symlinkSync('.', join(folder, 'loop'));
      symlinkSync('good.md', join(folder, 'link.md'));
      execFileSync('mkfifo', [join(folder, 'pipe.md')]);
      writeFileSync(join(folder, 'secret.md'), 'secret');
      // Other systems refuse such a name.
      const hasBytes = process.platform === 'linux';
      if (hasBytes) writeFileSync(Buffer.from(join(folder, 'z\xff.md'), 'latin1'), 'badgers');
      chmodSync(join(folder, 'secret.md'), 0);
      chmodSync(join(folder, 'closed'), 0);
      const isRoot = process.getuid?.() === 0;
      const { records, problems } = await index().finally(() => chmodSync(join(folder, 'closed'), 0o755));
      expect(records).toBe(isRoot ? 5 : 3);
      expect(problems).toEqual([
        { path: 'binary.md', reason: 'is a binary file, not text' },
        { path: 'broken.pdf', reason: expect.stringContaining('is not a readable PDF') },
        ...(isRoot ? [] : [{ path: 'closed/', reason: 'cannot be read: permission denied' }]),
        { path: 'empty.txt', reason: 'is empty' },
        { path: 'half.txt', reason: 'has no text' },
        { path: 'link.md', reason: 'is a symbolic link; links are not followed' },
        { path: 'loop', reason: 'is a link to a folder; links are not followed' },
        { path: 'pipe.md', reason: 'is not a regular file' },
        { path: 'rows.csv', reason: expect.stringContaining('line 3: a quote is not closed') },
        ...(isRoot ? [] : [{ path: 'secret.md', reason: 'cannot be read: permission denied' }]),
        ...(hasBytes ? [{ path: 'z\uFFFD.md', reason: 'its name is not UTF-8; rename it' }] : []),
      ]);
      // They are listed again, although they are not read again.
      expect((await index()).problems).toEqual(problems);
    },
  );

  test.runIf(process.platform === 'linux')('a place in which no folder can be made is an error', async () => {
    write({ 'a.md': 'Owls hunt at night.' });
    // Node's own recursive mkdir does not return there.
    await expect(index({ output: '/proc/absent/index' })).rejects.toMatchObject({ code: 'IO' });
  });

  test('the index of a folder that loses its text states that it is empty, until it has text again', async () => {
    write({ 'a.md': 'Owls hunt at night.', 'b.xyz': '' });
    const output = join(folder, 'kb');
    const { leftOut } = await index({ output });
    expect(leftOut).toEqual([{ ending: '.xyz', files: 1, flag: '--include "*.xyz"' }]);
    // The output is no document of the folder.
    expect((await index({ output })).leftOut).toEqual(leftOut);
    rmSync(join(folder, 'a.md'));
    expect(await index({ output })).toMatchObject({ records: 0, removed: 1, embedded: 0 });
    expect(JSON.parse(readFileSync(join(output, 'folder.json'), 'utf8'))).toMatchObject({ empty: true });
    expect(existsSync(join(output, 'kb.index'))).toBe(false);
    expect(existsSync(join(output, 'records.json'))).toBe(false);
    expect(await index({ output })).toMatchObject({ records: 0, removed: 0 });
    write({ 'c.md': 'Bees dance.' });
    expect(await index({ output })).toMatchObject({ records: 1, embedded: 1 });
    expect(JSON.parse(readFileSync(join(output, 'folder.json'), 'utf8'))).not.toHaveProperty('empty');
  });

  test('a folder without text is an error that gives the reasons', async () => {
    await expect(index()).rejects.toThrow(/no file of a kind that is read/);
    await expect(index({ include: ['*.log'] })).rejects.toThrow(/no file matches \*\.log$/);
    write({ 'a.exe': '', 'b.exe': '', c: '' });
    await expect(index()).rejects.toThrow(/other kinds: 2 \.exe, 1 without ending; name .*--include/);
    write({ 'a.md': Buffer.from([0]) });
    await expect(index()).rejects.toThrow(/no text to index in its only file; a.md: is a binary file/);
    const output = join(folder, 'a.md');
    await expect(index({ output })).rejects.toThrow(/a\.md: is a file, or in one; a folder is expected$/);
    await expect(index({ folder: join(folder, 'none') })).rejects.toThrow(/the folder does not exist/);
    await expect(index({ folder: join(folder, 'a.md') })).rejects.toThrow(/is a file; a folder is expected/);
  });

  test('a first run can be seen while its files are read, and leaves nothing of a folder without text', async () => {
    write({ 'a.txt': ' ', 'b.txt': '' });
    await expect(index()).rejects.toThrow(/no text to index/);
    expect(await indexesFor(folder)).toEqual([]);
    write({ 'c.md': words.join(' ') });
    const output = file('seen');
    const facts = () => JSON.parse(readFileSync(join(output, 'folder.json'), 'utf8'));
    const seen: unknown[] = [];
    const onProgress = ({ phase, done }: { phase: string; done: number }) => {
      if (phase === 'files' && done > 0 && seen.length === 0) seen.push(facts().built);
    };
    await index({ output, onProgress });
    expect(seen).toEqual([null]);
    expect(facts().built).toBeTypeOf('string');
  });

  test('every chunk fits the context of the model', async () => {
    const { contextSize } = model.facts;
    write({
      'long.md': `# Long\n\n${'bees dance on glaciers '.repeat(500)}`,
      'signs.txt': '.,;:!?'.repeat(20_000),
      'wide.txt': '蜜蜂跳舞'.repeat(3000),
    });
    const { config } = await index({ chunkSize: 100_000 });
    const found = recordsOf(config);
    expect(found.length).toBeGreaterThan(10);
    for (const { text } of found) expect(await model.countTokens(text)).toBeLessThanOrEqual(contextSize);
  });

  test('rows have the fields of the mapping, and filters name them', async () => {
    write({
      'a.jsonl': '{"id": "x", "text": "bees", "year": 1990}\n{"id": "y", "text": "ice", "year": 2000}\n',
    });
    const { config } = await index({ mapping: { fields: { year: 'int' } } });
    expect(recordsOf(config).map(({ id }) => id)).toEqual(['a.jsonl#x', 'a.jsonl#y']);
    await using kb = await openKnowledgeBase(config, { models });
    const { hits } = await kb.search({ text: 'bees ice', filter: { '>': [{ knowledge: 'year' }, 1995] } });
    expect(hits.map(({ id }) => id)).toEqual(['a.jsonl#y']);
  });

  test('a mapping without tables is a warning', async () => {
    const warn = vi.fn();
    const options = { mapping: { text: 'body' }, log: { info() {}, warn } };
    write({ 'a.md': 'bees' });
    await index(options);
    expect(warn).toHaveBeenCalledExactlyOnceWith(
      { folder },
      'mapping: it has no effect: there is no CSV or JSON Lines file',
    );
    write({ 'b.csv': 'body\nice\n' });
    await index(options);
    expect(warn).toHaveBeenCalledOnce();
  });

  test.each([
    [{ folder: '' }, /folder: a text is expected/],
    [{ inclued: [] }, /inclued: is not an option.*include/],
    [{ include: 'x' }, /include: an array of patterns is expected/],
    [{ include: ['*.md', ' '] }, /include\[1\]: the pattern is blank/],
    [{ exclude: [''] }, /exclude\[0\]: the pattern is blank/],
    [{ chunkSize: 10 }, /chunkSize: an integer from 200/],
    [{ mapping: { txt: 'x' } }, /mapping.txt: is not an option.*text/],
    [{ mapping: { fields: { year: 'integer' } } }, /mapping.fields.year: one of string, int/],
    [{ mapping: { fields: { path: 'string' } } }, /mapping.fields.path: every chunk has/],
  ])('%j is refused', async (options, message) => {
    write({ 'a.md': 'x' });
    await expect(index(options as object)).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringMatching(message),
    });
  });

  test('an output folder is written only if it is empty of other files of these names', async () => {
    write({ 'a.md': 'bees' });
    const output = file(`output-${trial}`);
    mkdirSync(output);
    writeFileSync(join(output, 'kb.json'), 'mine');
    await expect(index({ output })).rejects.toThrow(
      /kb.json: output: exists and was not made by indexing a folder/,
    );
    expect(readFileSync(join(output, 'kb.json'), 'utf8')).toBe('mine');
    rmSync(join(output, 'kb.json'));
    expect((await index({ output })).config).toBe(join(output, 'kb.json'));
    expect(await index({ output })).toMatchObject({ embedded: 0 });
  });

  test.each(['kb.index', 'kb.bm25', 'kb.embeddings'])(
    'a %s of somebody else keeps a first run from writing anything',
    async (name) => {
      write({ 'a.md': 'bees' });
      const output = file(`output-${trial}`);
      mkdirSync(output);
      writeFileSync(join(output, name), 'mine');
      await expect(index({ output })).rejects.toThrow(`${name}: output: exists and was not made by indexing`);
      expect(readdirSync(output)).toEqual([name]);
      expect(readFileSync(join(output, name), 'utf8')).toBe('mine');
    },
  );

  test('a first run that was killed once any of its files was there is begun again', async () => {
    write({ 'a.md': '# Bees\n\nbees dance' });
    const preload = file('kill-after-link.mjs');
    writeFileSync(preload, killAfterLink);
    const program = ['--import', preload, 'dist/src/cli/main.js', 'index', folder];
    for (const [last, name] of ['folder.json', 'records.json', 'files.jsonl', 'kb.json'].entries()) {
      const output = file(`killed-${last}`);
      const env = { ...process.env, KILL_AFTER_LINK: name };
      const { signal } = spawnSync(process.execPath, [...program, '--output', output], { env });
      expect(signal, name).toBe('SIGKILL');
      expect(readdirSync(output)).toContain(name);
      expect((await index({ output })).records, name).toBe(1);
    }
  });

  test('two processes that index one folder do not disturb each other', async () => {
    write(Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`${n}.md`, `# ${n}\n\nbees ${n}`])));
    const runs = await Promise.all([index(), index(), index()]);
    expect(runs.map(({ records }) => records)).toEqual([20, 20, 20]);
    await (await openKnowledgeBase((await index()).config, { models })).close();
  });

  test('an interrupted run leaves the last index, and no temporary file', async () => {
    write({ 'a.md': 'bees' });
    const { config } = await index();
    write({ 'b.md': 'ice', 'c.md': 'honey' });
    const controller = new AbortController();
    const onProgress = ({ phase, done }: { phase: string; done: number }) => {
      if (phase === 'files' && done > 0) controller.abort();
    };
    await expect(index({ signal: controller.signal, onProgress })).rejects.toMatchObject({
      code: 'CANCELLED',
    });
    expect(readdirSync(dirname(config)).filter((name) => name.includes('.tmp'))).toEqual([]);
    await using kb = await openKnowledgeBase(config, { models });
    expect(kb.size).toBe(1);
  });

  test('embeddings are saved while others are computed', async () => {
    const text = 'bees dance on glaciers of honey and flour '.repeat(20);
    write(Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`${n}.md`, `# ${n}\n\n${text} ${n}`])));
    let now = 0;
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => {
      now += 61_000;
      return now;
    });
    let saved = false;
    const onProgress = ({ phase, done, total }: { phase: string; done: number; total: number }) => {
      const [found] = readdirSync(file('state/folders')).filter((name) =>
        name.startsWith(`${folder.split('/').at(-1)}-`),
      );
      if (phase === 'embed' && done < total)
        saved ||= existsSync(join(file('state/folders'), found as string, 'kb.embeddings'));
    };
    await index({ onProgress }).finally(() => clock.mockRestore());
    expect(saved).toBe(true);
  });
});

test('a text that is forgotten by another config over the records of an index stays out', async () => {
  write({ 'a.md': 'bees dance', 'b.md': 'ice flows' });
  const { config } = await index();
  mkdirSync(file('elsewhere'));
  const other = file('elsewhere/kb.json');
  const { fields } = JSON.parse(readFileSync(config, 'utf8'));
  const records = join(config, '../records.json');
  writeFileSync(other, JSON.stringify({ embedding_model: 'tiny', records_file: records, fields }));
  await using kb = await openKnowledgeBase(other, { models });
  await kb.forget(['b.md']);
  await kb.close();
  expect(await index()).toMatchObject({ records: 1, files: 1 });
});

test('createKnowledgeBase indexes and opens in one step', async () => {
  write({ 'bees.md': '# Bees\n\nBees dance in the hive.', 'ice.md': '# Ice\n\nGlaciers grind valleys.' });
  await using kb = await createKnowledgeBase({ folder, models });
  expect(kb.index).toMatchObject({ files: 2, records: 2 });
  expect((await kb.search({ text: 'bees in the hive' })).hits[0]?.id).toBe('bees.md#bees');
});

test('an index is found from its folder, from below, and from above', async () => {
  write({ 'docs/deep/a.md': 'bees', 'notes/b.md': 'ice' });
  await index({ folder: join(folder, 'docs') });
  await index({ folder: join(folder, 'notes') });
  const found = async (at: string) =>
    (await indexesFor(join(folder, at))).map((each) => each.folder.slice(folder.length + 1));
  expect(await found('docs')).toEqual(['docs']);
  expect(await found('docs/deep')).toEqual(['docs']);
  expect(await found('.')).toEqual(['notes', 'docs']);
  expect(await found('..')).toContain('notes');
  mkdirSync(join(folder, 'docs-2'));
  expect(await found('docs-2')).toEqual([]);
  // An old index of a folder above does not hide the new one.
  await index({ folder });
  expect(await found('.')).toEqual(['', 'notes', 'docs']);
  await index({ folder: join(folder, 'docs') });
  expect(await found('.')).toEqual(['docs', '', 'notes']);
  expect(await found('notes')).toEqual(['notes']);
  expect(await found('docs-2')).toEqual(['']);
});

test('the config keeps what the user has set for searches, in `search`, and nothing else', async () => {
  write({ 'a.md': 'bees dance' });
  const { config } = await index();
  const made = readFileSync(config, 'utf8');
  const { search, ...rest } = JSON.parse(made);
  expect(search).toEqual({ mode: 'hybrid', top_k: 5, fusion: 'scores', feedback: 0.3 });
  const own = { relevance: { hybrid: { offset: 1, slope: 0.5 } }, lexical: { stop_words: ['sleep'] } };
  const changed = async (fields: object) => {
    writeFileSync(config, JSON.stringify({ ...rest, bm25_tokenizer: 'basic', ...fields }));
    await index();
    return JSON.parse(readFileSync(config, 'utf8'));
  };
  const stated = { mode: 'dense', ef_search: 200 };
  const fields = { fusion: 'rrf', ...own, search: stated };
  expect(await changed(fields)).toEqual({ ...rest, search: { ...search, fusion: 'rrf', ...own, ...stated } });
  const earlier = { fusion: 'rrf', ...own, hnsw: { ef_search: 200 } };
  expect(await changed(earlier)).toEqual({
    ...rest,
    search: { ...search, fusion: 'rrf', ...own, ef_search: 200 },
  });
  const twice = changed({ fusion: 'rrf', search });
  await expect(twice).rejects.toMatchObject({ message: expect.stringContaining('fusion: search.fusion') });
});
