import { describe, expect, it } from 'vitest';
import { type ConnectionState, connect } from '../../src/client/index.js';
import { refusal } from '../helpers/errors.js';
import { strings } from '../server/corpus.js';
import { retrieveGraph, TestServer } from '../server/test-server.js';

/** A client that was closed at the end of a block, and what its listener heard. */
async function closedClient(port: number, close: 'close' | 'await using' | 'using') {
  const heard: [ConnectionState, unknown][] = [];
  const onState = (state: ConnectionState, error?: unknown) => void heard.push([state, error]);
  const client = await connect({ port, onState });
  if (close === 'close') await client.close();
  else if (close === 'await using') {
    await using same = client;
    await same.ping();
  } else {
    using same = client;
    await same.ping();
  }
  await client.closed;
  // onState is called in a microtask after `closed`.
  await new Promise(setImmediate);
  return { client, heard };
}

describe('the end of a client', () => {
  it.each(['close', 'await using', 'using'] as const)('by %s is told without an error', async (way) => {
    const { port } = await TestServer.start();
    const { client, heard } = await closedClient(port, way);
    expect(heard).toEqual([['closed', undefined]]);
    await expect(client.ping()).rejects.toMatchObject({ name: 'ConnectionLostError' });
  });

  it('of a connection that was lost is told with the error', async () => {
    const { port, server } = await TestServer.start();
    const heard: [ConnectionState, unknown][] = [];
    const client = await connect({ port, onState: (state, error) => void heard.push([state, error]) });
    await server.close();
    await client.closed;
    await new Promise(setImmediate);
    expect(heard).toEqual([['closed', expect.objectContaining({ name: 'ConnectionLostError' })]]);
  });
});

describe('sessions and agents at the end of a block', () => {
  it('are destroyed', async () => {
    const client = await (await TestServer.start()).connect();
    const session = await client.createSession();
    await session.createEmbeddedStringStorage({ name: 'docs', strings, embeddingModel: 'tiny' });
    const agent = await session.createAgent({ graph: retrieveGraph() });
    {
      await using ending = agent;
      await ending.turn('bees');
    }
    expect(await refusal(agent.turn('bees'))).toMatchObject({ code: 4007 });
    {
      await using ending = session;
      expect(ending.id).toBe(session.id);
    }
    expect(await refusal(session.search({ name: 'docs', text: 'bees' }))).toMatchObject({ code: 2001 });
    const other = await client.createSession();
    {
      using ending = other;
      expect(ending.id).toBe(other.id);
    }
    // Requests of one connection begin in order.
    expect(await refusal(other.search({ name: 'docs', text: 'bees' }))).toMatchObject({ code: 2001 });
  });

  it('that are gone already are no error', async () => {
    const { server, port } = await TestServer.start();
    const client = await connect({ port });
    await using session = await client.createSession();
    await session.createEmbeddedStringStorage({ name: 'docs', strings, embeddingModel: 'tiny' });
    await using agent = await session.createAgent({ graph: retrieveGraph() });
    await agent.destroy();
    await using second = await client.createSession();
    await second.destroy();
    await server.close();
    await client.closed;
  });
});
