import { describe, expect, it } from 'vitest';
import type { Graph, Knowledge } from '../../src/client/index.js';
import { corpus, dimension, strings } from './corpus.js';
import { retrieveGraph, TestServer } from './test-server.js';

const docs = { name: 'docs', strings, embeddingModel: 'tiny' };
const modes = ['dense', 'lexical', 'hybrid'] as const;

describe('the main job, over TCP with the real client', () => {
  it('makes a storage of strings and answers with the counts', async () => {
    const session = await (await TestServer.start()).session();
    const reply = await session.createEmbeddedStringStorage(docs);
    expect(reply).toMatchObject({ recordCount: strings.length, embeddingDim: dimension });
  });

  it.each(modes)('finds the passage that a question is about in %s turns', async (mode) => {
    const server = await TestServer.start({ config: { include_interaction_in_diagnostics: true } });
    const session = await server.session();
    await session.createEmbeddedStringStorage(docs);
    const agent = await session.createAgent({
      graph: retrieveGraph({ mode, top_k: 3 }),
      enableDiagnostics: true,
    });
    for (const [index, { text, question }] of corpus.entries()) {
      const turn = await agent.turn(question);
      expect(turn).toMatchObject({ status: 'completed', text: '' });
      const [message, first, ...others] = turn.diagnostics?.interaction ?? [];
      expect(message).toEqual({ _type: 'human_message', text: question });
      expect(first).toMatchObject({
        _type: 'knowledge',
        node: 'kb',
        storage: 'docs',
        id: String(index),
        text,
        rank: 1,
      });
      expect(others.length).toBeLessThanOrEqual(2);
      expectScores(mode, [first, ...others] as Knowledge[]);
    }
  });

  it.each(modes)('finds the same by a search without an agent in %s mode', async (mode) => {
    const session = await (await TestServer.start()).session();
    await session.createEmbeddedStringStorage(docs);
    for (const [index, { question }] of corpus.entries()) {
      const { hits, plan } = await session.search({ name: 'docs', text: question, mode, topK: 2 });
      expect(hits[0]?.id).toBe(String(index));
      expect(plan.mode).toBe(mode);
      expect(plan.dense !== undefined).toBe(mode !== 'lexical');
      expect(plan.lexical !== undefined).toBe(mode !== 'dense');
    }
  });

  it.each(['?! …', '،。', '🙂'])('says of %j that it has no words', async (text) => {
    const session = await (await TestServer.start()).session();
    await session.createEmbeddedStringStorage(docs);
    const lexical = await session.search({ name: 'docs', text, mode: 'lexical' });
    expect(lexical).toMatchObject({ hits: [], plan: { lexical: { tokens: 0, terms: 0, scored: 0 } } });
    const hybrid = await session.search({ name: 'docs', text, mode: 'hybrid', topK: 3 });
    expect(hybrid.plan.lexical).toMatchObject({ tokens: 0, terms: 0 });
    expect(hybrid.hits).toHaveLength(3);
    for (const hit of hybrid.hits) expect(hit).toMatchObject({ denseRank: expect.any(Number) });
  });

  it('drops what lies beyond the threshold', async () => {
    const session = await (await TestServer.start()).session();
    await session.createEmbeddedStringStorage(docs);
    const search = { name: 'docs', text: corpus[0].question, top_k: 12 };
    const all = await session.search(search);
    expect(all.hits).toHaveLength(12);
    const threshold = all.hits[3]?.distance ?? 0;
    const near = await session.search({ ...search, threshold });
    expect(near.hits.map(({ id }) => id)).toEqual(all.hits.slice(0, near.hits.length).map(({ id }) => id));
    expect(near.hits.length).toBeLessThan(12);
    expect(Math.max(...near.hits.map(({ distance }) => distance ?? 9))).toBeLessThanOrEqual(threshold + 1e-6);
    expect((await session.search({ ...search, threshold: 0 })).hits).toEqual([]);
  });

  it('weighs the two legs as the request says', async () => {
    const session = await (await TestServer.start()).session();
    await session.createEmbeddedStringStorage(docs);
    const search = { name: 'docs', text: 'lava cracks and bees dance', mode: 'hybrid', top_k: 5 } as const;
    const { hits } = await session.search({ ...search, rrf: { k: 10, weights: { dense: 0, lexical: 3 } } });
    for (const { score, lexicalRank } of hits.filter((hit) => hit.lexicalRank !== undefined)) {
      expect(score).toBeCloseTo(3 / (10 + (lexicalRank ?? 0)), 5);
    }
    expect(hits[0]?.lexicalRank).toBe(1);
  });

  it('weighs them as the catalog says where the request says nothing', async () => {
    const session = await (await TestServer.start()).session();
    await session.createEmbeddedStringStorage({ ...docs, embeddingModel: 'weighted' });
    const search = { name: 'docs', text: 'lava cracks', mode: 'hybrid', top_k: 1 } as const;
    expect((await session.search(search)).hits[0]?.score).toBeCloseTo(7 / (2 + 1), 5);
    const own = await session.search({ ...search, rrf: { weights: { lexical: 1 } } });
    expect(own.hits[0]?.score).toBeCloseTo(1 / (2 + 1), 5);
  });

  it('makes the query by template, over variables and over what earlier nodes found', async () => {
    const server = await TestServer.start({ config: { include_interaction_in_diagnostics: true } });
    const session = await server.session();
    await session.createEmbeddedStringStorage(docs);
    const params = { embedded_string_storage: 'docs', mode: 'lexical', top_k: 1 } as const;
    const graph: Graph = {
      nodes: [
        {
          id: 'again',
          type: 'retrieve',
          params: { ...params, query: '{{#knowledge}}{{text}} {{/knowledge}}' },
        },
        { id: 'first', type: 'retrieve', params: { ...params, query: 'tell of {{variables.topic}}' } },
      ],
      edges: [['first', 'again']] as [string, string][],
    };
    const agent = await session.createAgent({ graph, enableDiagnostics: true });
    const turn = await agent.turn('anything', { variables: { topic: 'saffron' } });
    const found = turn.diagnostics?.interaction?.filter(({ _type }) => _type === 'knowledge') as Knowledge[];
    expect(found.map(({ node, id }) => [node, id])).toEqual([
      ['first', '8'],
      ['again', '8'],
    ]);
    expect(found[1]?.bm25Score).toBeGreaterThan(found[0]?.bm25Score ?? 99);
  });

  it('puts the prefixes of the catalog before queries and records', async () => {
    const session = await (await TestServer.start()).session();
    await session.createEmbeddedStringStorage(docs);
    await session.createEmbeddedStringStorage({ ...docs, name: 'prefixed', embeddingModel: 'prefixed' });
    const search = { text: 'Which lenses did lighthouses use?', top_k: 12 };
    const plain = await session.search({ name: 'docs', ...search });
    const prefixed = await session.search({ name: 'prefixed', ...search });
    const bees = (hits: typeof plain.hits) => hits.find(({ id }) => id === '0')?.distance ?? 9;
    expect(bees(prefixed.hits)).toBeLessThan(bees(plain.hits));
    expect(prefixed.hits.find(({ id }) => id === '0')?.text).toBe(strings[0]);
  });

  it('reports timings and plans only when diagnostics are enabled, and components only when the operator allows', async () => {
    const session = await (await TestServer.start()).session();
    await session.createEmbeddedStringStorage(docs);
    const silent = await session.createAgent({ graph: retrieveGraph() });
    expect((await silent.turn('bees')).diagnostics).toBeUndefined();
    const telling = await session.createAgent({
      graph: retrieveGraph({ mode: 'hybrid' }),
      enableDiagnostics: true,
    });
    const { diagnostics } = await telling.turn('bees');
    expect(diagnostics?.interaction).toBeUndefined();
    const [node] = diagnostics?.nodes ?? [];
    expect(node).toMatchObject({
      node: 'kb',
      type: 'retrieve',
      plan: { mode: 'hybrid', dense: { matched: 12 } },
    });
    expect(node?.durationMs).toBeGreaterThanOrEqual((node?.embedMs ?? 0) + (node?.searchMs ?? 0));
  });
});

function expectScores(mode: (typeof modes)[number], hits: Knowledge[]): void {
  hits.forEach((hit, index) => {
    expect(hit.rank).toBe(index + 1);
    if (mode === 'dense') expect(hit.score).toBeCloseTo(1 - (hit.distance ?? 9), 5);
    if (mode === 'dense') expect(hit).not.toHaveProperty('bm25Score');
    if (mode === 'lexical') expect(hit).not.toHaveProperty('distance');
    if (mode === 'lexical') expect(hit.bm25Score).toBeCloseTo(hit.score, 5);
    if (mode === 'hybrid') expect(hit.denseRank ?? hit.lexicalRank).toBeGreaterThan(0);
    if (index > 0) expect(hit.score).toBeLessThanOrEqual(hits[index - 1]?.score ?? 0);
  });
}
