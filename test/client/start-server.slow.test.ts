import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { ServerStartError, type StartServerOptions, startServer } from '../../dist/src/client/index.js';
import { findProcess } from '../../src/cli/parent-process.js';
import { connect } from '../../src/client/index.js';
import { refusal } from '../helpers/errors.js';
import { temporaryFolder } from '../helpers/folder.js';
import { strings } from '../server/corpus.js';
import { catalogPath, TestServer } from '../server/test-server.js';

const inFolder = temporaryFolder();

/** For machines however busy, in ms. */
const timeoutMs = 150_000;

/** Writes a config with the test's catalog. */
async function configFile(name: string, fields: object = {}): Promise<string> {
  // Makes the catalog and its model.
  await TestServer.start();
  const path = inFolder(name);
  writeFileSync(path, JSON.stringify({ models_catalog_path: catalogPath, logs_dir: '', ...fields }));
  return path;
}

/** What a start that must fail rejects with. */
const rejection = (starting: Promise<unknown>): Promise<unknown> =>
  starting.then(
    () => expect.fail('the server has started'),
    (error: unknown) => error,
  );

async function start(options: StartServerOptions) {
  const server = await startServer({ timeoutMs, ...options });
  onTestFinished(async () => void (await server.close()));
  return server;
}

/** A preloaded module that keeps the server from starting, and the file in which it writes its pid. */
function neverStarting(name: string) {
  const [script, pidFile] = [inFolder(`${name}.cjs`), inFolder(`${name}.pid`)];
  const wait = 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);';
  const note = `require('node:fs').writeFileSync(${JSON.stringify(pidFile)}, String(process.pid));`;
  writeFileSync(script, `${note}\n${wait}`);
  return { env: { NODE_OPTIONS: `--require ${JSON.stringify(script)}` }, pidFile };
}

describe('startServer', () => {
  it('keeps everything in its data folder, and tells what the server warned of', async () => {
    const config = await configFile('misspelt.json', { logs_dir: undefined, thread_cuont: 2 });
    const dataDir = inFolder('data of a product');
    const server = await start({ config, dataDir });
    expect(server.warnings).toEqual([expect.stringMatching(/thread_cuont.*thread_count/)]);
    await server.close();
    expect(readdirSync(inFolder('data of a product', 'logs'))).toEqual(['service.log']);
    expect((await start({ config: await configFile('right.json') })).warnings).toEqual([]);
  });

  it('gives two servers of one data folder a log each', async () => {
    const config = await configFile('shared.json', { logs_dir: undefined });
    const dataDir = inFolder('shared data');
    const both = [await start({ config, dataDir }), await start({ config, dataDir })];
    for (const { close } of both) await close();
    for (const [index, { pid }] of both.entries()) {
      const log = inFolder('shared data', 'logs', index === 0 ? 'service.log' : 'service-2.log');
      const lines = readFileSync(log, 'utf8').trim().split('\n');
      expect(lines.map((line) => JSON.parse(line)).filter((line) => 'pid' in line)).toMatchObject([{ pid }]);
    }
    await start({ config, dataDir });
    expect(readdirSync(inFolder('shared data', 'logs')).filter((name) => name.endsWith('.log'))).toEqual([
      'service-2.log',
      'service.log',
    ]);
  });

  it('refuses a config file that does not exist, which would start a server with the defaults', async () => {
    const error = await rejection(startServer({ config: inFolder('absent.json') }));
    expect(error).toBeInstanceOf(ServerStartError);
    expect((error as Error).message).toContain(`${inFolder('absent.json')} does not exist`);
    await expect(startServer({ dataDir: '' })).rejects.toThrow('dataDir: the path of a folder is expected');
  });

  it('starts a server for connect(), which only clients with its token may use, and close() stops it', async () => {
    const server = await start({ config: await configFile('plain.json') });
    const client = await connect(server);
    expect(client.hello).toMatchObject({ protocol: server.protocol, version: server.version });
    const session = await client.createSession();
    await session.createEmbeddedStringStorage({ name: 'docs', strings, embeddingModel: 'tiny' });
    const stranger = await connect({ port: server.port });
    expect(await refusal(stranger.createSession())).toMatchObject({ code: 2010 });
    await stranger.close();
    const both = await Promise.all([server.close(), server.close()]);
    for (const exit of both) expect(exit).toMatchObject({ code: 0, signal: null });
    expect(both[0].stderr).toContain('"msg":"stopped"');
    expect(both[0].stderr).not.toContain(server.accessToken);
    expect(await server.exited).toEqual(both[0]);
    await client.closed;
  });

  it('makes another token for each server', async () => {
    const config = await configFile('tokens.json');
    const [one, other] = await Promise.all([start({ config }), start({ config })]);
    const client = await connect({ port: one.port, accessToken: other.accessToken });
    expect(await refusal(client.createSession())).toMatchObject({ code: 2011 });
    await client.close();
  });

  it('leaves the access token to a config that names one', async () => {
    writeFileSync(inFolder('secret'), 'the token of this test', { mode: 0o600 });
    const server = await start({ config: await configFile('token.json', { access_token_file: 'secret' }) });
    expect(server.accessToken).toBeUndefined();
    const client = await connect({ port: server.port, accessToken: 'the token of this test' });
    await client.createSession();
    await client.close();
  });

  it('stops the server at the end of a block', async () => {
    let ended: Promise<unknown>;
    {
      await using server = await startServer({ config: await configFile('block.json'), timeoutMs });
      ended = server.exited;
    }
    expect(await ended).toMatchObject({ code: 0 });
  });

  it('gives the server more flags and variables', async () => {
    const config = await configFile('more.json');
    const server = await start({ config, args: ['--idle-shutdown-timeout', '1'] });
    expect(await server.exited).toMatchObject({ code: 0, stderr: expect.stringContaining('no session') });
    const failed = await rejection(start({ config, env: { LOREKEEP_IDLE_SHUTDOWN_TIMEOUT: 'soon' } }));
    expect(String(failed)).toContain('LOREKEEP_IDLE_SHUTDOWN_TIMEOUT');
  });

  it('tells of a server that was killed', async () => {
    const server = await start({ config: await configFile('killed.json') });
    process.kill(server.pid, 'SIGKILL');
    expect(await server.exited).toMatchObject({ code: null, signal: 'SIGKILL' });
    expect(await server.close()).toEqual(await server.exited);
  });

  it('rejects with the end of the log of a server that does not start', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void other.close());
    const { port } = other.address() as { port: number };
    const config = await configFile('busy.json');
    const busy = await rejection(start({ config, args: ['--port', String(port)] }));
    expect(busy).toBeInstanceOf(ServerStartError);
    expect(busy).toMatchObject({ stderr: expect.stringContaining(`port ${port} on 127.0.0.1 is in use`) });
    expect(String(busy)).toMatch(/did not start: it ended with status 1\n(.*\n)*lorekeep: .* is in use/);
    const misspelt = await rejection(startServer({ confg: config } as object));
    expect(String(misspelt)).toMatch(
      /^TypeError: startServer: confg is not an option; they are args, config,/,
    );
    const unknown = await rejection(start({ config, args: ['--prot', '1'] }));
    expect(String(unknown)).toMatch(/ended with status 2\nlorekeep: unknown option '--prot'/);
  });

  it('leaves no process when the time is over or the signal is aborted', async () => {
    const late = neverStarting('late');
    expect(await rejection(start({ env: late.env, timeoutMs: 1 }))).toMatchObject({
      name: 'ServerStartError',
      message: expect.stringContaining('it did not listen within 1 ms'),
    });
    const { env, pidFile } = neverStarting('aborted');
    const controller = new AbortController();
    const aborted = rejection(start({ env, signal: controller.signal }));
    const pid = await vi.waitUntil(() => existsSync(pidFile) && Number(readFileSync(pidFile, 'utf8')), {
      timeout: 120_000,
    });
    const reason = new Error('the user closed the window');
    controller.abort(reason);
    expect(await aborted).toBe(reason);
    expect(findProcess(pid)).toBeUndefined();
    expect(await rejection(start({ env, signal: AbortSignal.abort(reason) }))).toBe(reason);
  });

  it('refuses options of a wrong type or range', async () => {
    const config = { port: 0 } as unknown as string;
    await expect(start({ config })).rejects.toThrow('config: the path of a config file is expected');
    for (const timeoutMs of [0, Number.NaN, 2 ** 31])
      await expect(start({ timeoutMs })).rejects.toThrow(RangeError);
  });
});
