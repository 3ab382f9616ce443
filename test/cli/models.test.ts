import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { FileServer } from '../downloads/file-server.js';
import { temporaryFolder } from '../helpers/folder.js';
import { tinyBert } from '../helpers/models.js';
import { tinyReranker } from '../helpers/rerankers.js';
import { splitModel } from '../helpers/split-model.js';
import { standInFolder } from '../helpers/stand-in-plugin.mjs';
import { commandHost } from './commands.js';

const inFolder = temporaryFolder();
const lorekeep = commandHost();
let number = 0;

const sum = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

/** A catalog with a local, an absent, a damaged and a downloadable model. */
async function start() {
  const server = await FileServer.listen(randomBytes(50_000));
  const catalog = inFolder(`models-${number++}.json`);
  const local = Buffer.from('a model');
  const file = catalog.replace('.json', '.gguf');
  writeFileSync(file, local);
  const entry = (name: string, variant: object, model_type = 'llm') => ({
    name,
    model_type,
    variants: [variant],
  });
  const remote = {
    name: 'Q4_0',
    url: `${server.url}/remote.gguf`,
    sha256: sum(server.content),
    size_bytes: 50_000,
  };
  const models = [
    entry('local', { file, sha256: sum(local) }),
    entry('absent', { file: 'absent.gguf' }, 'embedding'),
    entry('damaged', { file, sha256: '0'.repeat(64) }),
    { ...entry('remote', remote), license: 'MIT' },
  ];
  writeFileSync(catalog, JSON.stringify({ version: 1, models }));
  const models_ = (...args: string[]) => lorekeep(['models', ...args, '--catalog', catalog]);
  const states = async () => {
    const { stdout } = await models_('list', '--json');
    const { models: listed } = JSON.parse(stdout) as {
      models: { name: string; state: string; path: string }[];
    };
    return Object.fromEntries(listed.map(({ name, state }) => [name, state]));
  };
  return { server, catalog, run: models_, states };
}

describe('lorekeep models', () => {
  it('names what the catalog says differently than the file', async () => {
    const path = await tinyReranker('two-layer', { contextSize: 128 });
    const catalog = inFolder('contradictions.json');
    const entry = (model_type: string, more: object, variant: object = {}) => ({
      name: model_type,
      model_type,
      variants: [{ file: path, ...variant }],
      ...more,
    });
    const models = [
      entry('embedding', { dimension: 32, pooling: 'mean' }),
      entry('llm', {}),
      entry('reranker', {}, { context_size: 4096 }),
      { name: 'embedder', model_type: 'reranker', variants: [{ file: await tinyBert() }] },
    ];
    writeFileSync(catalog, JSON.stringify({ version: 1, models }));
    const show = async (name: string) => {
      const { stdout } = await lorekeep(['models', 'show', name, '--catalog', catalog, '--json']);
      return JSON.parse(stdout).contradictions;
    };
    expect(await show('embedding')).toEqual([
      'model_type: the catalog says embedding, the file is a reranker',
      'dimension: the catalog says 32, the file 64',
      'pooling: the catalog says mean, the file rank',
    ]);
    const llm = 'model_type: the catalog says llm, the file is a reranker, so it is not loaded';
    const embedder =
      'model_type: the catalog says reranker, the file is an embedding model, so it is not loaded';
    const context = 'context_size: the catalog says 4096, the file takes 128 at most';
    expect(await show('llm')).toEqual([llm]);
    expect(await show('reranker')).toEqual([context]);
    expect(await show('embedder')).toEqual([embedder]);
    const shown = await lorekeep(['models', 'list', '--catalog', catalog]);
    expect(shown.stdout).toContain(`llm: contradiction: ${llm}\n`);
    expect(shown.stdout).toContain(`reranker: contradiction: ${context}\n`);
    const checked = await lorekeep(['check', catalog]);
    expect(checked.status).toBe(1);
    expect(checked.stdout).toMatch(new RegExp(`^error: .*"llm": .*${llm}$`, 'm'));
    expect(checked.stdout).toMatch(new RegExp(`^warning: .*"reranker": .*${context}$`, 'm'));
    for (const command of [['models', 'list', '--catalog'], ['check']]) {
      const json = await lorekeep([...command, catalog, '--json']);
      const { models: listed } = JSON.parse(json.stdout) as {
        models: { contradictions: string[]; unusable: string | null }[];
      };
      expect(listed.map(({ unusable }) => unusable ?? null)).toEqual([
        'dimension: the catalog says 32, the file 64',
        llm,
        null,
        embedder,
      ]);
      expect(listed.map(({ contradictions }) => contradictions).slice(1)).toEqual([
        [llm],
        [context],
        [embedder],
      ]);
    }
    expect((await lorekeep(['check', catalog, '--model', 'reranker'])).status).toBe(0);
    const { stdout } = await lorekeep(['models', 'show', 'llm', '--catalog', catalog]);
    expect(stdout).not.toContain('query_prefix');
    expect(stdout).toContain('contradiction: model_type: ');
    expect(stdout).toContain('chosen: the first that is present');
  });

  it('lists, pulls, checks, removes and prunes', async () => {
    const { server, run, states, catalog } = await start();
    expect(await states()).toEqual({
      local: 'present',
      absent: 'absent',
      damaged: 'present',
      remote: 'not downloaded',
    });
    const list = await run('list');
    expect(list.stdout).not.toContain('so far');
    expect(list.stdout).toMatch(/^remote +llm +Q4_0 +not downloaded +48\.8 KiB +CPU +MIT$/m);
    const pulled = await run('pull', 'remote', '--json');
    // Its bytes are as stated, but no model.
    expect(pulled.status, pulled.stderr).toBe(1);
    const { path, contradictions } = JSON.parse(pulled.stdout) as { path: string; contradictions: string[] };
    expect(contradictions).toEqual([expect.stringMatching(/^file: .*GGUF/)]);
    expect(JSON.parse(pulled.stdout).unusable).toBe(contradictions[0]);
    expect(readFileSync(path).equals(server.content)).toBe(true);
    expect((await states()).remote).toBe('present');
    const checked = await lorekeep(['check', catalog]);
    expect(checked.status).toBe(1);
    expect(checked.stdout).toContain('files of 2 present');
    expect(checked.stdout).toMatch(/"damaged": .*: its SHA-256 is .*, the catalog says 0+/);
    const one = await lorekeep(['check', catalog, '--model', 'remote']);
    expect(one.stdout).toMatch(
      /^error: .*"remote": .*GGUF[\s\S]*model catalog, 1 model, .*: 1 error, 0 warnings$/m,
    );
    expect((await lorekeep(['check', catalog, '--model', 'absent'])).status).toBe(1);
    const shown = await run('show', 'remote');
    expect(shown.stdout).toContain('license: MIT');
    expect(shown.stdout).toContain('variant Q4_0: present, used, not loadable');
    expect((await run('list')).stdout).toMatch(/^remote .* present, used, not loadable /m);
    expect(shown.stdout).toMatch(/^ {2}SHA-256 [0-9a-f]{64}$/m);
    const removed = await run('remove', 'remote');
    expect(removed.stdout).toContain('freed');
    expect(existsSync(path)).toBe(false);
    writeFileSync(`${path}.part`, 'GGUF');
    expect((await run('list')).stdout).toContain('remote (Q4_0): 4 B of it are there so far');
    rmSync(`${path}.part`);
    await run('pull', 'remote');
    const parsed = JSON.parse(readFileSync(catalog, 'utf8')) as { models: object[] };
    parsed.models.pop();
    writeFileSync(catalog, JSON.stringify(parsed));
    expect((await run('prune')).stdout).toContain('removed ');
    expect(existsSync(path)).toBe(false);
    expect((await run('prune')).stdout).toContain('nothing to remove');
  });

  it('names what the catalog says differently than a download', async () => {
    const server = await FileServer.listen(readFileSync(await tinyBert()));
    const catalog = inFolder('pulled.json');
    const entry = (model_type: string) => ({
      ...{ name: model_type, model_type, license: 'MIT' },
      variants: [{ url: `${server.url}/${model_type}.gguf` }],
    });
    writeFileSync(catalog, JSON.stringify({ version: 1, models: [entry('embedding'), entry('llm')] }));
    const run = (...args: string[]) => lorekeep(['models', 'pull', ...args, '--catalog', catalog]);
    const loadable = await run('embedding');
    expect([loadable.status, loadable.stdout.trim().endsWith('embedding.gguf')]).toEqual([0, true]);
    const other = await run('llm');
    expect(other.status).toBe(1);
    expect(other.stderr).toContain(
      'contradiction: model_type: the catalog says llm, the file is an embedding model, so it is not loaded\n',
    );
  });

  it('compares a download with downloads.json where the catalog states nothing', async () => {
    const server = await FileServer.listen(readFileSync(await tinyReranker('one-layer')));
    const catalog = inFolder('recorded.json');
    const variants = [{ url: `${server.url}/judge.gguf` }];
    writeFileSync(
      catalog,
      JSON.stringify({ version: 1, models: [{ name: 'judge', model_type: 'reranker', variants }] }),
    );
    const run = (...args: string[]) => lorekeep(['models', ...args, '--catalog', catalog]);
    const { path } = JSON.parse((await run('pull', 'judge', '--json')).stdout) as { path: string };
    expect((await lorekeep(['check', catalog])).status).toBe(0);
    const { content } = server;
    const other = Buffer.from(content);
    other[content.length - 1] = 255 - (content[content.length - 1] as number);
    writeFileSync(path, other);
    const changed = await lorekeep(['check', catalog]);
    expect(changed.status).toBe(1);
    expect(changed.stdout).toContain(`its SHA-256 is ${sum(other)}, downloads.json says ${sum(content)}\n`);
    writeFileSync(path, content.subarray(1));
    const lengths = `it has ${content.length - 1} bytes, downloads.json says ${content.length}`;
    expect((await lorekeep(['check', catalog])).stdout).toContain(lengths);
    for (const command of ['list', 'show']) {
      const shown = await run(command, ...(command === 'show' ? ['judge'] : []));
      expect(shown.stdout, command).toContain(lengths);
      expect(shown.stdout, command).toContain('damaged');
    }
    const again = await run('pull', 'judge');
    expect(again.status).toBe(1);
    expect(again.stderr).toContain('remove it first (models remove)');
  });

  it('leaves files alone that it did not download, and says where they are', async () => {
    const { run, catalog } = await start();
    const file = catalog.replace('.json', '.gguf');
    const removed = await run('remove', 'local');
    expect(removed.stdout).toBe(`not removed, because lorekeep did not download it: ${file}\n`);
    expect(existsSync(file)).toBe(true);
    const json = await run('remove', 'local', '--json');
    expect(JSON.parse(json.stdout)).toEqual({ model: 'local', bytes: 0, kept: [file] });
    expect((await run('remove', 'absent')).stdout).toBe('nothing was downloaded\n');
  });

  it('shows no query of an address, which may hold a signature', async () => {
    const place = inFolder('signed.json');
    const url = 'https://models.test/judge.gguf?signature=secret';
    const models = [{ name: 'judge', model_type: 'reranker', variants: [{ url }] }];
    writeFileSync(place, JSON.stringify({ version: 1, models }));
    for (const command of [
      ['list', '--json'],
      ['show', 'judge', '--json'],
      ['show', 'judge'],
    ]) {
      const { stdout } = await lorekeep(['models', ...command, '--catalog', place]);
      expect(stdout).toContain('https://models.test/judge.gguf');
      expect(stdout).not.toContain('secret');
    }
  });

  it('shows the device that a model would go to', async () => {
    const place = inFolder('devices.json');
    const file = await tinyReranker('one-layer');
    const entry = (name: string, model_type: string, placement?: string) => ({
      name,
      model_type,
      variants: [{ file, ...(placement && { placement }) }],
    });
    const models = [
      entry('writer', 'llm'),
      entry('cpu', 'llm', 'ram'),
      entry('gpu', 'embedding', 'vram'),
      entry('small', 'embedding'),
      entry('judge', 'reranker'),
      entry('ears', 'stt'),
    ];
    writeFileSync(place, JSON.stringify({ version: 1, models }));
    const devices = async (plugins: string) => {
      const env = { LOREKEEP_BACKENDS: plugins, LOREKEEP_CACHE: inFolder('cache') };
      const { stdout } = await lorekeep(['models', 'list', '--json', '--catalog', place], { env });
      const { models: listed } = JSON.parse(stdout) as { models: { device: string | null }[] };
      return listed.map(({ device }) => device);
    };
    expect(await devices(inFolder('nothing'))).toEqual(['CPU', 'CPU', null, 'CPU', 'CPU', 'CPU']);
    const plugins = standInFolder(inFolder('plugins'));
    expect(await devices(plugins)).toEqual(['GPU0', 'CPU', 'GPU0', 'CPU', 'CPU', 'GPU0']);
  });

  it('looks at every part of a split model', async () => {
    const whole = await tinyReranker('one-layer');
    const parts = splitModel(whole, inFolder('parts'), 3);
    const sums = parts.map((part) => sum(readFileSync(part)));
    const size_bytes = parts.reduce((bytes, part) => bytes + readFileSync(part).length, 0);
    const file = parts[0] as string;
    const place = inFolder('split.json');
    const write = (variant: object) => {
      const models = [{ name: 'judge', model_type: 'reranker', variants: [{ file, ...variant }] }];
      writeFileSync(place, JSON.stringify({ version: 1, models }));
    };
    const verify = async () => {
      const { status, stdout } = await lorekeep(['check', '--json', place]);
      const [{ state, reason, bytes }] = (JSON.parse(stdout) as { models: [Record<string, unknown>] }).models;
      return { status, state, reason, bytes };
    };
    write({ parts_sha256: sums, size_bytes });
    expect(await verify()).toEqual({ status: 0, state: 'present', bytes: size_bytes });
    write({ parts_sha256: [...sums.slice(0, 2), '0'.repeat(64)] });
    expect(await verify()).toMatchObject({
      ...{
        status: 1,
        state: 'damaged',
        reason: expect.stringMatching(/^split-00003-of-00003\.gguf: its SHA-256/),
      },
    });
    write({ size_bytes: size_bytes + 1 });
    expect(await verify()).toMatchObject({ status: 1, state: 'damaged' });
    rmSync(parts[1] as string);
    expect(await verify()).toMatchObject({
      ...{ state: 'absent', reason: 'part 2 of 3 is missing: split-00002-of-00003.gguf' },
    });
    const inspected = await lorekeep(['check', file]);
    expect(inspected.status).toBe(1);
    expect(inspected.stderr).toContain('part 2 of 3 of a split model is missing');
  });

  it('names the mistake: a misspelt name, nothing to download, a wrong checksum', async () => {
    const { run, server } = await start();
    const misspelt = await run('pull', 'remot');
    expect(misspelt.status).toBe(2);
    expect(misspelt.stderr).toContain('did you mean "remote"?');
    const local = await run('pull', 'absent');
    expect(local.status).toBe(1);
    expect(local.stderr).toMatch(/has no variant with "url" or "hf": put its file at .*absent\.gguf/);
    const variant = await run('pull', 'remote', '--variant', 'Q8_0');
    expect(variant.stderr).toContain('it has "Q4_0"');
    server.content = randomBytes(50_000);
    const wrong = await run('pull', 'remote');
    expect(wrong.status).toBe(1);
    expect(wrong.stderr).toMatch(/its SHA-256 is .*, the catalog says .*; it was removed/);
  });
});
