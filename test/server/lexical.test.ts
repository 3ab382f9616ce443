import { describe, expect, it } from 'vitest';
import { refusal } from '../helpers/errors.js';
import { retrieveGraph, TestServer } from './test-server.js';

const docs = {
  name: 'docs',
  strings: ['the old keeper lights a lamp', 'a ship sees the lamp', 'an old ship'],
  embeddingModel: 'tiny',
};

async function sessionWithDocs() {
  const session = await (
    await TestServer.start({ config: { include_interaction_in_diagnostics: true } })
  ).session();
  await session.createEmbeddedStringStorage(docs);
  return session;
}

describe('lexical options over the wire', () => {
  it('restrict a search and mark its words', async () => {
    const session = await sessionWithDocs();
    const { hits } = await session.search({
      name: 'docs',
      text: '+lamp -"old keeper"',
      mode: 'lexical',
      lexical: { querySyntax: 'extended' },
      highlight: true,
    });
    expect(hits.map(({ id, snippet }) => ({ id, snippet }))).toEqual([
      {
        id: '1',
        snippet: [
          { text: 'a ship sees the ', match: false },
          { text: 'lamp', match: true },
        ],
      },
    ]);
  });

  it('are params of a retrieve node', async () => {
    const session = await sessionWithDocs();
    const params = {
      mode: 'hybrid',
      lexical: { querySyntax: 'extended', fuzziness: 1 },
      highlight: true,
    } as const;
    const agent = await session.createAgent({ graph: retrieveGraph(params), enableDiagnostics: true });
    const { diagnostics } = await agent.turn('+lammp -keeper');
    const found = diagnostics?.interaction?.filter(({ _type }) => _type === 'knowledge');
    const snippet = expect.arrayContaining([{ text: 'lamp', match: true }]);
    expect(found).toMatchObject([{ id: '1', snippet }]);
  });

  it('are refused where they are wrong or without effect', async () => {
    const session = await sessionWithDocs();
    for (const [params, path] of [
      [{ mode: 'lexical', lexical: { boosts: { title: 2 } } }, 'lexical.boosts'],
      [{ mode: 'dense', lexical: { fuzziness: 1 } }, 'lexical'],
    ] as const) {
      const search = { name: 'docs', text: 'lamp', ...params };
      expect(await refusal(session.search(search))).toMatchObject({ details: { path } });
      expect(await refusal(session.createAgent({ graph: retrieveGraph(params) }))).toMatchObject({
        code: 4003,
        details: { path: `graph.nodes[0].params.${path}` },
      });
    }
  });
});
