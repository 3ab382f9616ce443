import { describe, expect, it } from 'vitest';
import type { ClientSession, GraphNode } from '../../src/client/index.js';
import { corpus, strings } from './corpus.js';
import { TestServer } from './test-server.js';

const question = corpus[0]?.question as string;

async function docs(session: ClientSession): Promise<void> {
  await session.createEmbeddedStringStorage({ name: 'docs', strings, embeddingModel: 'tiny' });
}

const retrieve = (id: string, params: { emit?: boolean; topK?: number } = {}, storage = 'docs') =>
  ({ id, type: 'retrieve', params: { embeddedStringStorage: storage, ...params } }) satisfies GraphNode;

describe('the hits of a turn', () => {
  it("equal a search's, with the node and the storage, without diagnostics", async () => {
    const session = await (await TestServer.start()).session();
    await docs(session);
    const agent = await session.createAgent({ graph: { nodes: [retrieve('kb', { emit: true, topK: 3 })] } });
    const complete = await agent.turn(question);
    const { hits } = await session.search({ name: 'docs', text: question, topK: 3 });
    expect(complete.hits).toEqual(hits.map((hit) => ({ node: 'kb', storage: 'docs', ...hit })));
    expect(hits).toHaveLength(3);
    expect(complete).not.toHaveProperty('diagnostics');
    expect(complete).not.toHaveProperty('hitsOmitted');
  });

  it('come from the nodes that emit them, and from all when the turn asks for them', async () => {
    const session = await (await TestServer.start()).session();
    await docs(session);
    const nodes = [retrieve('quiet', { topK: 1 }), retrieve('loud', { topK: 2, emit: true })];
    const agent = await session.createAgent({ graph: { nodes } });
    const nodesOf = async (options: { hits?: boolean }) =>
      (await agent.turn(question, options)).hits?.map(({ node, rank }) => [node, rank]);
    expect(await nodesOf({})).toEqual([
      ['loud', 1],
      ['loud', 2],
    ]);
    expect(await nodesOf({ hits: true })).toEqual([
      ['quiet', 1],
      ['loud', 1],
      ['loud', 2],
    ]);
  });

  it('are absent when nobody asks, and empty when a search that is asked for finds nothing', async () => {
    const session = await (await TestServer.start()).session();
    await docs(session);
    const agent = await session.createAgent({ graph: { nodes: [retrieve('kb')] } });
    expect(await agent.turn(question)).not.toHaveProperty('hits');
    const params = { embeddedStringStorage: 'docs', mode: 'lexical' } as const;
    const none = await session.createAgent({ graph: { nodes: [{ id: 'kb', type: 'retrieve', params }] } });
    expect((await none.turn('xylophone', { hits: true })).hits).toEqual([]);
  });

  it('that a frame has no room for are left out, the last ones first, and counted', async () => {
    const server = await TestServer.start({ config: { max_frame_mb: 1 } });
    const session = await server.session();
    // Each character takes six bytes of JSON, and only one of what a turn may find.
    const text = `bees ${'\u0001'.repeat(50_000)}`;
    const names = ['a', 'b', 'c', 'd', 'e'];
    for (const name of names)
      await session.createEmbeddedStringStorage({ name, strings: [text], embeddingModel: 'tiny' });
    const agent = await session.createAgent({ graph: { nodes: names.map((id) => retrieve(id, {}, id)) } });
    const complete = await agent.turn(question, { hits: true });
    expect(complete.status).toBe('completed');
    expect(complete.hits?.map(({ node }) => node)).toEqual(['a', 'b', 'c']);
    expect(complete.hits?.[0]?.text).toBe(text);
    expect(complete.hitsOmitted).toBe(2);
  });

  it('beside the same hits in the diagnostics fit into the frame, too', async () => {
    const config = { max_frame_mb: 1, include_interaction_in_diagnostics: true };
    const session = await (await TestServer.start({ config })).session();
    const long = Array.from({ length: 10 }, (_, index) => `bees ${index} ${'\u007f'.repeat(64_000)}`);
    await session.createEmbeddedStringStorage({ name: 'docs', strings: long, embeddingModel: 'tiny' });
    const graph = { nodes: [retrieve('kb', { topK: 10 })] };
    const agent = await session.createAgent({ graph, enableDiagnostics: true });
    const complete = await agent.turn(question, { hits: true });
    expect(complete.status).toBe('completed');
    expect(complete.diagnostics?.interaction).toHaveLength(11);
    const { hits = [], hitsOmitted = 0 } = complete;
    expect(hits.length).toBeGreaterThan(0);
    expect(hitsOmitted).toBeGreaterThan(0);
    expect(hits.length + hitsOmitted).toBe(10);
  });
});
