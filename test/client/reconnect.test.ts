import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type Client, type ConnectionState, type ConnectOptions, connect } from '../../src/client/index.js';
import { delayOf, reconnectPolicy } from '../../src/client/reconnect.js';
import { FakeTextModel } from '../helpers/fake-text-model.js';
import { temporaryFolder } from '../helpers/folder.js';
import { corpus } from '../server/corpus.js';
import { Program } from '../server/program.js';
import { catalogPath, retrieveGraph, TestServer } from '../server/test-server.js';

const file = temporaryFolder();
const strings = corpus.map(({ text }) => text);
const docs = { name: 'docs', strings, embeddingModel: 'tiny' };
const quick = { attempts: 200, minDelayMs: 1, maxDelayMs: 20 };
const lost = { name: 'ConnectionLostError' };

/** The language model of the servers. */
const model = new FakeTextModel();

/** A client that tells its states, and the server that it is connected to. */
async function connected(options: ConnectOptions = {}) {
  const loadLanguageModel = async () => model;
  const config = { storage_root: file(), memories_dir: file('memories') };
  const first = await TestServer.start({ config, loadLanguageModel });
  const states: ConnectionState[] = [];
  const waiting: (() => void)[] = [];
  const onState = (state: ConnectionState) => {
    states.push(state);
    for (const look of waiting.splice(0)) look();
  };
  const client: Client = await connect({ port: first.port, reconnect: quick, onState, ...options });
  onTestFinished(() => client.close());
  const reached = async (state: ConnectionState) => {
    while (!states.includes(state)) await new Promise<void>((resolve) => waiting.push(resolve));
  };
  /** Takes the server down and puts another at its port. */
  const restart = async () => {
    const { port } = first;
    await first.server.close();
    await TestServer.start({ config: { ...config, port }, loadLanguageModel });
  };
  return { client, states, reached, restart, first };
}

describe('a client that may reconnect', () => {
  it('finds its sessions, storages and agents again after the server was restarted', async () => {
    const { client, states, restart } = await connected();
    const session = await client.createSession();
    await session.createEmbeddedStringStorage(docs);
    await session.createEmbeddedStringStorage({ ...docs, name: 'gone' });
    await session.destroyEmbeddedStringStorage('gone');
    const agent = await session.createAgent({ graph: retrieveGraph(), enableDiagnostics: true });
    const dropped = await session.createAgent({ graph: retrieveGraph() });
    await dropped.destroy();
    const other = await client.createSession();
    await other.destroy();
    await restart();
    const complete = await agent.turn(corpus[0].question);
    expect(complete.status).toBe('completed');
    const { hits } = await session.search({ name: 'docs', text: corpus[1].question });
    expect(hits[0]?.text).toBe(corpus[1].text);
    await expect(session.search({ name: 'gone', text: 'bees' })).rejects.toMatchObject({ code: 8005 });
    expect(states).toEqual(['reconnecting', 'connected']);
  });

  it('goes on with the history of its agents', async () => {
    const { client, restart } = await connected();
    const session = await client.createSession();
    const graph = { nodes: [{ id: 'talker', type: 'generate' as const }] };
    const history = { version: 1 as const, turns: [{ text: 'zero', reply: 'none' }] };
    const agent = await session.createAgent({ graph, history });
    await agent.turn('one');
    await agent.turn('unseen', { dryRun: true });
    await restart();
    await agent.turn('two');
    const contents = model.prompts.at(-1)?.map(({ content }) => content);
    expect(contents).toEqual(['zero', 'none', 'one', 'ok', 'two']);
  });

  it('has its storages as they were changed, and nothing that was forgotten', async () => {
    const { client, restart } = await connected();
    const session = await client.createSession();
    const texts = async () => (await session.listRecords({ name: 'docs' })).records.map(({ text }) => text);
    await session.createEmbeddedStringStorage({
      ...docs,
      strings: ['Bees dance.', 'Ice melts.', 'Rain falls.', 'The owl knows.'],
    });
    await session.updateEmbeddedStringStorage({
      name: 'docs',
      add: [{ id: 'x', text: 'Bread bakes.' }],
      replace: [{ id: '2', text: 'Snow falls.' }],
      remove: ['1'],
    });
    const agent = await session.createAgent({ graph: { nodes: [{ id: 'talker', type: 'generate' }] } });
    await agent.turn('I like that: Bees dance.');
    await agent.turn('Hello!');
    const { histories } = await session.forgetRecords({ name: 'docs', ids: ['0'], histories: true });
    expect(histories).toMatchObject([{ removed: true }]);
    const stopped = new AbortController();
    const { signal } = stopped;
    const aborted = [
      session.forgetRecords({ name: 'docs', ids: ['3'] }, { signal }),
      session.updateEmbeddedStringStorage(
        { name: 'docs', add: [{ id: 'y', text: 'Tea cools.' }] },
        { signal },
      ),
    ];
    setImmediate(() => stopped.abort());
    await Promise.allSettled(aborted);
    await vi.waitFor(async () =>
      expect(await texts()).toEqual(['Bread bakes.', 'Snow falls.', 'Tea cools.']),
    );
    await restart();
    expect(await texts()).toEqual(['Bread bakes.', 'Snow falls.', 'Tea cools.']);
    expect((await agent.export()).turns.map(({ text }) => text)).toEqual(['Hello!']);
  });

  it('opens memories that last by their secrets', async () => {
    const { client, restart } = await connected();
    const session = await client.createSession();
    const params = { storage: 'memory', embeddingModel: 'tiny', scope: 'agent' as const };
    const graph = { nodes: [{ id: 'keep', type: 'remember' as const, params }] };
    const agent = await session.createAgent({ graph });
    await agent.turn('Bees dance.');
    await restart();
    await agent.turn('Bees sing.');
    const { records } = await session.listRecords({ name: 'memory' });
    expect(records.map(({ text }) => text)).toEqual(['Bees dance.', 'Bees sing.']);
  });

  it('tells of what was under way that it is lost, and lets new requests wait', async () => {
    const { client, restart, reached } = await connected();
    const session = await client.createSession();
    const many = Array.from({ length: 50_000 }, (_, index) => `text ${index} about bees and ice`);
    const making = session.createEmbeddedStringStorage({ ...docs, strings: many });
    // The stopping server says so (1008) where it still can.
    const outcome = making.then(
      () => expect.fail('it was made'),
      (error) => expect(['ServerShuttingDown', 'ConnectionLostError']).toContain(error.name),
    );
    const restarted = restart();
    await outcome;
    await reached('reconnecting');
    const waiting = client.ping();
    await restarted;
    await waiting;
    expect(await session.createEmbeddedStringStorage(docs)).toMatchObject({ recordCount: strings.length });
  });

  it('says of a session that cannot be made again why, and goes on with the others', async () => {
    mkdirSync(file('kb'), { recursive: true });
    writeFileSync(
      file('kb/kb.json'),
      JSON.stringify({ embedding_model: 'tiny', records_file: 'records.json' }),
    );
    writeFileSync(file('kb/records.json'), JSON.stringify([{ id: 'a', text: strings[0] }]));
    const { client, restart } = await connected();
    const [broken, whole] = [await client.createSession(), await client.createSession()];
    await broken.createEmbeddedStringStorage({ name: 'kb', configPath: 'kb/kb.json' });
    await whole.createEmbeddedStringStorage(docs);
    rmSync(file('kb/kb.json'));
    await restart();
    const { hits } = await whole.search({ name: 'docs', text: corpus[2].question, topK: 1 });
    expect(hits).toHaveLength(1);
    await expect(broken.search({ name: 'kb', text: 'bees' })).rejects.toMatchObject({
      code: 3010,
      message: expect.stringMatching(/^the session could not be made again .*kb\/kb\.json/),
    });
  });

  it('gives up after the attempts that it was given', async () => {
    const { client, states, first } = await connected({ reconnect: { ...quick, attempts: 3 } });
    const session = await client.createSession();
    await first.server.close();
    await client.closed;
    await expect(session.search({ name: 'docs', text: 'bees' })).rejects.toMatchObject({
      ...lost,
      message: expect.stringContaining('3 attempts to reconnect'),
    });
    expect([client.state, states]).toEqual(['closed', ['reconnecting', 'closed']]);
  });

  it('stops trying when it is closed, also towards a server that never greets', async () => {
    const { client, first, reached } = await connected();
    const { port } = first;
    await first.server.close();
    await reached('reconnecting');
    const silent = createServer(() => {});
    await new Promise<void>((resolve) => silent.listen(port, '127.0.0.1', resolve));
    onTestFinished(() => void silent.close());
    const accepted = new Promise((resolve) => silent.once('connection', resolve));
    const waiting = expect(client.ping()).rejects.toMatchObject(lost);
    await accepted;
    await client.close();
    await waiting;
    expect(client.state).toBe('closed');
  });

  it('need not wait for a new connection with what is aborted', async () => {
    const { client, first, reached } = await connected({ reconnect: { ...quick, attempts: 1_000_000 } });
    const session = await client.createSession();
    await first.server.close();
    await reached('reconnecting');
    const controller = new AbortController();
    const { signal } = controller;
    const waiting = [client.ping({ signal }), session.search({ name: 'docs', text: 'bees' }, { signal })];
    controller.abort(new Error('enough'));
    for (const request of waiting) await expect(request).rejects.toThrow('enough');
    expect(client.state).toBe('reconnecting');
  });

  it('does not reconnect unless it is told to', async () => {
    const { client, first, states } = await connected({ reconnect: false });
    await first.server.close();
    await client.closed;
    await expect(client.ping()).rejects.toMatchObject(lost);
    expect(states).toEqual(['closed']);
  });
});

/** The real server in a process of its own. Resolves with its port when it listens. */
async function serve(config: string, port: string): Promise<{ program: Program; port: string }> {
  const program = Program.run('dist/src/cli/main.js', 'serve', '--config', config, '--port', port);
  const [, listening] = await program.printed(/"port":(\d+)/);
  return { program, port: listening as string };
}

it('a client outlives a killed server: its successor has everything again', async () => {
  // Makes the catalog and its model.
  await TestServer.start();
  const config = file('server-config.json');
  writeFileSync(config, JSON.stringify({ models_catalog_path: catalogPath, logs_dir: '' }));
  const { program, port } = await serve(config, '0');
  const client = await connect({ port: Number(port), reconnect: { ...quick, attempts: 10_000 } });
  onTestFinished(() => client.close());
  const session = await client.createSession();
  await session.createEmbeddedStringStorage(docs);
  const agent = await session.createAgent({ graph: retrieveGraph(), enableDiagnostics: true });
  // Enough that the server dies in the middle of it.
  const many = Array.from({ length: 100_000 }, (_, index) => `honey of the year ${index}`);
  const making = session.createEmbeddedStringStorage({ ...docs, name: 'many', strings: many });
  const outcome = making.catch((error: unknown) => error);
  await client.ping();
  program.child.kill('SIGKILL');
  expect(await outcome).toMatchObject(lost);
  await program.ended;
  const waiting = agent.turn(corpus[0].question);
  await serve(config, port);
  expect(await waiting).toMatchObject({
    status: 'completed',
    diagnostics: { nodes: [{ type: 'retrieve' }] },
  });
  await expect(session.search({ name: 'many', text: 'honey' })).rejects.toMatchObject({ code: 8005 });
});

describe('a reconnect policy', () => {
  it('waits longer each time, never for more than it may, and never the same for all', () => {
    const policy = { attempts: 9, minDelayMs: 100, maxDelayMs: 1000 };
    for (let attempt = 0; attempt < 9; attempt++) {
      const longest = Math.min(1000, 100 * 2 ** attempt);
      const delays = Array.from({ length: 50 }, () => delayOf(policy, attempt));
      expect(Math.min(...delays)).toBeGreaterThanOrEqual(longest / 2);
      expect(Math.max(...delays)).toBeLessThanOrEqual(longest);
      expect(new Set(delays).size).toBeGreaterThan(1);
    }
  });

  it('is refused when it makes no sense', () => {
    expect(reconnectPolicy(false)).toBeUndefined();
    expect(reconnectPolicy(true)).toEqual({ attempts: 10, minDelayMs: 100, maxDelayMs: 5000 });
    expect(() => reconnectPolicy({ attempts: 0 })).toThrow('reconnect.attempts: an integer from 1');
    expect(() => reconnectPolicy({ minDelayMs: 9000 })).toThrow('reconnect.maxDelayMs: an integer from 9000');
  });
});

it('a client that pings is not silent, and a time between pings that is none is refused', async () => {
  const config = { limits: { idle_connection_timeout_ms: 1500 } };
  const { port } = await TestServer.start({ config });
  const pinging = await connect({ port, pingMs: 20 });
  for (let round = 0; round < 2; round++) await (await connect({ port })).closed;
  expect(pinging.state).toBe('connected');
  await pinging.close();
  for (const pingMs of [0, -1, Number.NaN, 2 ** 31])
    await expect(connect({ port, pingMs })).rejects.toThrow(RangeError);
});
