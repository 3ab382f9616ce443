import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { setThrottle } from '../../lib/index.js';
import { createLog, setLogLevel } from '../../src/log/log.js';
import { temporaryFolder } from '../helpers/folder.js';
import { TestServer } from '../server/test-server.js';

const enabled = { config: { debug_commands: { enabled: true } } };
const inFolder = temporaryFolder();

/** A client of a server with debug commands. */
async function debugClient() {
  const server = await TestServer.start(enabled);
  const raw = await server.raw();
  const session = { type: 'CreateSessionRequest', id: 0, storage_data_folder: inFolder() };
  const { session_id } = (await raw.request(session)) as unknown as { session_id: string };
  let id = 0;
  const run = (command: string, args?: object) =>
    raw.request({ type: 'DebugCommandRequest', id: ++id, session_id, command, ...(args && { args }) });
  const result = async <T>(command: string, args?: object): Promise<T> => {
    const reply = (await run(command, args)) as unknown as { type: string; result: T };
    expect(reply).toMatchObject({ type: 'DebugCommandResponse', reply_to: id });
    return reply.result;
  };
  return { server, raw, session_id, run, result };
}

describe('debug commands', () => {
  it('are an unknown request unless they are enabled', async () => {
    const server = await TestServer.start();
    const raw = await server.raw();
    const created = await raw.request({ type: 'CreateSessionRequest', id: 0 });
    const { session_id } = created as unknown as { session_id: string };
    const request = { type: 'DebugCommandRequest', id: 1, session_id, command: 'commands' };
    const reply = await raw.request(request);
    expect(reply).toMatchObject({ type: 'Error', code: 1002 });
    expect(JSON.stringify(reply)).not.toMatch(/Debug.*Debug/);
  });

  it('list themselves, and show scheduler, language models, storages and budgets', async () => {
    const { result, raw, session_id } = await debugClient();
    const list = await result<{ name: string }[]>('commands');
    expect(list.map(({ name }) => name)).toEqual(
      expect.arrayContaining([
        'scheduler',
        'language_models',
        'storages',
        'budgets',
        'evict',
        'pause',
        'crash',
      ]),
    );
    expect(await result('scheduler')).toMatchObject({ running: 0, throttle: 0 });
    expect(await result('language_models')).toEqual([]);
    expect(await result('storages')).toEqual([]);
    const budgets = await result<{ clients: { address: string }[] }>('budgets');
    expect(budgets.clients).toHaveLength(1);
    await raw.request({ type: 'DestroySessionRequest', id: 1, session_id });
  });

  it('close the storages that nobody pins, and no others', async () => {
    writeFileSync(inFolder('records.json'), JSON.stringify([{ id: 'a', text: 'bees' }]));
    const kb = { version: 1, embedding_model: 'tiny', records_file: 'records.json' };
    writeFileSync(inFolder('kb.json'), JSON.stringify(kb));
    const { result, raw, session_id } = await debugClient();
    const create = await raw.request({
      ...{ type: 'CreateEmbeddedStringStorageRequest', id: 'c', session_id, name: 'kb' },
      config_path: 'kb.json',
    });
    expect(create).toMatchObject({ type: 'CreateEmbeddedStringStorageResponse' });
    expect(await result('storages')).toMatchObject([{ state: 'Pinned', pins: 1 }]);
    expect(await result('evict')).toEqual({ evicted: 0 });
    await raw.request({ type: 'DestroyEmbeddedStringStorageRequest', id: 'd', session_id, name: 'kb' });
    expect(await result('storages')).toMatchObject([{ state: 'OnDemand' }]);
    expect(await result('evict')).toEqual({ evicted: 1 });
    expect(await result('storages')).toEqual([]);
  });

  it('pause inference for a time', async () => {
    const { result } = await debugClient();
    expect(await result('pause', { ms: 60_000, level: 0.5 })).toEqual({ level: 0.5, ms: 60_000 });
    expect(await result('scheduler')).toMatchObject({ throttle: 0.5 });
    // A further pause replaces it; its end is waited for, not timed.
    await result('pause', { ms: 1, level: 0.25 });
    await expect.poll(() => result('scheduler')).toMatchObject({ throttle: 0 });
    setThrottle(0);
  });

  it.each([
    [{ command: 'schedular' }, 'command', 'scheduler'],
    [{ command: 'pause', args: {} }, 'args.ms', undefined],
    [{ command: 'pause', args: { ms: 1, levl: 1 } }, 'args.levl', 'level'],
    [{ command: 'pause', args: { ms: 1, level: 2 } }, 'args.level', undefined],
    [{ command: 'crash', args: { kind: 'other' } }, 'args.kind', undefined],
    [{ command: 'log_level', args: { level: 'loud' } }, 'args.level', undefined],
    [{ command: 'toString' }, 'command', undefined],
    [{}, 'command', undefined],
  ])('refuse %j with the place of the mistake', async (fields, path, nearest) => {
    const { raw, session_id } = await debugClient();
    const reply = await raw.request({ type: 'DebugCommandRequest', id: 1, session_id, ...fields });
    const details = nearest === undefined ? { path } : { path, nearest };
    expect(reply).toMatchObject({ type: 'Error', code: 1004, details });
  });

  it('need a session of the client', async () => {
    const { server } = await debugClient();
    const other = await server.raw();
    const request = { type: 'DebugCommandRequest', id: 1, session_id: 's1', command: 'commands' };
    expect(await other.request(request)).toMatchObject({ type: 'Error', code: 2001 });
  });
});

it('the level of a log changes for its children and theirs, too', () => {
  const lines: string[] = [];
  const log = createLog('info', { write: (line: string) => void lines.push(line) });
  const child = log.child({ client: 'c' });
  const grandchild = child.child({ session: 's' });
  grandchild.debug('before');
  setLogLevel(log, 'debug');
  grandchild.debug('after');
  setLogLevel(log, 'error');
  for (const one of [log, child, grandchild]) one.warn('quiet');
  expect(lines.map((line) => JSON.parse(line).msg)).toEqual(['after']);
});
