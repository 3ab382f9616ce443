import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { LanguageModel } from '../../lib/index.js';
import type { Graph } from '../../src/client/index.js';
import type { ServerFrames } from '../../src/protocol/frames.js';
import { temporaryFolder } from '../helpers/folder.js';
import { random, testSeed } from '../helpers/random.js';
import { repetitions } from '../helpers/repetitions.js';
import { writeTinyDecoder } from '../helpers/tiny-model/tiny-decoder.mjs';
import { TestServer } from './test-server.js';

const inFolder = temporaryFolder();
const clients = repetitions('CLIENTS', 12, 60);
const atOnce = 6;

/** The end of the reply is the end of the context, unless somebody leaves. */
const graph = (params: object = {}): Graph => ({
  nodes: [{ id: 'talker', type: 'generate', params: { temperature: 0, max_tokens: 800, ...params } }],
});

describe('clients that vanish while a reply is streamed', () => {
  it('leave no request behind, and the replies of others as they were', { timeout: 600_000 }, async () => {
    const path = inFolder('llama.gguf');
    await writeTinyDecoder('llama', path, { context: 1024 });
    // Deterministic, so that neighbours cannot change a reply.
    const options = { threads: 1, batchThreads: 1, deterministic: true };
    const model = await LanguageModel.load(path, options);
    onTestFinished(() => model.close());
    const server = await TestServer.start({ loadLanguageModel: async () => model });
    const session = await server.session();
    const other = await session.createAgent({ graph: graph({ max_tokens: 40, history: { turns: 0 } }) });
    const { text: undisturbed } = await other.turn('the cat sat on the mat');

    const next = random(testSeed);
    let left = clients;
    const visit = async () => {
      while (left-- > 0) await vanish(server, Math.floor(next() * 30), next() < 0.5);
    };
    let visiting = true;
    const talk = async () => {
      let turns = 0;
      for (; visiting || turns === 0; turns++)
        expect((await other.turn('the cat sat on the mat')).text).toBe(undisturbed);
      return turns;
    };
    const talking = talk();
    await Promise.all(Array.from({ length: atOnce }, visit));
    visiting = false;
    expect(await talking).toBeGreaterThan(0);
    const idle = { running: 0, queued: 0, cellsReserved: 0 };
    await vi.waitFor(async () => expect(await model.numbers()).toMatchObject(idle), 10_000);
  });
});

/** Starts a reply and vanishes after some of its pieces, with or without a closing handshake. */
async function vanish(server: TestServer, pieces: number, abruptly: boolean): Promise<void> {
  const raw = await server.raw();
  const { session_id } = await raw.request<ServerFrames['CreateSessionResponse']>({
    type: 'CreateSessionRequest',
    id: 1,
  });
  const { agent_id } = await raw.request<ServerFrames['CreateAgentResponse']>({
    type: 'CreateAgentRequest',
    id: 2,
    session_id,
    graph: graph(),
  });
  raw.send({ type: 'TurnRequest', id: 3, session_id, agent_id, text: `kings and queens ${pieces}` });
  let seen = 0;
  if (pieces > 0)
    await raw.next(({ type }) => type === 'TurnComplete' || (type === 'TurnText' && ++seen === pieces));
  if (abruptly) raw.socket.resetAndDestroy();
  else raw.socket.destroy();
}
