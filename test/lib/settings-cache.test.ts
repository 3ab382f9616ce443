/** How a model is computed is measured once on a machine, and nothing depends on the file that remembers it. */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ComputeSettingsCache, cacheFolder } from '../../lib/devices/settings-cache.js';
import { EmbeddingModel } from '../../lib/index.js';
import { rejection } from '../helpers/errors.js';
import { temporaryFolder } from '../helpers/folder.js';
import { tinyBert } from '../helpers/models.js';

const inFolder = temporaryFolder();
let seed = 100;
let folder: string;
let file: string;
const own = process.env.LOREKEEP_CACHE;
beforeEach(() => {
  folder = inFolder(`cache-${seed++}`);
  file = join(folder, 'embedding-settings.json');
  mkdirSync(folder);
  process.env.LOREKEEP_CACHE = folder;
});
afterEach(() => {
  process.env.LOREKEEP_CACHE = own;
});

const entries = () => JSON.parse(readFileSync(file, 'utf8')).entries;
/** A model that this process has not measured. */
const fresh = () => tinyBert({ seed: seed++, layers: 1 });

describe('the settings of a model', () => {
  test('are measured by the first load, kept, and used by the next', async () => {
    const path = await fresh();
    await using first = await EmbeddingModel.load(path);
    expect(first.facts.measured).toBe(true);
    expect([128, 256, 512]).toContain(first.facts.batchTokens);
    const { name, fingerprint, runtime, batchTokens } = first.facts;
    const { candidates } = first.facts;
    expect(candidates[0]).toBe('llama.cpp');
    expect(candidates).toContain(runtime);
    expect(entries()).toMatchObject([
      { name, fingerprint, path, candidates, runtime, batchTokens, version: expect.any(String) },
    ]);
    await using second = await EmbeddingModel.load(path);
    expect(second.facts).toMatchObject({ runtime, batchTokens });
  });

  test('are written without leaving what killed writers left, and without harm to others that write', async () => {
    const { pid: ended } = spawnSync(process.execPath, ['--version']);
    const id = '6f1f1d0c-8a4e-4b64-9a44-0a39c5b0f9c7';
    const [killed, older] = [`${file}.${ended}-${id}.tmp`, `${file}.${id}.tmp`];
    const others = [
      `${file}.${process.pid}-${id}.tmp`,
      `${file}.bak`,
      `${file}.mine.tmp`,
      join(folder, 'other.tmp'),
    ];
    for (const path of [killed, older, ...others]) writeFileSync(path, '');
    await using _ = await EmbeddingModel.load(await fresh());
    expect(readdirSync(folder).sort()).toEqual([file, ...others].map((path) => basename(path)).sort());
  });

  test('name the runtimes that there are, where one is asked for that is not', async () => {
    const path = await fresh();
    await using model = await EmbeddingModel.load(path, { runtime: 'llama.cpp' });
    const error = await rejection(EmbeddingModel.load(path, { runtime: 'abacus' }), 'INVALID_ARGUMENT');
    expect(error.message).toContain(
      `the runtime abacus cannot compute this model on this machine; choose one of ${model.facts.candidates.join(', ')}`,
    );
  });

  test('are taken from the file, without a measurement', async () => {
    const path = await fresh();
    await using forced = await EmbeddingModel.load(path, { runtime: 'llama.cpp' });
    const { fingerprint, candidates } = forced.facts;
    expect(forced.facts).toMatchObject({ runtime: 'llama.cpp', measured: false });
    const entry = { fingerprint, candidates, name: 'x', path, runtime: 'llama.cpp', batchTokens: 64 };
    await ComputeSettingsCache.ofUser().add(entry);
    const before = readFileSync(file, 'utf8');
    await using model = await EmbeddingModel.load(path);
    expect(model.facts).toMatchObject({ runtime: 'llama.cpp', batchTokens: 64, measured: false });
    expect(readFileSync(file, 'utf8')).toBe(before);
  });

  test('belong to the model wherever it lies, and the file says where', async () => {
    const path = await fresh();
    await using forced = await EmbeddingModel.load(path, { runtime: 'llama.cpp' });
    const { fingerprint, candidates } = forced.facts;
    const gone = join(folder, 'gone.gguf');
    const entry = { fingerprint, candidates, name: 'x', path: gone, runtime: 'llama.cpp', batchTokens: 64 };
    await ComputeSettingsCache.ofUser().add(entry);
    await using model = await EmbeddingModel.load(path);
    expect(model.facts).toMatchObject({ batchTokens: 64, measured: false });
    expect(entries()).toMatchObject([{ fingerprint, path, batchTokens: 64 }]);
  });

  test('that were chosen among other runtimes, or by a version that did not say among which, are measured again', async () => {
    const path = await fresh();
    await using forced = await EmbeddingModel.load(path, { runtime: 'llama.cpp' });
    const { fingerprint, candidates } = forced.facts;
    const cache = ComputeSettingsCache.ofUser();
    const entry = { fingerprint, name: 'x', path, runtime: 'llama.cpp', batchTokens: 64 };
    await cache.add({ ...entry, candidates: [...candidates, 'abacus'] });
    const { candidates: _, path: __, ...old } = entries()[0];
    writeFileSync(file, JSON.stringify({ entries: [old, ...entries()] }));
    await using model = await EmbeddingModel.load(path);
    expect(model.facts).toMatchObject({ measured: true, candidates });
    expect(entries()).toMatchObject([old, { candidates: [...candidates, 'abacus'] }, { candidates }]);
    expect(entries()).toHaveLength(3);
    expect((await cache.read()).map((kept) => kept.candidates.length - candidates.length)).toEqual([1, 0]);
  });

  test('of another processor, another version or a runtime that is not there are measured again', async () => {
    const path = await fresh();
    await using forced = await EmbeddingModel.load(path, { runtime: 'llama.cpp' });
    const { fingerprint, candidates } = forced.facts;
    const entry = { fingerprint, candidates, name: 'x', path, runtime: 'llama.cpp', batchTokens: 64 };
    await new ComputeSettingsCache(file, 'an abacus', '0.0.0').add(entry);
    await ComputeSettingsCache.ofUser().add({ ...entry, runtime: 'abacus' });
    await using model = await EmbeddingModel.load(path);
    expect(model.facts.measured).toBe(true);
    expect(entries()).toHaveLength(2);
  });
});

test('what is measured with other kernels is not used without them', async () => {
  const kernels = process.env.LOREKEEP_KERNELS;
  const entry = { fingerprint: 'f', candidates: ['x'], name: 'x', path: 'x', runtime: 'x', batchTokens: 64 };
  try {
    process.env.LOREKEEP_KERNELS = 'scalar';
    await ComputeSettingsCache.ofUser().add(entry);
    expect(await ComputeSettingsCache.ofUser().read()).toMatchObject([entry]);
    delete process.env.LOREKEEP_KERNELS;
    expect(await ComputeSettingsCache.ofUser().read()).toEqual([]);
  } finally {
    if (kernels !== undefined) process.env.LOREKEEP_KERNELS = kernels;
  }
});

describe('the cache file', () => {
  test.each([
    ['no JSON', '{"entries": [{'],
    ['an empty file', ''],
    ['entries of other kinds', '{"entries": [null, 7, {"fingerprint": 1}, {"batchTokens": -1}]}'],
    [
      'candidates that are none',
      JSON.stringify({
        entries: [7, [1], null].map((candidates) => ({
          ...{ fingerprint: '1', name: 'x', runtime: 'y', processor: 'z', version: '0', batchTokens: 1 },
          candidates,
        })),
      }),
    ],
  ])('may hold %s: the model is measured, and the file is right again', async (_, content) => {
    writeFileSync(file, content);
    await using model = await EmbeddingModel.load(await fresh());
    expect(model.facts.measured).toBe(true);
    expect(entries()).toHaveLength(1);
  });

  test.each([
    ['another JSON', '[1, 2]'],
    ['bytes', Buffer.from([0xff, 0xfe, 0, 1])],
  ])('may be a file of others, %s: the model is measured, and the file stays', async (_, content) => {
    writeFileSync(file, content);
    await using model = await EmbeddingModel.load(await fresh());
    expect(model.facts.measured).toBe(true);
    expect(readFileSync(file)).toEqual(Buffer.from(content));
  });

  test('may be a folder, or lie where nothing can be written', async () => {
    mkdirSync(file);
    await using one = await EmbeddingModel.load(await fresh());
    expect(one.facts.measured).toBe(true);
    const locked = join(folder, 'locked');
    mkdirSync(locked);
    chmodSync(locked, 0o500);
    process.env.LOREKEEP_CACHE = join(locked, 'below');
    await using two = await EmbeddingModel.load(await fresh());
    expect(two.facts.measured).toBe(true);
  });

  test('survives loads at the same time', async () => {
    const paths = await Promise.all([fresh(), fresh(), fresh()]);
    const models = await Promise.all(paths.map((path) => EmbeddingModel.load(path)));
    await Promise.all(models.map((model) => model.close()));
    expect(entries().length).toBeGreaterThanOrEqual(1);
  });

  test('keeps the newest entries when there are many', async () => {
    const cache = ComputeSettingsCache.ofUser();
    const many = Array.from({ length: 300 }, (_, i) => ({
      fingerprint: String(i),
      name: 'x',
      runtime: 'y',
      batchTokens: 1,
      processor: 'z',
      version: '0',
    }));
    writeFileSync(file, JSON.stringify({ entries: many }));
    const added = { fingerprint: 'new', candidates: ['y'], name: 'x', path: 'x.gguf' };
    await cache.add({ ...added, runtime: 'y', batchTokens: 1 });
    expect(entries()).toHaveLength(200);
    expect(entries().at(-1).fingerprint).toBe('new');
  });

  test('lies where LOREKEEP_CACHE says, else in the cache folder of the user', () => {
    expect(cacheFolder()).toBe(folder);
    process.env.LOREKEEP_CACHE = '';
    expect(cacheFolder()).toMatch(/lorekeep$/);
  });
});
