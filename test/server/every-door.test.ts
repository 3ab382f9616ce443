// The same question over the same knowledge base gives the same ranking in the library, on the command line, in a frame and by
// an agent: a search that says nothing is as the config says, and else as in frames.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CatalogModels, createStorage, openKnowledgeBase } from '../../src/knowledge/index.js';
import { commandHost } from '../cli/commands.js';
import { refusal, rejection } from '../helpers/errors.js';
import { temporaryFolder } from '../helpers/folder.js';
import { corpus, strings } from './corpus.js';
import { catalogPath, TestServer } from './test-server.js';

const file = temporaryFolder();
const lorekeep = commandHost();
const [{ question }] = corpus;

function write(config: object, name = 'kb.json'): string {
  const records = strings.map((text, index) => ({ id: `r${index}`, text }));
  writeFileSync(file('records.json'), JSON.stringify(records));
  const fields = { embedding_model: 'tiny', records_file: 'records.json', bm25_tokenizer: 'enhanced' };
  writeFileSync(file(name), JSON.stringify({ ...fields, ...config }));
  return file(name);
}

interface Found {
  plan: { mode: string; fusion?: { method: string } };
  hits: readonly { id: string; score: number; relevance?: number | undefined }[];
}

const ranking = ({ hits }: Pick<Found, 'hits'>) =>
  hits.map(({ id, score, relevance }) => [id, score.toFixed(6), relevance?.toFixed(6)]);

async function inLibrary(path: string): Promise<Found> {
  await using models = await CatalogModels.open(catalogPath);
  await using kb = await openKnowledgeBase(path, { models });
  return await kb.search({ text: question });
}

async function onCommandLine(path: string, port: number) {
  const json = async (args: string[]) => {
    const { stdout, stderr, status } = await lorekeep([...args, question, '--json']);
    expect(status, stderr).toBe(0);
    return JSON.parse(stdout) as Found;
  };
  return {
    searched: await json(['search', path, '--catalog', catalogPath]),
    asked: await json(['ask', path, '--port', String(port)]),
  };
}

/** Every door's answer to the question. */
async function answers(config: object) {
  const path = write(config);
  const server = await TestServer.start({ config: { storage_root: file() } });
  const session = await server.session();
  const framed = await session.search({ name: 'kb.json', text: question });
  const params = { embeddedStringStorage: 'kb.json', emit: true };
  const agent = await session.createAgent({
    graph: { nodes: [{ id: 'kb', type: 'retrieve', params }] },
    enableDiagnostics: true,
  });
  const { hits = [], diagnostics } = await agent.turn(question);
  const [{ plan }] = (diagnostics?.nodes ?? []) as unknown as [Found];
  return {
    library: await inLibrary(path),
    ...(await onCommandLine(path, server.port)),
    framed: framed as Found,
    agent: { hits, plan },
  };
}

const relevance = { dense: { offset: 1 }, hybrid: { offset: -1, slope: 0.5 } };

describe('every door ranks alike', () => {
  it.each([
    ['a bare config, as frames do', {}, { mode: 'dense', hits: 5 }],
    [
      'a config that commands write',
      { search: { mode: 'hybrid', top_k: 4, fusion: 'scores', feedback: 0.5 } },
      { mode: 'hybrid', fusion: 'scores', hits: 4 },
    ],
    [
      'a config that says everything',
      {
        search: {
          mode: 'hybrid',
          top_k: 3,
          threshold: 1.9,
          ef_search: 50,
          rrf: { k: 5, weights: { dense: 2 }, candidates: 20 },
          min_score: 0.001,
          lexical: { stopwords: ['the'], fuzziness: 1 },
          relevance,
        },
      },
      { mode: 'hybrid', fusion: 'rrf', hits: 3 },
    ],
    ['a config by words', { search: { mode: 'lexical', top_k: 2 } }, { mode: 'lexical', hits: 1 }],
    [
      'a config with settings of a fusion alone',
      { search: { mode: 'hybrid', scores: { weight: 0.3 } } },
      { mode: 'hybrid', fusion: 'scores', hits: 5 },
    ],
    [
      'a config with the earlier fields',
      { fusion: 'scores', relevance, hnsw: { ef_search: 50 }, search: { mode: 'hybrid' } },
      { mode: 'hybrid', fusion: 'scores', hits: 5 },
    ],
  ] as const)('%s', async (_, config, { hits, mode, ...rest }) => {
    const found = await answers(config);
    const { method } = { method: undefined, ...found.library.plan.fusion };
    expect({ ...rest, mode: found.library.plan.mode }).toEqual({
      ...(method !== undefined && { fusion: method }),
      mode,
    });
    expect(found.library.hits.length).toBe(hits);
    for (const [door, answer] of Object.entries(found)) {
      expect(ranking(answer), door).toEqual(ranking(found.library));
      expect([answer.plan.mode, answer.plan.fusion], door).toEqual([
        found.library.plan.mode,
        found.library.plan.fusion,
      ]);
    }
  });

  it('what a search says comes first, and defaults without effect in its mode are left out', async () => {
    const search = { mode: 'hybrid', threshold: 0.5, scores: { weight: 0.3 }, lexical: { fuzziness: 1 } };
    const path = write({ search });
    await using models = await CatalogModels.open(catalogPath);
    await using kb = await openKnowledgeBase(path, { models });
    const text = question;
    expect((await kb.search({ text, mode: 'lexical' })).plan).not.toHaveProperty('dense');
    expect((await kb.search({ text, mode: 'dense' })).plan).not.toHaveProperty('lexical');
    expect((await kb.search({ text, fusion: 'rrf' })).plan.fusion).toEqual({ method: 'rrf' });
    expect((await kb.search({ text, rrf: { k: 1 } })).plan.fusion).toEqual({ method: 'rrf' });
    const { plan } = await kb.search({ text, scores: { candidates: 9 } });
    expect(plan.fusion?.weights?.dense).toBe(0.3);
    const near = await kb.search({ text, mode: 'dense', threshold: 2, topK: 100 });
    expect(near.hits.length).toBeGreaterThan(
      (await kb.search({ text, mode: 'dense', topK: 100 })).hits.length,
    );
  });

  it('a frame refuses a field that has no effect in the mode of the knowledge base', async () => {
    write({ search: { mode: 'lexical' } });
    const server = await TestServer.start({ config: { storage_root: file() } });
    const session = await server.session();
    const search = session.search({ name: 'kb.json', text: question, threshold: 1 });
    expect(await refusal(search)).toMatchObject({ code: 1004, details: { path: 'threshold' } });
    const params = { embeddedStringStorage: 'kb.json', rrf: {} };
    const agent = session.createAgent({ graph: { nodes: [{ id: 'kb', type: 'retrieve', params }] } });
    expect(await refusal(agent)).toMatchObject({
      code: 4003,
      details: { path: 'graph.nodes[0].params.rrf' },
    });
  });

  it('several storages are merged to as many hits as the first one says', async () => {
    write({ search: { top_k: 2 } });
    write({ search: { top_k: 3, mode: 'hybrid' } }, 'other.json');
    const server = await TestServer.start({ config: { storage_root: file() } });
    const session = await server.session();
    const found = async (...names: string[]) => (await session.search({ names, text: question })).hits.length;
    expect(await found('kb.json', 'other.json')).toBe(2);
    expect(await found('other.json', 'kb.json')).toBe(3);
  });
});

describe('a default', () => {
  it.each([
    [{ fusion: 'rrf', search: { fusion: 'scores' } }, 'fusion: search.fusion states the same default'],
    [{ relevance, search: { relevance } }, 'relevance: search.relevance'],
    [{ lexical: {}, search: { lexical: {} } }, 'lexical: search.lexical'],
    [{ hnsw: { ef_search: 9 }, search: { ef_search: 9 } }, 'hnsw.ef_search: search.ef_search'],
  ])('in two places is an error that names both: %j', async (config, message) => {
    const path = write(config);
    await using models = await CatalogModels.open(catalogPath);
    const error = await rejection(openKnowledgeBase(path, { models }), 'INVALID_ARGUMENT');
    expect(error.message).toContain(message);
  });

  it('of a storage that the library makes is the best one, and is saved', async () => {
    await using models = await CatalogModels.open(catalogPath);
    const model = await models.resolve('tiny');
    await using storage = await createStorage({ strings, model });
    const { plan, hits } = await storage.search({ text: question });
    expect(plan).toMatchObject({ mode: 'hybrid', fusion: { method: 'scores' } });
    const [path = ''] = await storage.save(join(file('saved'), 'kb.json'));
    const server = await TestServer.start({ config: { storage_root: file('saved') } });
    const session = await server.session();
    expect(ranking(await session.search({ name: 'kb.json', text: question }))).toEqual(ranking({ hits }));
    expect(ranking(await inLibrary(path))).toEqual(ranking({ hits }));
  });

  it('of an inline storage of a frame is that of frames', async () => {
    const session = await (await TestServer.start()).session();
    await session.createEmbeddedStringStorage({ name: 'docs', strings, embeddingModel: 'tiny' });
    const { plan, hits } = await session.search({ name: 'docs', text: question });
    expect(plan.mode).toBe('dense');
    expect(hits).toHaveLength(5);
    const hybrid = await session.search({ name: 'docs', text: question, mode: 'hybrid' });
    expect(hybrid.plan.fusion).toEqual({ method: 'rrf' });
  });
});
