import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { connect } from '../../src/client/index.js';
import { temporaryFolder } from '../helpers/folder.js';
import { Program } from './program.js';
import { RawClient } from './raw-client.js';
import { catalogPath, TestServer } from './test-server.js';

const inFolder = temporaryFolder();

/** Starts `lorekeep serve`; `write` changes its config file. */
async function start(name: string, fields: object) {
  await TestServer.start();
  const path = inFolder(`${name}.json`);
  const base = { port: 0, models_catalog_path: catalogPath, logs_dir: '' };
  const write = (config: object | string) =>
    writeFileSync(path, typeof config === 'string' ? config : JSON.stringify({ ...base, ...config }));
  write(fields);
  const program = Program.run('dist/src/cli/main.js', 'serve', '--config', path);
  const port = Number((await program.printed(/"port":(\d+)/))[1]);
  await program.printed(/"msg":"listening"/);
  let reloads = 0;
  /** Sends SIGHUP and returns the log line that answers it. */
  const reload = async () => {
    program.child.kill('SIGHUP');
    reloads++;
    const lines = await program.printed(new RegExp(`(?:(?:.*\\n)*?.*config (?:not )?reread.*){${reloads}}`));
    return JSON.parse(lines[0].split('\n').at(-1) as string) as Record<string, unknown>;
  };
  return { program, port, write, remove: () => rmSync(path), reload };
}

describe.skipIf(process.platform === 'win32')('a server that is still starting', () => {
  /** The end of a server that gets the signal as soon as lorekeep's first module has run. */
  async function endAfter(signal: string) {
    const path = inFolder('starting.json');
    writeFileSync(path, JSON.stringify({ port: 0, logs_dir: '' }));
    const preload = `let sent = false;
      process.on('newListener', (name) => {
        if (name !== 'SIGHUP' || sent) return;
        sent = true;
        setImmediate(() => process.kill(process.pid, '${signal}'));
      });`;
    writeFileSync(inFolder('preload.mjs'), preload);
    const wrapper = ['env', `NODE_OPTIONS=--import=${pathToFileURL(inFolder('preload.mjs'))}`];
    return Program.runIn(wrapper, 'dist/src/cli/lorekeep.cjs', 'serve', '--config', path);
  }

  it.each(['SIGTERM', 'SIGINT'])('ends well at %s', async (signal) => {
    expect(await (await endAfter(signal)).ended).toEqual({ code: 0, signal: null });
  });

  it('goes on after SIGHUP, and then stops as ever', async () => {
    const program = await endAfter('SIGHUP');
    await program.printed(/"msg":"listening"/);
    program.child.kill('SIGTERM');
    await program.printed(/"msg":"stopping"/);
    expect(await program.ended).toEqual({ code: 0, signal: null });
  });
});

describe.skipIf(process.platform === 'win32')('a running server', () => {
  it('survives SIGUSR1 without a debugger', async () => {
    const { program, port } = await start('debugger', {});
    program.child.kill('SIGUSR1');
    await program.printed(/"signal":"SIGUSR1","msg":"SIGUSR1 has no effect/);
    const raw = await RawClient.connect(port);
    expect(await raw.request({ type: 'Ping', id: 1 })).toMatchObject({ type: 'Pong' });
    program.child.kill('SIGTERM');
    expect(await program.ended).toEqual({ code: 0, signal: null });
    expect(program.stderr).not.toContain('Debugger');
  });

  it('takes over what it can of a changed config on SIGHUP, and names what needs a restart', async () => {
    const { program, port, write, reload } = await start('reread', {});
    expect(await reload()).toMatchObject({ changed: [], needRestart: [] });
    const before = await connect({ port });
    const limits = { max_sessions_per_connection: 1, drain_timeout_ms: 100 };
    write({ log_level: 'debug', limits, thread_count: 7 });
    expect(await reload()).toMatchObject({
      level: 'info',
      changed: ['log_level', 'limits.drain_timeout_ms', 'limits.max_sessions_per_connection'],
      needRestart: ['thread_count'],
    });
    const first = await before.createSession();
    await expect(before.createSession()).rejects.toMatchObject({ code: 2003 });
    // The level holds for clients that were connected before, too.
    await program.printed(/"level":"debug".*request refused/);
    await first.destroy();
    write({});
    expect(await reload()).toMatchObject({ needRestart: [] });
    await before.createSession();
    await before.createSession();
    await before.close();
    program.child.kill('SIGTERM');
    expect(await program.ended).toEqual({ code: 0, signal: null });
  });

  it('rereads the access token; sessions stay open', async () => {
    const token = inFolder('token');
    const save = (text: string) => {
      writeFileSync(token, text);
      chmodSync(token, 0o600);
    };
    save('the first secret of this test');
    const { port, reload } = await start('token', { access_token_file: 'token' });
    const client = await connect({ port, accessToken: 'the first secret of this test' });
    const session = await client.createSession();
    save('the second secret of this test');
    expect(await reload()).toMatchObject({ level: 'info' });
    await expect(client.createSession()).rejects.toMatchObject({ code: 2011 });
    await session.destroy();
    const other = await connect({ port, accessToken: 'the second secret of this test' });
    await other.createSession();
    await Promise.all([client.close(), other.close()]);
  });

  it.each([
    ['of broken JSON', '{"log_level": '],
    ['with a wrong value', JSON.stringify({ log_level: 'loud' })],
    ['with an access token that is absent', JSON.stringify({ port: 0, access_token_file: 'absent' })],
    ['with an empty file', ''],
  ])('goes on after SIGHUP with a config %s', async (_, text) => {
    const { program, port, write, reload } = await start('broken', { log_level: 'info' });
    write(text);
    expect(await reload()).toMatchObject({
      level: 'error',
      msg: expect.stringContaining('the server keeps its config'),
    });
    const client = await connect({ port });
    await client.createSession();
    await client.close();
    // The next good one is taken over.
    write({ log_level: 'debug' });
    expect(await reload()).toMatchObject({ changed: ['log_level'] });
    program.child.kill('SIGTERM');
    expect(await program.ended).toEqual({ code: 0, signal: null });
  });

  it('keeps its access token on SIGHUP when the config file is gone', async () => {
    const token = inFolder('kept-token');
    writeFileSync(token, 'the secret of this test');
    chmodSync(token, 0o600);
    const config = { access_token_file: token };
    const { program, port, write, remove, reload } = await start('gone', config);
    remove();
    expect(await reload()).toMatchObject({
      level: 'error',
      msg: expect.stringMatching(/keeps its config.*config file does not exist/),
    });
    const client = await connect({ port });
    await expect(client.createSession()).rejects.toMatchObject({ code: 2010 });
    await client.close();
    write({ ...config, log_level: 'debug' });
    expect(await reload()).toMatchObject({ changed: ['log_level'] });
    program.child.kill('SIGTERM');
    expect(await program.ended).toEqual({ code: 0, signal: null });
  });
});
