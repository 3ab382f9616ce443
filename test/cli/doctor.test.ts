import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../helpers/folder.js';
import { TestServer } from '../server/test-server.js';
import { lorekeep } from './command.js';

const inFolder = temporaryFolder();

interface Finding {
  subject: string;
  status: string;
  message: string;
  fix?: string;
}

async function findings(
  config: object,
): Promise<{ status: number | null; of: (subject: string) => Finding | undefined }> {
  const path = inFolder('server-config.json');
  writeFileSync(path, JSON.stringify(config));
  const { status, stdout } = await lorekeep(['doctor', '--config', path, '--json']);
  const { findings: all } = JSON.parse(stdout) as { findings: Finding[] };
  return { status, of: (name) => all.find(({ subject }) => subject === name) };
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
      'model lorekeep-mini',
      'port',
      'logs_dir',
    ]) {
      expect(stdout).toMatch(new RegExp(`^ok +${subject} `, 'm'));
    }
    expect(stdout).toMatch(/\.node$/m);
    expect(stdout).toMatch(/ready to serve/);
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
      /^warning +variable +LOREKEEP_KERNELS: "abacus" is none .*\(scalar\b.*\n +-> correct its value, or unset it$/m,
    );
  });

  it('shows how each model is embedded on this machine, as its first load measured', async () => {
    const cache = inFolder('cache');
    const env = { LOREKEEP_CACHE: cache };
    const path = inFolder('quiet-config.json');
    writeFileSync(path, JSON.stringify({ port: 0 }));
    const { stdout } = await lorekeep(['doctor', '--config', path], { env });
    expect(stdout).toMatch(
      /^ok +embedding +lorekeep-mini \([0-9a-f]{16}\): [\w.-]+, batches of \d+ tokens \(/m,
    );
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
    const entry = { fingerprint: '0123', name: 'm\u001b[31m', runtime: 'llama.cpp', batchTokens: 128 };
    const own = { ...entry, processor: cpus()[0]?.model.trim() || process.arch, version };
    const entries = [{ ...own, version: '0.0.0', name: 'old' }, own];
    writeFileSync(join(cache, 'embedding-settings.json'), JSON.stringify({ entries }));
    const again = await lorekeep(['doctor', '--config', path], { env });
    expect(again.stdout).toMatch(/^ok +embedding +m.*\(0123\): llama\.cpp, batches of 128 tokens \(.*\)$/m);
    expect(again.stdout).not.toContain('\u001b[31m');
    expect(again.stdout).not.toMatch(/embedding +old/);
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
    expect(found.of('logs_dir')).toMatchObject({
      status: 'failed',
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

  it('warns of a storage root that is not there', async () => {
    const found = await findings({ port: 0, storage_root: 'gone', network_access: 'local_network' });
    expect(found.of('storage_root')).toMatchObject({
      status: 'warning',
      message: expect.stringContaining('gone does not exist'),
    });
    expect(found.of('port')).toMatchObject({ status: 'ok' });
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
