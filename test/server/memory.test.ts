import { expect, it } from 'vitest';
import type { ClientAgent, Graph } from '../../src/client/index.js';
import type { ServerFrames } from '../../src/protocol/frames.js';
import { strings } from './corpus.js';
import { RawClient } from './raw-client.js';
import { retrieveGraph, TestServer } from './test-server.js';

/** The header of a JSON frame of so many bytes. */
function header(length: number): Buffer {
  const bytes = Buffer.from([1, 0, 0, 0, 0]);
  bytes.writeUInt32BE(length, 1);
  return bytes;
}

const mebibyte = 2 ** 20;

const isError = (frame: { type: string }) => frame.type === 'Error';

it('a connection beyond max_connections, or max_connections_per_address, is told so and closed', async () => {
  for (const field of ['max_connections', 'max_connections_per_address'] as const) {
    const server = await TestServer.start({ config: { limits: { [field]: 2 } } });
    const first = await server.raw();
    await server.raw();
    const third = await RawClient.connect(server.port);
    expect(await third.next(() => true)).toMatchObject({
      type: 'Error',
      code: 6003,
      reply_to: null,
      message: expect.stringContaining(`limit of 2 connections (limits.${field})`),
      details: { field: `limits.${field}`, limit: 2 },
    });
    await third.closed;
    first.destroy();
    await expect.poll(() => server.server.connections).toBe(1);
    await server.connect();
  }
});

it('a connection without a session that sends nothing is closed after idle_connection_timeout_ms', async () => {
  const server = await TestServer.start({ config: { limits: { idle_connection_timeout_ms: 1000 } } });
  const session = await server.session();
  const idle = await server.raw();
  expect(await idle.next(isError)).toMatchObject({ code: 6004, details: { limit_ms: 1000 } });
  await idle.closed;
  await session.destroy();
});

it("a session's folder counts against its client's budget", async () => {
  const server = await TestServer.start({ config: { max_memory_mb: 64, max_client_memory_mb: 12 } });
  const raw = await server.raw();
  const storage_data_folder = `/${'\u6771'.repeat(32_000)}`;
  let made = 0;
  for (let id = 0; ; id++) {
    const reply = await raw.request<ServerFrames['CreateSessionResponse' | 'Error']>({
      ...{ type: 'CreateSessionRequest', id, storage_data_folder },
    });
    if (reply.type === 'Error') {
      expect(reply.code).toBe(6001);
      break;
    }
    made++;
  }
  expect(made * 2 * storage_data_folder.length).toBeLessThan(8 * mebibyte);
});

it('a frame that can never fit is skipped and refused, naming the budget and both numbers; the connection goes on', async () => {
  const server = await TestServer.start({ config: { max_memory_mb: 64, max_client_memory_mb: 12 } });
  const raw = await server.raw();
  const payload = Buffer.alloc(3 * mebibyte, ' ');
  payload.write('{"type":"Ping","id":"large"');
  raw.bytes(header(payload.length));
  for (let at = 0; at < payload.length; at += 100_000) raw.bytes(payload.subarray(at, at + 100_000));
  raw.bytes(header(23));
  raw.bytes(Buffer.from('{"type":"Ping","id":77}'));
  expect(await raw.next(isError)).toMatchObject({
    code: 6001,
    name: 'ClientMemoryExceeded',
    reply_to: 'large',
    message: expect.stringMatching(/9\.0 MiB would be in use, 4\.0 MiB are allowed by this client's budget/),
    details: { budget: 'client', memory: 'total', needed: expect.any(Number), limit: 4 * mebibyte },
  });
  expect(await raw.next((frame) => frame.type === 'Pong')).toMatchObject({ reply_to: 77 });
});

it('what arrives of a frame that can never fit takes no memory', async () => {
  const server = await TestServer.start({ config: { max_memory_mb: 64, max_client_memory_mb: 12 } });
  const raw = await server.raw();
  const payload = Buffer.alloc(40 * mebibyte, ' ');
  raw.bytes(header(payload.length));
  raw.bytes(payload);
  await raw.next(isError);
  raw.send({ type: 'StatusRequest', id: 1 });
  const status = await raw.next<ServerFrames['StatusResponse']>((frame) => frame.type === 'StatusResponse');
  expect(status.client.by_kind.receiving).toBeLessThan(mebibyte);
});

it('clients that do not finish their frames are closed, the largest first, and another one notices nothing', async () => {
  const limits = { memory_wait_ms: 200 };
  const server = await TestServer.start({ config: { max_memory_mb: 48, max_client_memory_mb: 24, limits } });
  const other = await server.session();
  const attackers = await Promise.all(Array.from({ length: 12 }, () => server.raw()));
  for (const attacker of attackers) {
    attacker.bytes(header(2 * mebibyte));
    attacker.bytes(Buffer.alloc(2 * mebibyte - 1, ' '));
  }
  const closed = await Promise.race(attackers.map((attacker) => attacker.next(isError)));
  expect(closed).toMatchObject({ code: 6002, details: { budget: 'server' }, reply_to: null });
  await other.destroy();
  expect(attackers.some(({ received }) => !received.some(isError))).toBe(true);
  // Those that were not closed go on.
  const rest = attackers.filter(({ received }) => !received.some(isError));
  await Promise.any(
    rest.map(async (attacker) => {
      attacker.bytes(Buffer.from(' '));
      await attacker.next(
        (frame): frame is ServerFrames['Error'] => frame.type === 'Error' && frame.code === 1001,
      );
    }),
  );
});

it('agents count for their client until they are destroyed, whatever makes them large', async () => {
  const server = await TestServer.start({ config: { max_memory_mb: 64, max_client_memory_mb: 6 } });
  const attacker = await server.session();
  const other = await server.session();
  await attacker.createEmbeddedStringStorage({ name: 'docs', strings, embeddingModel: 'tiny' });
  const query = '{{a}}'.repeat(3000);
  const { nodes } = retrieveGraph({ query });
  const graph = { nodes: Array.from({ length: 16 }, (_, id) => ({ ...nodes[0], id: `n${id}` })) } as Graph;
  const agents: ClientAgent[] = [];
  const createMany = async () => {
    while (agents.length < 100) agents.push(await attacker.createAgent({ graph }));
  };
  await expect(createMany()).rejects.toMatchObject({
    code: 6001,
    message: expect.stringMatching(
      /^(graph\.nodes\[\d+\]: )?the agent was not created: .* are allowed by this client's budget/,
    ),
  });
  expect(agents.length).toBeGreaterThan(2);
  await other.createEmbeddedStringStorage({ name: 'docs', strings, embeddingModel: 'tiny' });
  await (await other.createAgent({ graph })).destroy();
  await agents.pop()?.destroy();
  await attacker.createAgent({ graph });
});

it('inline storages are refused before they are built when they would not fit', async () => {
  const server = await TestServer.start({ config: { max_memory_mb: 64, max_client_memory_mb: 12 } });
  const session = await server.session();
  const many = Array.from({ length: 9000 }, (_, index) => `bees ${index}`);
  const fields = { name: 'many', strings: many, embeddingModel: 'tiny' };
  await expect(session.createEmbeddedStringStorage(fields)).rejects.toMatchObject({
    code: 6001,
    message: expect.stringMatching(/^strings: the storage was not created: /),
  });
  await session.createEmbeddedStringStorage({ ...fields, strings });
});

it('a search that could find more than may be sent is refused; one for fewer hits is not', async () => {
  const server = await TestServer.start({ config: { max_memory_mb: 48, max_client_memory_mb: 24 } });
  const session = await server.session();
  // Blanks are no tokens: a model takes as many as there are.
  const long = strings.map((text) => `${text}${' '.repeat(560_000)}`);
  await session.createEmbeddedStringStorage({
    name: 'docs',
    strings: long.slice(0, 4),
    embeddingModel: 'tiny',
  });
  const search = { name: 'docs', text: 'bees', mode: 'lexical' } as const;
  await expect(session.search({ ...search, topK: 4 })).rejects.toMatchObject({
    code: 6001,
    message: expect.stringContaining('ask for fewer hits (top_k)'),
  });
  expect((await session.search({ ...search, topK: 1 })).hits).toHaveLength(1);
});

it('a client sees its own budget, the budget of all, and the limits', async () => {
  const config = { max_memory_mb: 96, max_client_memory_mb: 48, limits: { max_connections: 7 } };
  const server = await TestServer.start({ config });
  await server.session();
  const client = await server.connect();
  const session = await client.createSession();
  await session.createEmbeddedStringStorage({ name: 'docs', strings, embeddingModel: 'tiny' });
  const status = await client.status();
  expect(status).toMatchObject({
    connections: 2,
    connectionsLimit: 7,
    sessions: 1,
    sessionsLimit: 10_000,
    client: { heldLimit: 32 * mebibyte, passingLimit: 16 * mebibyte, byKind: { agents: 0 } },
    server: { heldLimit: 64 * mebibyte, passingLimit: 32 * mebibyte },
  });
  expect(status.client.byKind.storages).toBeGreaterThan(1000);
  expect(status.server.held).toBeGreaterThan(status.client.held);
});

it('gives everything back when the clients have gone', async () => {
  const server = await TestServer.start();
  const client = await server.connect();
  const session = await client.createSession();
  await session.createEmbeddedStringStorage({ name: 'docs', strings, embeddingModel: 'tiny' });
  const agent = await session.createAgent({ graph: retrieveGraph() });
  await agent.turn('bees');
  await session.search({ name: 'docs', text: 'bees' });
  const { byKind } = server.server.memory;
  expect(byKind).toMatchObject({
    connections: expect.any(Number),
    sessions: expect.any(Number),
    agents: expect.any(Number),
    storages: expect.any(Number),
  });
  for (const kind of ['connections', 'sessions', 'agents', 'storages'] as const)
    expect(byKind[kind]).toBeGreaterThan(0);
  await client.close();
  await expect.poll(() => server.server.memory.heldNow).toEqual({ heap: 0, total: 0 });
  await expect.poll(() => server.server.memory.passingNow).toEqual({ heap: 0, total: 0 });
});
