import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { FileServer } from '../downloads/file-server.js';
import { temporaryFolder } from '../helpers/folder.js';
import { tinyReranker } from '../helpers/rerankers.js';
import { lorekeep } from './command.js';

const inFolder = temporaryFolder();
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
    ];
    writeFileSync(catalog, JSON.stringify({ version: 1, models }));
    const show = async (name: string) => {
      const { stdout } = await lorekeep(['models', 'show', name, '--catalog', catalog, '--json']);
      return JSON.parse(stdout).contradictions;
    };
    expect(await show('embedding')).toEqual([
      'dimension: the catalog says 32, the file 64',
      'pooling: the catalog says mean, the file rank',
      'model_type: the catalog says embedding, the file is a reranker',
    ]);
    expect(await show('llm')).toEqual(['model_type: the catalog says llm, the file is made for reranking']);
    expect(await show('reranker')).toEqual([
      'context_size: the catalog says 4096, the file takes 128 at most',
    ]);
    const { stdout } = await lorekeep(['models', 'show', 'llm', '--catalog', catalog]);
    expect(stdout).toContain('contradiction: model_type: ');
    expect(stdout).toContain('chosen: the first that is present');
  });

  it('lists, pulls, verifies, removes and prunes', async () => {
    const { server, run, states, catalog } = await start();
    expect(await states()).toEqual({
      local: 'present',
      absent: 'absent',
      damaged: 'present',
      remote: 'not downloaded',
    });
    const list = await run('list');
    expect(list.stdout).toMatch(/^remote +llm +Q4_0 +not downloaded +48\.8 KiB +MIT$/m);
    const pulled = await run('pull', 'remote', '--json');
    expect(pulled.status, pulled.stderr).toBe(0);
    const { path } = JSON.parse(pulled.stdout) as { path: string };
    expect(readFileSync(path).equals(server.content)).toBe(true);
    expect((await states()).remote).toBe('present');
    const verified = await run('verify');
    expect(verified.status).toBe(1);
    expect(verified.stdout).toContain('3 files compared, 1 damaged');
    expect(verified.stdout).toMatch(/damaged: its SHA-256 is .*, the catalog says 0+/);
    expect((await run('verify', 'remote')).status).toBe(0);
    const shown = await run('show', 'remote');
    expect(shown.stdout).toContain('license: MIT');
    expect(shown.stdout).toContain('variant Q4_0: present, used');
    const removed = await run('remove', 'remote');
    expect(removed.stdout).toContain('are free again');
    expect(existsSync(path)).toBe(false);
    await run('pull', 'remote');
    const parsed = JSON.parse(readFileSync(catalog, 'utf8')) as { models: object[] };
    parsed.models.pop();
    writeFileSync(catalog, JSON.stringify(parsed));
    expect((await run('prune')).stdout).toContain('removed ');
    expect(existsSync(path)).toBe(false);
    expect((await run('prune')).stdout).toContain('nothing to remove');
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
