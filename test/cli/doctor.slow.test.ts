import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../helpers/folder.js';
import { tinyBert } from '../helpers/models.js';
import { writeTinyDecoder } from '../helpers/tiny-model/tiny-decoder.mjs';
import { TestServer } from '../server/test-server.js';
import { commandHost } from './commands.js';

const inFolder = temporaryFolder();
const lorekeep = commandHost();

interface Finding {
  subject: string;
  status: string;
  message: string;
  fix?: string;
}

async function findings(config: object): Promise<{
  status: number | null;
  of: (subject: string) => Finding | undefined;
  allOf: (subject: string) => Finding[];
}> {
  const path = inFolder('server-config.json');
  writeFileSync(path, JSON.stringify(config));
  const { status, stdout } = await lorekeep(['doctor', '--config', path, '--json']);
  const { findings: all } = JSON.parse(stdout) as { findings: Finding[] };
  const allOf = (name: string) => all.filter(({ subject }) => subject === name);
  return { status, of: (name) => allOf(name)[0], allOf };
}

async function listen(): Promise<number> {
  const other = createServer((socket) => socket.end('hello'));
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void other.close());
  return (other.address() as { port: number }).port;
}

describe('lorekeep doctor', () => {
  it('finds a machine that can serve, and says what it looked at', async () => {
    const path = inFolder('server-config.json');
    writeFileSync(path, JSON.stringify({ port: 0, logs_dir: 'logs' }));
    const { status, stdout } = await lorekeep(['doctor', '--config', path]);
    expect(status, stdout).toBe(0);
    for (const subject of [
      'Node.js',
      'addon',
      'processor',
      'graphics',
      'catalog',
      'model all-MiniLM-L6-v2',
      'model lorekeep-mini',
      'port',
      'logs_dir',
    ]) {
      expect(stdout).toMatch(new RegExp(`^ok +${subject} `, 'm'));
    }
    expect(stdout).toMatch(/\.node$/m);
    expect(stdout).toMatch(/^ok +other models +known to the catalog, without files here: .*bge-small/m);
    expect(stdout).not.toMatch(/^warning +model/m);
    expect(stdout).toMatch(/ready to serve/);
  });

  it('says what each model needs, and which can never fit', async () => {
    const { status, of } = await findings({ port: 0, logs_dir: 'logs', models_cache_max_mb: 1 });
    expect(status).toBe(0);
    expect(of('model lorekeep-mini')?.message).toMatch(/, needs \d.* of memory, /);
    expect(of('memory of models')).toMatchObject({
      status: 'ok',
      message: '1.00 MiB for all loaded models together',
    });
    const path = inFolder('server-config.json');
    const { stdout } = await lorekeep(['doctor', '--config', path]);
    expect(stdout).toMatch(
      /^warning +model lorekeep-mini +it needs .* of memory, and models may take 1\.00 MiB\n.*models_cache_max_mb/m,
    );
  });

  it('says what each language model needs, and which the server would refuse', async () => {
    const variants = [];
    for (const name of ['llama', 'phi3']) {
      const file = inFolder(`${name}.gguf`);
      await writeTinyDecoder(name, file);
      variants.push({ name, model_type: 'llm', variants: [{ file }] });
    }
    const catalog = inFolder('language-models.json');
    writeFileSync(catalog, JSON.stringify({ version: 1, models: variants }));
    const engines = { llm_engine: { inference: { runtime: 'decoder' } } };
    const { of } = await findings({ port: 0, models_catalog_path: catalog, engines });
    expect(of('model llama')?.message).toMatch(/, needs \d.* of memory, /);
    expect(of('model phi3')).toMatchObject({
      status: 'failed',
      message: expect.stringMatching(/phi3\.gguf: the runtime 'decoder' cannot compute it: .*use 'auto'$/),
    });
  });

  it('names variables of the environment that are probably misspelt', async () => {
    const env = { LOREKEEP_PROT: '1', LOREKEEP_DEBUG: '0', LOREKEEP_SERVICE_HOST: '10.0.0.1' };
    const { stdout } = await lorekeep(['doctor'], { env });
    expect(stdout.match(/^warning +variable .*\n.*$/gm)).toEqual([
      expect.stringMatching(
        /LOREKEEP_PROT: .*did you mean "LOREKEEP_PORT"\?.*\n +-> correct its name, or unset it$/,
      ),
    ]);
  });

  it('says which kernels compute distances, and what LOREKEEP_KERNELS asks for in vain', async () => {
    const scalar = await lorekeep(['doctor'], { env: { LOREKEEP_KERNELS: 'scalar' } });
    expect(scalar.stdout).toMatch(/^ok +distances +scalar \(of scalar\b.*\)$/m);
    expect(scalar.stdout).not.toContain('LOREKEEP_KERNELS');
    const abacus = await lorekeep(['doctor'], { env: { LOREKEEP_KERNELS: 'abacus' } });
    expect(abacus.stdout).toMatch(
      /^warning +variable +LOREKEEP_KERNELS: this processor does not run "abacus", only scalar\b.*\n +-> correct its value, or unset it$/m,
    );
  });

  describe('shows how models are embedded on this machine', () => {
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
    const processor = cpus()[0]?.model.trim() || process.arch;
    let caches = 0;

    /** The lines about it, of a cache that holds these entries. */
    async function embeddingLines(entries?: object[]): Promise<{ file: string; lines: string[] }> {
      const cache = inFolder(`cache-${caches++}`);
      const file = join(cache, 'embedding-settings.json');
      const config = inFolder('quiet-config.json');
      writeFileSync(config, JSON.stringify({ port: 0, models_catalog_path: 'absent.json' }));
      if (entries !== undefined) {
        mkdirSync(cache);
        writeFileSync(file, JSON.stringify({ entries }));
      }
      const { stdout } = await lorekeep(['doctor', '--config', config], { env: { LOREKEEP_CACHE: cache } });
      const lines = stdout.split('\n').flatMap((line) => /^ok +embedding +(.*)$/.exec(line)?.[1] ?? []);
      return { file, lines };
    }

    /** An entry of a model whose file is there. */
    const entry = (index: number) => {
      const path = inFolder(`m${index}.gguf`);
      writeFileSync(path, '');
      const measured = { runtime: 'llama.cpp', candidates: ['llama.cpp'], batchTokens: 128 };
      return { fingerprint: `f${index}`, name: `m${index}`, path, ...measured, processor, version };
    };
    const shown = (index: number) =>
      `m${index} (f${index}): llama.cpp, batches of 128 tokens (${inFolder(`m${index}.gguf`)})`;

    it('as their first load measured', async () => {
      expect((await embeddingLines()).lines).toEqual([
        'nothing is measured yet; the first load of a model measures',
      ]);
      const cache = inFolder('cache');
      const path = inFolder('quiet-config.json');
      writeFileSync(path, JSON.stringify({ port: 0 }));
      const { stdout } = await lorekeep(['doctor', '--config', path], { env: { LOREKEEP_CACHE: cache } });
      expect(stdout).toMatch(
        /^ok +embedding +lorekeep-mini \([0-9a-f]{16}\): [\w.-]+, batches of \d+ tokens \(.*lorekeep-mini\.gguf\)$/m,
      );
      expect(stdout).toContain(`kept in ${join(cache, 'embedding-settings.json')}\n`);
    });

    it('of this version, by the last measurement of each', async () => {
      const old = { ...entry(1), version: '0.0.0', name: 'old' };
      const other = { ...entry(2), candidates: ['llama.cpp', 'abacus'], batchTokens: 512 };
      const { candidates: _, path: __, ...unsaid } = entry(3);
      const strange = { ...entry(4), name: '\u001b[31m' };
      const { file, lines } = await embeddingLines([old, other, unsaid, entry(2), strange]);
      expect(lines).toHaveLength(3);
      expect(lines[0]).toMatch(/\(f4\)/);
      expect(lines.join()).not.toContain('\u001b');
      expect(lines.slice(1)).toEqual([shown(2), `kept in ${file}`]);
    });

    it('and says that they are not kept where the files are of another program', async () => {
      const cache = inFolder(`cache-${caches++}`);
      mkdirSync(cache);
      for (const kind of ['embedding', 'generation'])
        writeFileSync(join(cache, `${kind}-settings.json`), '{}');
      const config = inFolder('quiet-config.json');
      writeFileSync(config, JSON.stringify({ port: 0, models_catalog_path: 'absent.json' }));
      const { stdout } = await lorekeep(['doctor', '--config', config], { env: { LOREKEEP_CACHE: cache } });
      for (const kind of ['embedding', 'generation']) {
        const file = join(cache, `${kind}-settings.json`);
        expect(stdout).toContain(`each process measures again: ${file}: is not a file that lorekeep wrote`);
        expect(stdout).toMatch(new RegExp(`^warning +${kind} +new measurements are not kept`, 'm'));
      }
    });

    it('of language models, without runtimes that there are not', async () => {
      const cache = inFolder(`cache-${caches++}`);
      mkdirSync(cache);
      const file = join(cache, 'generation-settings.json');
      const candidates = ['llama.cpp', 'decoder'];
      const entries = [
        { ...entry(1), candidates, runtime: 'decoder' },
        { ...entry(2), candidates, runtime: 'abacus' },
      ];
      writeFileSync(file, JSON.stringify({ entries }));
      const config = inFolder('quiet-config.json');
      writeFileSync(config, JSON.stringify({ port: 0, models_catalog_path: 'absent.json' }));
      const { stdout } = await lorekeep(['doctor', '--config', config], { env: { LOREKEEP_CACHE: cache } });
      const lines = stdout.split('\n').flatMap((line) => /^ok +generation +(.*)$/.exec(line)?.[1] ?? []);
      expect(lines).toEqual([`m1 (f1): decoder (${inFolder('m1.gguf')})`, `kept in ${file}`]);
    });

    it('the last ten that are still there, and says how many more there are', async () => {
      const entries = Array.from({ length: 14 }, (_, index) => entry(index));
      rmSync(inFolder('m12.gguf'));
      const { file, lines } = await embeddingLines(entries);
      const expected = [13, 11, 10, 9, 8, 7, 6, 5, 4, 3].map(shown);
      expect(lines).toEqual([
        ...expected,
        `kept in ${file}, with 4 others (older, or of files that are gone)`,
      ]);
    });
  });

  it('names each failure with its fix, and exits with 1', async () => {
    writeFileSync(inFolder('model.gguf'), 'short');
    writeFileSync(inFolder('a-file'), '');
    const models = [
      { name: 'm', model_type: 'embedding', variants: [{ file: 'model.gguf', size_bytes: 6 }] },
    ];
    writeFileSync(inFolder('models.json'), JSON.stringify({ version: 1, models }));
    const port = await listen();
    const found = await findings({ port, models_catalog_path: 'models.json', logs_dir: 'a-file/logs' });
    expect(found.status).toBe(1);
    expect(found.of('port')).toMatchObject({
      status: 'failed',
      message: `${port} is in use by another program`,
    });
    expect(found.of('model m')).toMatchObject({ status: 'failed' });
    expect(found.of('models')).toMatchObject({ status: 'failed' });
    // The server logs to the console alone then.
    expect(found.of('logs_dir')).toMatchObject({
      status: 'warning',
      message: expect.stringContaining('a-file'),
    });
    for (const subject of ['port', 'model m', 'models', 'logs_dir'])
      expect(found.of(subject)?.fix).toBeTruthy();
  });

  it('tries the embedding models out: a file of the right name and size may be none', async () => {
    const bytes = Buffer.from('GGUF, but not a model');
    writeFileSync(inFolder('model.gguf'), bytes);
    const variant = { file: 'model.gguf', size_bytes: bytes.length };
    const models = [{ name: 'm', model_type: 'embedding', variants: [variant] }];
    writeFileSync(inFolder('models.json'), JSON.stringify({ version: 1, models }));
    const config = { port: 0, models_catalog_path: 'models.json', logs_dir: '' };
    const found = await findings(config);
    expect(found.status).toBe(1);
    const message = expect.stringMatching(/^[^:]*model\.gguf: [^/]*$/);
    expect(found.of('model m')).toMatchObject({ status: 'failed', message });
    expect(found.of('models')).toMatchObject({ status: 'failed' });

    const wrongSum = [{ ...variant, sha256: '0'.repeat(64) }];
    writeFileSync(
      inFolder('models.json'),
      JSON.stringify({ version: 1, models: [{ ...models[0], variants: wrongSum }] }),
    );
    const { of } = await findings(config);
    expect(of('model m')?.message).toContain(
      `its SHA-256 is ${createHash('sha256').update(bytes).digest('hex')}`,
    );
  });

  it('calls a file that cannot be loaded failed, and not ok as well', async () => {
    const variants = [{ file: await tinyBert() }];
    const models = [{ name: 'm', model_type: 'reranker', variants }];
    writeFileSync(inFolder('models.json'), JSON.stringify({ version: 1, models }));
    const { allOf } = await findings({ port: 0, models_catalog_path: 'models.json', logs_dir: '' });
    const message = expect.stringMatching(/: model_type: the catalog says reranker, .* so it is not loaded$/);
    expect(allOf('model m')).toEqual([expect.objectContaining({ status: 'failed', message })]);
  });

  it('warns of a storage root that is not there', async () => {
    const found = await findings({ port: 0, storage_root: 'gone', network_access: 'local_network' });
    expect(found.of('storage_root')).toMatchObject({
      status: 'warning',
      message: expect.stringContaining('gone does not exist'),
    });
    expect(found.of('port')).toMatchObject({ status: 'ok' });
  });

  it('says what is open to clients, and warns of a network without a token and of a root that is a file', async () => {
    writeFileSync(inFolder('a-file'), '');
    const open = await findings({
      port: 0,
      storage_root: 'a-file',
      network_access: 'local_network',
      session_folders: 'any',
    });
    expect(open.of('storage_root')?.message).toContain('a-file is a file');
    for (const field of ['session_folders', 'access_token_file'])
      expect(open.of(field)).toMatchObject({ status: 'warning' });
    const closed = await findings({ port: 0 });
    expect(closed.of('session_folders')).toMatchObject({
      status: 'ok',
      message: expect.stringContaining('any folder that the server may read'),
    });
  });

  it('knows a lorekeep server on the port from another program', async () => {
    const server = await TestServer.start();
    const found = await findings({ port: server.port });
    expect(found.of('port')).toMatchObject({
      status: 'ok',
      message: expect.stringContaining('a lorekeep server is running'),
    });
  });

  it('goes on where the config or the catalog is wrong', async () => {
    const config = await findings({ port: 'x' });
    expect(config.status).toBe(1);
    expect(config.of('config')).toMatchObject({ status: 'failed' });
    const catalog = await findings({ models_catalog_path: 'absent.json' });
    expect(catalog.of('catalog')).toMatchObject({ status: 'failed' });
    expect(catalog.of('addon')).toMatchObject({ status: 'ok' });
  });
});
