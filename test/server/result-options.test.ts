import { mkdirSync, writeFileSync } from 'node:fs';
import { beforeAll, expect, it } from 'vitest';
import type { RequestFields } from '../../src/client/index.js';
import { refusal } from '../helpers/errors.js';
import { temporaryFolder } from '../helpers/folder.js';
import { corpus } from './corpus.js';
import { retrieveGraph, TestServer } from './test-server.js';

const file = temporaryFolder();
const records = corpus.slice(0, 12).map(({ text }, n) => ({
  id: `r${n}`,
  text,
  metadata: { path: `${Math.floor(n / 4)}.md` },
}));

beforeAll(() => {
  mkdirSync(file('root'));
  writeFileSync(file('root', 'records.json'), JSON.stringify(records));
  const fields = [{ name: 'path', type: 'string', optional: true }];
  const config = { embedding_model: 'tiny', records_file: 'records.json', fields };
  writeFileSync(file('root', 'kb.json'), JSON.stringify(config));
});

const text = 'bees dance in the hive over glaciers and bronze';
type Search = Omit<RequestFields['SearchEmbeddedStringStorageRequest'], 'sessionId' | 'name'>;

async function scene() {
  const session = await (await TestServer.start({ config: { storage_root: file('root') } })).session();
  const search = async (fields: Search) => (await session.search({ name: 'kb.json', ...fields })).hits;
  const ids = async (fields: Search) => (await search(fields)).map(({ id }) => id);
  return { session, search, ids };
}

it('a search is paged, grouped, without duplicates and with context, as its fields say', async () => {
  const { search, ids } = await scene();
  for (const mode of ['dense', 'lexical', 'hybrid'] as const) {
    const all = await search({ text, mode, topK: 100 });
    expect(await ids({ text, mode, topK: 3, offset: 2 })).toEqual(all.slice(2, 5).map(({ id }) => id));
    const grouped = await search({ text, mode, groupBy: 'path' });
    const paths = grouped.map(({ metadata }) => metadata?.path);
    expect(paths).toEqual([...new Set(all.map(({ metadata }) => metadata?.path))]);
    expect(await ids({ text, mode, topK: 100, dropDuplicates: 2 })).toEqual([all[0]?.id]);
    const [first] = await search({ text, mode, topK: 1, context: 2 });
    const at = Number(first?.id.slice(1));
    const near = records.slice(Math.max(0, at - 2), at + 3).filter((_, n) => Math.max(0, at - 2) + n !== at);
    const same = near.filter(({ metadata }) => metadata.path === first?.metadata?.path);
    expect([...(first?.context?.before ?? []), ...(first?.context?.after ?? [])]).toEqual(
      same.map(({ id, text }) => ({ id, text })),
    );
  }
});

it('records like one are found by its id, without itself', async () => {
  const { ids, session } = await scene();
  const [nearest, ...others] = await ids({ text: records[3]?.text as string, topK: 6 });
  expect(nearest).toBe('r3');
  expect(await ids({ similarTo: 'r3' })).toEqual(others);
  const refused = (fields: Search) => refusal(session.search({ name: 'kb.json', ...fields }));
  expect(await refused({ similarTo: 'absent' })).toMatchObject({
    code: 1004,
    details: { path: 'similar_to' },
  });
  expect(await refused({ similarTo: 'r1', text })).toMatchObject({
    code: 1004,
    details: { path: 'similar_to' },
  });
  expect(await refused({ similarTo: 'r1', mode: 'hybrid' })).toMatchObject({
    code: 1004,
    details: { path: 'mode' },
  });
  expect(await refused({})).toMatchObject({ code: 1004, details: { path: 'text' } });
  const ofText = { highlight: true, rerank: {}, query: 'about {{text}}' };
  for (const [path, value] of Object.entries(ofText))
    expect(await refused({ similarTo: 'r1', [path]: value }), path).toMatchObject({
      code: 1004,
      details: { path },
    });
});

it('a field that cannot work is named, in a search and when an agent is made', async () => {
  const { session } = await scene();
  const wrong = [
    [{ groupBy: 'absent' }, 'group_by'],
    [{ groupSize: 2 }, 'group_size'],
    [{ offset: 999 }, 'offset'],
    [{ contextField: 'path' }, 'context_field'],
  ] as const;
  for (const [fields, path] of wrong) {
    const search = await refusal(session.search({ name: 'kb.json', text, ...fields }));
    expect(search).toMatchObject({ code: 1004, details: { path } });
    const graph = retrieveGraph({ ...fields, embedded_string_storage: 'kb.json' });
    const agent = await refusal(session.createAgent({ graph }));
    expect(agent).toMatchObject({ code: 4003, details: { path: `graph.nodes[0].params.${path}` } });
  }
});

it('a retrieve node takes them, too', async () => {
  const { session, ids } = await scene();
  const params = {
    embeddedStringStorage: 'kb.json',
    groupBy: 'path',
    offset: 1,
    context: 1,
    emit: true,
  } as const;
  const agent = await session.createAgent({ graph: { nodes: [{ id: 'kb', type: 'retrieve', params }] } });
  const { hits } = await agent.turn(text);
  expect(hits?.map(({ id }) => id)).toEqual(await ids({ text, groupBy: 'path', offset: 1 }));
  expect(hits?.[0]).toHaveProperty('context.before');
});

it('several storages are searched in one request, and each hit names its own', async () => {
  const { session } = await scene();
  const strings = corpus.slice(6, 12).map((each) => each.text);
  await session.createEmbeddedStringStorage({ name: 'notes', strings, embeddingModel: 'tiny' });
  const names = ['kb.json', 'notes'];
  for (const mode of ['dense', 'lexical', 'hybrid'] as const) {
    const alone = await Promise.all(
      names.map(async (name) => (await session.search({ name, text, mode, topK: 100 })).hits),
    );
    const { hits, plan, plans } = await session.search({ names, text, mode, topK: 100 });
    expect(plans?.map(({ storage }) => storage)).toEqual(names);
    expect(plans?.[0]?.plan).toEqual(plan);
    for (const [index, storage] of names.entries()) {
      const own = hits.filter((hit) => hit.storage === storage);
      expect(own.map(({ id }) => id)).toEqual(alone[index]?.map(({ id }) => id));
    }
    expect(hits.map(({ rank }) => rank)).toEqual(hits.map((_, index) => index + 1));
    const page = await session.search({ names, text, mode, topK: 3, offset: 2 });
    const shown = (all: typeof hits) => all.map(({ storage, id }) => [storage, id]);
    expect(shown(page.hits)).toEqual(shown(hits.slice(2, 5)));
  }
  const refused = (fields: object) => refusal(session.search({ text, ...fields } as never));
  const at = (path: string, code = 1004) => ({ code, details: { path } });
  expect(await refused({ names, name: 'notes' })).toMatchObject(at('names'));
  expect(await refused({})).toMatchObject(at('name'));
  expect(await refused({ names: [] })).toMatchObject(at('names'));
  expect(await refused({ names: ['notes', 'notes'] })).toMatchObject(at('names'));
  expect(await refused({ names: ['notes', 'absent'] })).toMatchObject(at('names[1]', 8005));
  expect(await refused({ names, rerank: {} })).toMatchObject(at('rerank'));
  expect(await refused({ names, groupBy: 'path' })).toMatchObject(at('group_by'));
});

it('relevance is corrected as the config says, before min_score counts', async () => {
  const { search } = await scene();
  const config = { embedding_model: 'tiny', records_file: 'records.json' };
  const relevance = { hybrid: { offset: 1.5 } };
  writeFileSync(file('root', 'corrected.json'), JSON.stringify({ ...config, relevance }));
  const session = await (await TestServer.start({ config: { storage_root: file('root') } })).session();
  const corrected = async (fields: Search) =>
    (await session.search({ name: 'corrected.json', ...fields })).hits;
  const odds = (value = 0) => Math.log(value / (1 - value));
  const before = await search({ text, mode: 'hybrid' });
  const hits = await corrected({ text, mode: 'hybrid' });
  for (const [index, hit] of hits.entries())
    expect(odds(hit.relevance)).toBeCloseTo(1.5 + odds(before[index]?.relevance), 6);
  const minScore = Math.min(...hits.map((hit) => hit.relevance ?? 0)) - 1e-6;
  expect(await corrected({ text, mode: 'hybrid', minScore })).toHaveLength(hits.length);
  expect((await search({ text, mode: 'hybrid', minScore })).length).toBeLessThan(hits.length);
});
