import { expect, it, vi } from 'vitest';
import type { ServerFrames } from '../../src/protocol/frames.js';
import { FakeTextModel } from '../helpers/fake-text-model.js';
import { TestServer } from './test-server.js';

it('exports of long histories wait while their client does not read', async () => {
  // On a busy machine the last of them wait for more than the usual 15 s until the others are read.
  const config = { max_client_memory_mb: 64, limits: { memory_wait_ms: 30_000 } };
  const server = await TestServer.start({ config, loadLanguageModel: async () => new FakeTextModel() });
  const client = await server.raw();
  const { session_id } = await client.request<ServerFrames['CreateSessionResponse']>({
    type: 'CreateSessionRequest',
    id: 1,
  });
  const text = 'long '.repeat(400_000);
  const history = { version: 1, turns: Array.from({ length: 3 }, () => ({ text, reply: '' })) };
  const graph = { nodes: [{ id: 'talker', type: 'generate', params: {} }] };
  const made = { type: 'CreateAgentRequest', id: 2, session_id, graph, history };
  const { agent_id } = await client.request<ServerFrames['CreateAgentResponse']>(made);
  const frame = { type: 'ExportAgentRequest', session_id, agent_id };
  const { memory } = server.server;
  client.socket.pause();
  const replies = Array.from({ length: 30 }, (_, n) =>
    client.request<ServerFrames['ExportAgentResponse']>({ ...frame, id: 10 + n }),
  );
  await vi.waitFor(() => expect(memory.byKind.replies).toBeGreaterThan(1_000_000), { timeout: 30_000 });
  let most = 0;
  for (let turn = 0; turn < 2000; turn++) {
    await new Promise(setImmediate);
    most = Math.max(most, memory.byKind.replies);
  }
  // Thirty of them have 180 MB.
  expect(most).toBeLessThan(30_000_000);
  client.socket.resume();
  for (const reply of await Promise.all(replies)) {
    expect(reply.type).toBe('ExportAgentResponse');
    expect(reply.history.turns).toHaveLength(3);
  }
});
