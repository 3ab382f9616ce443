import { mkdirSync, writeFileSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../helpers/folder.js';
import { strings } from './corpus.js';
import { Program } from './program.js';
import { RawClient } from './raw-client.js';
import { catalogPath, TestServer } from './test-server.js';

const inFolder = temporaryFolder();

/** A server that may have 64 file descriptors, with a knowledge base. */
async function smallServer() {
  // Makes the models.
  await TestServer.start();
  mkdirSync(inFolder(), { recursive: true });
  const config = { port: 0, models_catalog_path: catalogPath, storage_root: inFolder(), logs_dir: '' };
  writeFileSync(inFolder('server-config.json'), JSON.stringify(config));
  writeFileSync(
    inFolder('kb.json'),
    JSON.stringify({ embedding_model: 'tiny', records_file: 'records.json' }),
  );
  writeFileSync(inFolder('records.json'), JSON.stringify(strings.map((text, id) => ({ id: `${id}`, text }))));
  const limited = ['prlimit', '--nofile=64'];
  const args = ['dist/src/cli/main.js', 'serve', '--config', inFolder('server-config.json')] as const;
  const program = Program.runIn(limited, ...args);
  const port = Number((await program.printed(/"port":(\d+)/))[1]);
  return { program, port };
}

/** Connections up to the first that is turned away. */
async function untilRefused(port: number): Promise<{ served: RawClient[]; refused: RawClient }> {
  const served: RawClient[] = [];
  for (;;) {
    const raw = await RawClient.connect(port);
    onTestFinished(() => raw.destroy());
    const first = await raw.next(() => true);
    if (first.type === 'Error') return { served, refused: raw };
    served.push(raw);
  }
}

it.runIf(process.platform === 'linux')(
  'a server with 64 file descriptors starts, tells clients that it has none left, and goes on serving',
  async () => {
    const { program, port } = await smallServer();
    const { served, refused } = await untilRefused(port);
    expect(served.length).toBeGreaterThan(5);
    const told = { type: 'Error', reply_to: null, code: 6005, name: 'OutOfDescriptors' };
    expect(refused.received).toMatchObject([{ ...told, message: expect.stringContaining('EMFILE') }]);
    await refused.closed;
    await program.printed(/"code":6005,"msg":"a client was turned away"/);
    const [first, last] = [served[0], served.at(-1)] as [RawClient, RawClient];
    const { session_id } = await first.request<never>({ type: 'CreateSessionRequest', id: 1 });
    const create = {
      type: 'CreateEmbeddedStringStorageRequest',
      session_id,
      name: 'kb',
      config_path: 'kb.json',
    };
    expect(await first.request({ ...create, id: 2 })).toMatchObject({ record_count: strings.length });
    last.destroy();
    await last.closed;
    let again = await RawClient.connect(port);
    while ((await again.next(() => true)).type === 'Error') again = await RawClient.connect(port);
    expect(await again.request({ type: 'Ping', id: 1 })).toMatchObject({ type: 'Pong' });
    again.destroy();
  },
);

it.runIf(process.platform === 'linux')(
  'files that cannot be opened for want of descriptors are not said to be absent, outside or damaged',
  async () => {
    const { program, port } = await smallServer();
    const raw = await RawClient.connect(port);
    onTestFinished(() => raw.destroy());
    const { session_id } = await raw.request<never>({ type: 'CreateSessionRequest', id: 'session' });
    // Fewer than are open already: no file can be opened from now on.
    const lowered = Program.command(['prlimit', `--pid=${program.child.pid}`, '--nofile=8']);
    expect((await lowered.ended).code).toBe(0);
    const create = { type: 'CreateEmbeddedStringStorageRequest', session_id, config_path: 'kb.json' };
    const list = {
      nodes: [{ id: 'say', type: 'canned_response', params: { string_storage: 'records.json' } }],
    };
    const replies = [
      await raw.request({ ...create, id: 1, name: 'a' }),
      await raw.request({ type: 'CreateAgentRequest', id: 2, session_id, graph: list }),
    ];
    for (const reply of replies) expect(reply).toMatchObject({ code: 6005, name: 'OutOfDescriptors' });
    expect(await raw.request({ type: 'Ping', id: 3 })).toMatchObject({ type: 'Pong' });
  },
);
