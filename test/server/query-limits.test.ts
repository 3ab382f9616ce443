import { describe, expect, it } from 'vitest';
import type { FilterExpression } from '../../lib/index.js';
import type { ClientSession } from '../../src/client/index.js';
import { maxQueryLength } from '../../src/storages/search-limits.js';
import { refusal } from '../helpers/errors.js';
import { strings } from './corpus.js';
import { retrieveGraph, TestServer } from './test-server.js';

async function sessionWithDocs(): Promise<ClientSession> {
  const session = await (await TestServer.start()).session();
  await session.createEmbeddedStringStorage({ name: 'docs', strings, embeddingModel: 'tiny' });
  return session;
}

const longest = `bees ${'x'.repeat(maxQueryLength - 5)}`;
const filterOf = (values: number) => ({
  in: [{ knowledge: 'year' }, Array.from({ length: values }, () => 1)],
});
const orOf = (count: number) => ({
  or: Array.from({ length: count }, () => ({ '==': [{ knowledge: 'a' }, 1] })),
});

describe('a query', () => {
  it('of any length is searched for by its beginning and its end, in every mode', async () => {
    const session = await sessionWithDocs();
    const log = 'x '.repeat(maxQueryLength);
    for (const mode of ['lexical', 'hybrid', 'dense'] as const) {
      for (const text of [longest, `bees ${log}`, `${log} bees`]) {
        const { hits } = await session.search({ name: 'docs', text, mode });
        expect(hits[0]?.text).toContain('ees');
      }
    }
    const { hits } = await session.search({ name: 'docs', text: `${log} bees ${log}`, mode: 'lexical' });
    expect(hits).toEqual([]);
  });

  it('may be rendered longer than that, in turns as in searches', async () => {
    const session = await sessionWithDocs();
    const query = '{{#variables.twice}}{{text}}{{/variables.twice}}';
    const agent = await session.createAgent({ graph: retrieveGraph({ mode: 'lexical', query }) });
    const turn = await agent.turn(longest, { variables: { twice: [1, 2] } });
    expect(turn).toMatchObject({ status: 'completed' });
    const search = session.search({
      name: 'docs',
      text: longest,
      query,
      variables: { twice: [1, 2] },
      mode: 'lexical',
    });
    expect((await search).hits).not.toEqual([]);
  });

  it('has a filter of bounded size', async () => {
    const session = await sessionWithDocs();
    const search = (filter: unknown) =>
      refusal(session.search({ name: 'docs', text: 'bees', filter: filter as FilterExpression }));
    const values = 'filter: it has more than 20000 values, the limit of a filter';
    expect(await search(filterOf(30_000))).toMatchObject({ code: 1004, message: values });
    expect(await search(orOf(1001))).toMatchObject({
      code: 1004,
      message: 'filter: it has 2003 objects, a filter has at most 2000',
    });
    const longText = { '=': ['$kind', 'a'.repeat(4_194_304)] };
    expect(await search(longText)).toMatchObject({
      code: 1004,
      message: 'filter: its texts have more than 4194304 characters, the limit of a filter',
    });
    const made = session.createAgent({ graph: retrieveGraph({ filter: filterOf(30_000) }) });
    expect(await refusal(made)).toMatchObject({
      code: 4003,
      details: { path: 'graph.nodes[0].params.filter' },
    });
  });

  it('has variables of bounded size', async () => {
    const session = await sessionWithDocs();
    const list = (length: number) => ({ list: Array.from({ length }, () => 0) });
    const search = (length: number) =>
      session.search({ name: 'docs', text: 'bees', variables: list(length) });
    await search(19_999);
    expect(await refusal(search(20_000))).toMatchObject({
      code: 1004,
      message: 'variables: an object of at most 20000 values is expected, and it has more',
    });
  });
});
