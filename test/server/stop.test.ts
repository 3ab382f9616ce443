import { expect, it, onTestFinished, vi } from 'vitest';
import { EmbeddingModel } from '../../lib/index.js';
import { dimension, strings } from './corpus.js';
import { retrieveGraph, TestServer } from './test-server.js';

/** An agent whose turns wait in the embedding of their text until they are let go. */
async function heldTurn(drainMs: number) {
  const limits = { drain_timeout_ms: drainMs };
  const server = await TestServer.start({ config: { limits } });
  const client = await server.raw();
  const request = async (frame: Record<string, unknown>, id: number) =>
    client.request<never>({ id, ...frame }) as Promise<Record<string, unknown>>;
  const { session_id } = await request({ type: 'CreateSessionRequest' }, 1);
  const storage = { session_id, name: 'docs', strings, embedding_model: 'tiny' };
  await request({ type: 'CreateEmbeddedStringStorageRequest', ...storage }, 2);
  const { agent_id } = await request({ type: 'CreateAgentRequest', session_id, graph: retrieveGraph() }, 3);
  let letGo = () => {};
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const embed = vi.spyOn(EmbeddingModel.prototype, 'embedSettled').mockImplementation(async (_, options) => {
    const signal = options?.signal as AbortSignal;
    await Promise.race([held, new Promise((resolve) => signal.addEventListener('abort', resolve))]);
    signal.throwIfAborted();
    const vectors = new Float32Array(dimension).fill(1 / Math.sqrt(dimension));
    return { vectors, errors: [], tokens: 1, batches: 1 };
  });
  onTestFinished(() => embed.mockRestore());
  await request({ type: 'TurnRequest', session_id, agent_id, text: 'bees' }, 4);
  await vi.waitFor(() => expect(embed).toHaveBeenCalled());
  return { server: server.server, client, session_id, agent_id, letGo, request };
}

it('a server that is stopped lets turns end, takes no new work, and then closes', async () => {
  const { server, client, session_id, agent_id, letGo, request } = await heldTurn(60_000);
  const stopped = server.stop();
  const refused = await request({ type: 'TurnRequest', session_id, agent_id, text: 'late' }, 5);
  expect(refused).toMatchObject({ type: 'Error', reply_to: 5, code: 1008, name: 'ServerShuttingDown' });
  expect(await request({ type: 'Ping' }, 6)).toMatchObject({ type: 'Pong' });
  letGo();
  expect(await client.next(({ type }) => type === 'TurnComplete')).toMatchObject({ status: 'completed' });
  await client.closed;
  await stopped;
  expect(server.connections).toBe(0);
});

it('a turn that does not end in time is cancelled, and its client told', async () => {
  const { server, client } = await heldTurn(1);
  await server.stop();
  expect(await client.next(({ type }) => type === 'TurnComplete')).toMatchObject({ status: 'cancelled' });
  await client.closed;
});

it('a second stop does not wait', async () => {
  const { server } = await heldTurn(3_600_000);
  const first = server.stop();
  await server.stop();
  expect(server.connections).toBe(0);
  void first;
});

it('a server without a session for long calls for its end', async () => {
  const onIdle = vi.fn();
  const server = await TestServer.start({ onIdle, config: { idle_shutdown_timeout: 1 } });
  const session = await server.session();
  expect(onIdle).not.toHaveBeenCalled();
  await session.destroy();
  await vi.waitFor(() => expect(onIdle).toHaveBeenCalledOnce(), { timeout: 10_000 });
});
