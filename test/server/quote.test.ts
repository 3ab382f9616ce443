import { describe, expect, it } from 'vitest';
import type { Graph, ServerFrames } from '../../src/client/index.js';
import { refusal } from '../helpers/errors.js';
import { TestServer } from './test-server.js';

const records = [
  'Dr. Bee wrote this. Honey bees dance 🐝 in the hive to tell their sisters where flowers bloom. Nobody else does.',
  'Glaciers grind valleys into the shape of a U. They flow downhill e\u0301 slowly! Bees avoid them.',
  'A sourdough starter is flour and water.',
];

const graphOf = (quote: object = {}, retrieve: object = {}): Graph => ({
  nodes: [
    { id: 'kb', type: 'retrieve', params: { embedded_string_storage: 'docs', mode: 'lexical', ...retrieve } },
    { id: 'answer', type: 'quote', params: { ...quote } },
  ],
});

async function agentOf(graph: Graph, strings: string[] = records) {
  const server = await TestServer.start({ config: { include_interaction_in_diagnostics: true } });
  const session = await server.session();
  await session.createEmbeddedStringStorage({ name: 'docs', strings, embeddingModel: 'tiny' });
  return session.createAgent({ graph, enableDiagnostics: true });
}

/** Every citation names a part of the reply that is that part of the record. */
function expectExact({ text, citations = [] }: ServerFrames['TurnComplete'], strings = records) {
  for (const { id, start, end, replyStart, replyEnd } of citations) {
    expect(strings[Number(id)]?.slice(start, end)).toBe(text.slice(replyStart, replyEnd));
  }
}

describe('a quote node', () => {
  it('replies with the sentence that has most of the words asked for, and cites its record', async () => {
    const agent = await agentOf(graphOf({ max_sentences: 1 }));
    const turn = await agent.turn('Why do honey bees dance in a hive?');
    const sentence = 'Honey bees dance 🐝 in the hive to tell their sisters where flowers bloom.';
    const start = 'Dr. Bee wrote this. '.length;
    expect(turn.text).toBe(sentence);
    expect(turn.citations).toEqual([
      {
        node: 'answer',
        kind: 'quote',
        storage: 'docs',
        id: '0',
        start,
        end: start + sentence.length,
        replyStart: 0,
        replyEnd: sentence.length,
        score: expect.any(Number),
      },
    ]);
    expect(turn.sources).toEqual([
      {
        node: 'answer',
        storage: 'docs',
        id: '0',
        cited: true,
        sentence: { start, end: start + sentence.length, text: sentence },
        score: expect.any(Number),
      },
    ]);
    expectExact(turn);
    const { interaction, nodes } = turn.diagnostics ?? {};
    expect(interaction?.slice(-2)).toEqual([
      { _type: 'character_reply', node: 'answer', text: sentence },
      { _type: 'citation', ...turn.citations?.[0] },
    ]);
    expect(nodes?.[1]).toMatchObject({ type: 'quote', quoted: 1, sentences: expect.any(Number) });
  });

  it('counts places in UTF-16 units, through emoji and combining marks', async () => {
    const agent = await agentOf(graphOf({ max_sentences: 3, min_score: 0, separator: ' | ' }));
    const turn = await agent.turn('bees flow slowly downhill and avoid dance');
    expect(turn.citations).toHaveLength(3);
    expectExact(turn);
    expect(turn.text).toContain('They flow downhill e\u0301 slowly! | Bees avoid them.');
  });

  it('keeps the sentences of a record in its order, the record with the best one first', async () => {
    const agent = await agentOf(graphOf({ max_sentences: 3, min_score: 0.05 }));
    const { text, citations = [] } = await agent.turn(
      'Which bees avoid glaciers that grind valleys, shape of a U?',
    );
    expect(citations.slice(0, 2).map(({ id }) => id)).toEqual(['1', '1']);
    expect(citations[0]?.start).toBeLessThan(citations[1]?.start ?? 0);
    expect(text).toMatch(/^Glaciers grind valleys into the shape of a U\. .*Bees avoid them\./);
  });

  it('replies with the fallback when no sentence fits, and with nothing when there is none', async () => {
    const wanted = 'quasars pulsars nebulae galaxies bees';
    const withText = await (await agentOf(graphOf({ min_score: 0.9, fallback: 'I do not know.' }))).turn(
      wanted,
    );
    expect(withText).toMatchObject({ status: 'completed', text: 'I do not know.' });
    expect(withText).not.toHaveProperty('citations');
    const without = await (await agentOf(graphOf({ min_score: 0.9 }))).turn(wanted);
    expect(without).toMatchObject({ status: 'completed', text: '' });
    expect(without.diagnostics?.nodes[1]).toMatchObject({ quoted: 0, sentences: 5 });
    expect(without.diagnostics?.interaction?.map(({ _type }) => _type)).not.toContain('character_reply');
  });

  it('compares with what the retrieve node looked for, in the tokenizer of its storage', async () => {
    const agent = await agentOf(graphOf({ max_sentences: 1 }, { query: '{{variables.topic}}' }));
    const turn = await agent.turn('hello', { variables: { topic: 'SOURDOUGH starter' } });
    expect(turn.text).toBe('A sourdough starter is flour and water.');
    expect(turn.citations?.[0]?.score).toBe(1);
  });

  it('quotes a sentence once, though several nodes found it', async () => {
    const params = { embedded_string_storage: 'docs', mode: 'lexical' } as const;
    const again = { id: 'again', type: 'retrieve', params } as const;
    const graph = graphOf({ max_sentences: 5 });
    const agent = await agentOf({ nodes: [again, ...graph.nodes] });
    const { citations } = await agent.turn('sourdough starter');
    expect(citations).toHaveLength(1);
  });

  it('places citations in the whole text of a turn in which other nodes reply as well', async () => {
    const { nodes } = graphOf({ max_sentences: 1 });
    const second = { ...(nodes[1] as Graph['nodes'][number]), id: 'second' };
    const turn = await (await agentOf({ nodes: [...nodes, second] })).turn('honey bees dance');
    expect(turn.citations?.map(({ node }) => node)).toEqual(['answer', 'second']);
    expectExact(turn);
    expect(turn.citations?.[1]?.replyStart).toBe((turn.citations?.[0]?.replyEnd ?? 0) + 1);
  });

  it('finds nothing without knowledge, and refuses params that mean nothing', async () => {
    const agent = await agentOf({
      nodes: [{ id: 'answer', type: 'quote', params: { fallback: 'Nothing.' } }],
    });
    expect((await agent.turn('bees')).text).toBe('Nothing.');
    const session = await (await TestServer.start()).session();
    for (const params of [
      { max_sentences: 0 },
      { min_score: 2 },
      { fallback: '' },
      { separator: 'x'.repeat(101) },
    ]) {
      expect(
        await refusal(session.createAgent({ graph: { nodes: [{ id: 'a', type: 'quote', params }] } })),
      ).toMatchObject({
        code: 4003,
        details: { path: `graph.nodes[0].params.${Object.keys(params)[0]}` },
      });
    }
  });
});
