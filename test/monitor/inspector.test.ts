import { mkdirSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { Inspection } from '../../src/operations/monitor/inspector.js';
import { temporaryFolder } from '../helpers/folder.js';
import { corpus } from '../server/corpus.js';
import { TestServer } from '../server/test-server.js';

const inFolder = temporaryFolder();
const question = corpus[0].question;

/** A server with `records` and a second knowledge base, both loaded, and an inspector of the first. */
async function inspected(records: object[]) {
  mkdirSync(inFolder('root'), { recursive: true });
  const knowledgeBase = (name: string, kept: object[]) => {
    writeFileSync(inFolder('root', `${name}.records.json`), JSON.stringify(kept));
    const fields = [{ name: 'year', type: 'int', optional: true }];
    const config = { embedding_model: 'tiny', records_file: `${name}.records.json`, fields };
    writeFileSync(inFolder('root', `${name}.json`), JSON.stringify(config));
  };
  knowledgeBase('kb', records);
  knowledgeBase('other', [{ id: 'elsewhere', text: 'Bees dance elsewhere.' }]);
  const monitor = { enabled: true, port: 0 };
  const server = await TestServer.start({ config: { storage_root: inFolder('root'), monitor } });
  const session = await server.session();
  for (const name of ['kb', 'other'])
    await session.createEmbeddedStringStorage({ name, configPath: `${name}.json` });
  const address = `http://127.0.0.1:${server.server.monitorPort}/api/`;
  const { storages } = (await (await fetch(`${address}state`)).json()) as { storages: { name: string }[] };
  const storage = storages.find(({ name }) => name.includes('kb.json'))?.name;
  const inspect = async (fields: object) => {
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ storage, text: question, ...fields });
    const response = await fetch(`${address}search`, { method: 'POST', headers, body });
    return (await response.json()) as Inspection & { error?: string };
  };
  /** Ids of the hits of an agent. */
  const ask = async (params: object) => {
    const node = { id: 'find', type: 'retrieve', params: { embedded_string_storage: 'kb', ...params } };
    const agent = await session.createAgent({ graph: { nodes: [node] } } as never);
    const { hits = [] } = await agent.turn(question, { hits: true });
    return hits.map(({ id }) => id);
  };
  return { inspect, ask };
}

const records = corpus.map(({ text }, n) => ({ id: `r${n}`, text, metadata: { year: 2000 + n } }));

it('the inspector finds what a node with the same fields finds', async () => {
  const { inspect, ask } = await inspected(records);
  for (const params of [
    { mode: 'hybrid', top_k: 4 },
    { mode: 'hybrid', top_k: 4, fusion: 'scores' },
    { mode: 'hybrid', top_k: 4, rrf: { k: 1, candidates: 5 } },
    { mode: 'dense', top_k: 4, threshold: 0.9, offset: 1 },
    { mode: 'lexical', top_k: 4, min_score: 0.1 },
    { mode: 'hybrid', top_k: 2, group_by: 'year', drop_duplicates: 0.3 },
  ]) {
    const { hits } = await inspect(params);
    expect(
      hits.map(({ id }) => id),
      JSON.stringify(params),
    ).toEqual(await ask(params));
  }
});

it('a record that an option drops would be a hit without it', async () => {
  const twins = [...records, { id: 'twin', text: corpus[0].text, metadata: { year: 2000 } }];
  const { inspect } = await inspected(twins);
  const why = async (record: string, fields: object) =>
    (await inspect({ mode: 'dense', record, ...fields })).record;
  const { hits } = await inspect({ mode: 'dense', top_k: 100 });
  const last = hits.at(-1);
  const rank = last?.rank;
  expect(await why(`${last?.id}`, { top_k: 100, threshold: 0.01 })).toContain(
    `Without threshold it is hit ${rank}.`,
  );
  expect(await why(`${last?.id}`, { top_k: 1, threshold: 0.01 })).toContain(', above the threshold)');
  expect(await why(`${last?.id}`, { top_k: 100, min_score: 1 })).toContain(
    `Without min_score it is hit ${rank}.`,
  );
  expect(await why('r0', { offset: 2 })).toContain('Without offset it is hit 1.');
  expect(await why('twin', { group_by: 'year' })).toContain('Without group_by it is hit 2.');
  expect(await why('twin', { drop_duplicates: 0.05 })).toContain('Without drop_duplicates it is hit 2.');
  expect(await why('r0', { threshold: 2, min_score: 0 })).toBe('r0 is hit 1.');
});

it('a filter with variables, and a record that another storage has', async () => {
  const { inspect } = await inspected(records);
  const filter = { '>': [{ knowledge: 'year' }, { variable: 'after' }] };
  const why = async (record: string, after: number) =>
    (await inspect({ record, top_k: 100, filter, variables: { after } })).record;
  expect(await why('r0', 2000)).toMatch(
    /^The filter with these variables removes r0\..* by meaning it is at rank 1 /,
  );
  expect(await why('r0', 1999)).toBe('r0 is hit 1.');
  expect(await why('elsewhere', 1999)).toMatch(/^The storage has no record "elsewhere"\. .*other\.json\.$/);
  expect(await why('nowhere', 1999)).toBe('The storage has no record "nowhere".');
});

it("a rank is the search's, whose legs give as many candidates as they gave", async () => {
  // The last record is in the middle of both legs. Deep legs would fuse it in front of records that one leg alone has first.
  const padded = Array.from({ length: 60 }, (_, n) => ({ id: `p${n}`, text: `bees ${'honey '.repeat(n)}` }));
  const { inspect } = await inspected([...records, ...padded]);
  for (const record of ['p30', 'p45', 'p59', 'r3']) {
    const { hits, record: said } = await inspect({
      mode: 'hybrid',
      top_k: 2,
      rrf: { candidates: 2 },
      record,
    });
    const rank = /is at rank (\d+) /.exec(said ?? '')?.[1];
    if (hits.some(({ id }) => id === record)) expect(said).toMatch(/ is hit /);
    else if (rank === undefined)
      expect(said).toMatch(/is no candidate: each leg gives its first 2|is not among/);
    else expect(Number(rank)).toBeGreaterThan(2);
  }
});

it('a mistake in a field is named', async () => {
  const { inspect } = await inspected(records);
  expect(await inspect({ group_bye: 'x' })).toEqual({
    error: 'group_bye: is not a known field; did you mean "group_by"?',
  });
  expect((await inspect({ mode: 'lexical', threshold: 1 })).error).toMatch(
    /^threshold: it has no effect in lexical mode/,
  );
  expect((await inspect({ rerank: {} })).error).toMatch(/^rerank: is not a known field/);
});
