import { describe, expect, it } from 'vitest';
import type { ServerFrames } from '../../src/protocol/frames.js';
import { framed, hostilePayload, rightRequests } from '../helpers/hostile-frames.mjs';
import { random, testSeed } from '../helpers/random.js';
import { repetitions } from '../helpers/repetitions.js';
import { strings } from './corpus.js';
import { retrieveGraph, TestServer } from './test-server.js';

const frames = repetitions('SENT_FRAMES', 5000, 100_000);

describe('a connection', () => {
  it('answers each random and mutated frame once, goes on, and so do the others', async () => {
    const server = await TestServer.start();
    const other = await server.session();
    const docs = { name: 'docs', strings, embedding_model: 'tiny' } as const;
    await other.createEmbeddedStringStorage({ name: 'docs', strings, embeddingModel: 'tiny' });
    const raw = await server.raw();
    const { session_id } = await raw.request<ServerFrames['CreateSessionResponse']>({
      type: 'CreateSessionRequest',
      id: 'session',
    });
    await raw.request({ type: 'CreateEmbeddedStringStorageRequest', id: 'docs', session_id, ...docs });
    const create = { type: 'CreateAgentRequest', id: 'agent', session_id, graph: retrieveGraph() };
    const { agent_id } = await raw.request<ServerFrames['CreateAgentResponse']>(create);
    const before = raw.received.filter((frame) => 'reply_to' in frame).length;
    const requests = rightRequests(session_id, agent_id);
    const next = random(testSeed);
    for (let sent = 0; sent < frames; sent += 1000) {
      raw.bytes(Buffer.concat(Array.from({ length: 1000 }, () => framed(hostilePayload(requests, next)))));
      expect((await other.search({ name: 'docs', text: 'bees' })).hits).toHaveLength(5);
    }
    expect(await raw.request({ type: 'Ping', id: 'last' })).toMatchObject({ type: 'Pong' });
    // Requests overlap: requests that are still being served when the ping is answered come later.
    const repliesSoFar = () => raw.received.filter((frame) => 'reply_to' in frame).slice(before);
    await raw.next((frame) => frame === raw.received.at(-1) && repliesSoFar().length > frames);
    const replies = repliesSoFar();
    expect(replies, `seed ${testSeed}`).toHaveLength(frames + 1);
    const codes = new Set(replies.flatMap((reply) => (reply.type === 'Error' ? reply.code : [])));
    expect([...codes].sort(), `seed ${testSeed}`).toEqual(
      expect.arrayContaining([1001, 1002, 1004, 2001, 4007]),
    );
    expect(codes).not.toContain(1009);
  });
});
