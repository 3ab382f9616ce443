import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { findProcess, isRunning, npxPid, type ProcessIdentity } from '../../src/cli/parent-process.js';
import { connect } from '../../src/client/index.js';
import { temporaryFolder } from '../helpers/folder.js';
import { Program } from '../server/program.js';
import { catalogPath, TestServer } from '../server/test-server.js';
import { lorekeep } from './command.js';

const inFolder = temporaryFolder();
const cli = 'dist/src/cli/lorekeep.cjs';
const product = join(import.meta.dirname, '../client/children/embedding-product.mjs');

async function configFile(): Promise<string> {
  // Makes the catalog and its model.
  await TestServer.start();
  const path = inFolder('server-config.json');
  // Longer than the test may take: only the limit for a server without a parent ends its work.
  const limits = { drain_timeout_ms: 3_600_000 };
  writeFileSync(path, JSON.stringify({ models_catalog_path: catalogPath, logs_dir: '', limits }));
  return path;
}

/** Resolves when the process has ended. No event tells of a process that is no child. */
const gone = (one: ProcessIdentity) => vi.waitUntil(() => !isRunning(one), { timeout: 120_000 });

function started(child: ChildProcess): ChildProcess {
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

/** Any process that runs until it is killed. */
const bystander = () => started(spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e9)']));

/** Starts a server that ends with the process `pid`. */
const serveFor = (pid: number | undefined, config: string) =>
  Program.run(cli, 'serve', '--config', config, '--port', '0', '--parent-pid', `${pid}`);

describe('a server that a program has started', () => {
  it.each(['SIGKILL', 'SIGTERM', 'exit', 'throw'])('ends when the program ends by %s', async (end) => {
    const child = started(
      fork(product, [await configFile()], { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] }),
    );
    const [server] = (await once(child, 'message')) as [{ port: number; pid: number; accessToken: string }];
    const client = await connect(server);
    await client.createSession();
    const running = findProcess(server.pid) ?? expect.fail('the server does not run');
    if (end.startsWith('SIG')) child.kill(end as NodeJS.Signals);
    else child.send(end);
    await once(child, 'exit');
    await client.closed;
    await gone(running);
  });
});

describe('lorekeep serve --parent-pid', () => {
  it('--ready-file has that line, or why the server did not start, whole and for its owner alone', async () => {
    const parent = `${bystander().pid}`;
    const config = await configFile();
    const [ready, failed] = [inFolder('ready.json'), inFolder('failed.json')];
    const program = Program.run(
      ...[cli, 'serve', '--config', config, '--port', '0', '--parent-pid', parent],
      ...['--ready-file', ready],
    );
    const text = await vi.waitUntil(() => existsSync(ready) && readFileSync(ready, 'utf8'), {
      timeout: 120_000,
    });
    const { port, token } = JSON.parse(text) as { port: number; token: string };
    const client = await connect({ port, accessToken: token });
    await client.createSession();
    expect(statSync(ready).mode & 0o777).toBe(0o600);
    program.child.kill('SIGKILL');
    const damaged = inFolder('damaged.json');
    writeFileSync(damaged, '{');
    const { status } = await lorekeep([
      'serve',
      '--config',
      damaged,
      '--parent-pid',
      parent,
      '--ready-file',
      failed,
    ]);
    expect(status).not.toBe(0);
    expect(JSON.parse(readFileSync(failed, 'utf8'))).toEqual({
      error: expect.stringContaining('damaged.json'),
    });
    const alone = await lorekeep(['serve', '--ready-file', ready]);
    expect(alone).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('--ready-file needs --parent-pid'),
    });
  });

  it('prints one line of JSON, logs to stderr, and stops as by SIGTERM when that process is killed', async () => {
    const parent = bystander();
    const config = await configFile();
    const program = serveFor(parent.pid, config);
    const [line] = await program.printed(/^.*\n/);
    const { port, token } = JSON.parse(line) as { port: number; token: string };
    const manifest = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'));
    const told = { port: expect.any(Number), token: expect.stringMatching(/^[\w-]{43}$/), protocol: 1 };
    expect(JSON.parse(line)).toEqual({ ...told, pid: program.child.pid, version: manifest.version });
    const client = await connect({ port, accessToken: token });
    await client.createSession();
    parent.kill('SIGKILL');
    expect(await program.ended).toEqual({ code: 0, signal: null });
    await client.closed;
    expect(program.stdout).toBe(line);
    expect(program.stderr).toMatch(
      /"msg":"listening"(.*\n)*.*the parent process has ended(.*\n)*.*"stopped"/,
    );
    expect(program.stderr).not.toContain(token);
  });

  it('names the access token file of the config instead of a token', async () => {
    await TestServer.start();
    const [config, access_token_file] = [inFolder('with-token.json'), inFolder('secret')];
    writeFileSync(access_token_file, 'the token of this test', { mode: 0o600 });
    writeFileSync(
      config,
      JSON.stringify({ models_catalog_path: catalogPath, logs_dir: '', access_token_file }),
    );
    const program = serveFor(process.pid, config);
    const line = JSON.parse((await program.printed(/^.*\n/))[0]);
    expect(line).toMatchObject({ access_token_file });
    expect(line).not.toHaveProperty('token');
    program.child.kill('SIGTERM');
    expect(await program.ended).toEqual({ code: 0, signal: null });
  });

  it('does not wait for long work of other clients', async () => {
    const parent = bystander();
    const config = await configFile();
    const program = serveFor(parent.pid, config);
    const { port, token } = JSON.parse((await program.printed(/^.*\n/))[0]) as {
      port: number;
      token: string;
    };
    const client = await connect({ port, accessToken: token });
    const session = await client.createSession();
    const many = Array.from({ length: 100_000 }, (_, index) => `honey of the year ${index}`);
    const making = session.createEmbeddedStringStorage({
      name: 'docs',
      strings: many,
      embeddingModel: 'tiny',
    });
    making.catch(() => {});
    await vi.waitUntil(() => program.stderr.includes('"msg":"model loaded"'), { timeout: 120_000 });
    parent.kill('SIGKILL');
    expect(await program.ended).toEqual({ code: 0, signal: null });
    expect(program.stderr).toContain('the parent process has ended');
    await client.closed;
  });

  it('refuses a pid that no process has', async () => {
    const ended = bystander();
    ended.kill('SIGKILL');
    await once(ended, 'exit');
    for (const [pid, reason] of [
      [`${ended.pid}`, `--parent-pid: no other process has the pid ${ended.pid}`],
      ['0', 'an integer from 1 to 2147483647 is expected'],
      ['self', 'an integer from 1 to 2147483647 is expected'],
    ] as const) {
      const { status, stdout, stderr } = await lorekeep(['serve', '--port', '0', '--parent-pid', pid]);
      expect([status, stdout], pid).toEqual([2, '']);
      expect(stderr.trim().split('\n'), pid).toEqual([expect.stringContaining(reason)]);
    }
  });
});

describe.skipIf(process.platform !== 'linux')('a process', () => {
  it('is not another process that got its pid later', () => {
    const own = findProcess(process.pid);
    expect(own).toEqual({ pid: process.pid, startTime: expect.stringMatching(/^\d+$/) });
    expect(isRunning({ pid: process.pid, startTime: own?.startTime })).toBe(true);
    expect(isRunning({ pid: process.pid, startTime: '1' })).toBe(false);
  });

  it('has ended though nobody has asked for its exit status', async () => {
    const script = `${JSON.stringify(process.execPath)} -e "process.stdin.resume()" <&3 & echo $!; wait`;
    const shell = started(spawn('/bin/sh', ['-c', script], { stdio: ['ignore', 'pipe', 'inherit', 'pipe'] }));
    const [text] = (await once(shell.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
    const child = findProcess(Number(text));
    if (child === undefined) expect.fail('the child has not started');
    // A stopped parent asks for nothing.
    shell.kill('SIGSTOP');
    await vi.waitUntil(() => readFileSync(`/proc/${shell.pid}/stat`, 'utf8').includes(') T '));
    process.kill(child.pid, 'SIGKILL');
    await gone(child);
    expect(findProcess(child.pid)).toBeUndefined();
    expect(readFileSync(`/proc/${child.pid}/stat`, 'utf8')).toContain(') Z ');
  });
});

describe.skipIf(process.platform === 'win32')('npx lorekeep serve', () => {
  // As npx does it: a shell that waits for the server.
  const npx = `require('node:child_process').spawn('sh', ['-c', '"$0" "$@"; exit', ...process.argv.slice(1)], {
    stdio: 'inherit', env: { ...process.env, npm_lifecycle_event: 'npx', npm_lifecycle_script: 'lorekeep' } })`;

  it('ends when npx is killed', async () => {
    const args = ['serve', '--config', await configFile(), '--port', '0'];
    const program = Program.command([process.execPath, '-e', npx, process.execPath, cli, ...args]);
    const [, pid] = await program.printed(/"pid":(\d+)/);
    await program.printed(/"msg":"listening"/);
    const server = findProcess(Number(pid)) ?? expect.fail('the server does not run');
    program.child.kill('SIGKILL');
    await gone(server);
    expect(program.stdout).toContain('the parent process has ended');
  });

  it('is told from a server that another program of npx starts', () => {
    const parent = bystander().pid;
    const npxOf = (npm_lifecycle_script: string) =>
      npxPid({ npm_lifecycle_event: 'npx', npm_lifecycle_script }, parent);
    expect(npxOf('lorekeep serve')).toBe(parent);
    expect(npxOf('some-editor')).toBeUndefined();
    expect(npxPid({}, parent)).toBeUndefined();
  });
});
