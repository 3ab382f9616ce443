import { writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { Reranker } from '../../lib/index.js';
import type { Graph, ServerFrames } from '../../src/client/index.js';
import { rerankerOptions } from '../../src/config/model-options.js';
import { configSchema } from '../../src/config/schema.js';
import { CatalogModels, createStorage } from '../../src/knowledge/index.js';
import { Catalog } from '../../src/models/catalog.js';
import { Rerankers } from '../../src/models/rerankers.js';
import { Residency } from '../../src/models/residency.js';
import { refusal } from '../helpers/errors.js';
import { temporaryFolder } from '../helpers/folder.js';
import { tinyReranker } from '../helpers/rerankers.js';
import { createTinyModel } from '../helpers/tiny-model/tiny-model.mjs';
import { contextSize, dimension, strings } from './corpus.js';
import { TestServer } from './test-server.js';

const file = temporaryFolder();
const models = file('models.json');
const question = 'How does the moon make tides?';

beforeAll(async () => {
  await createTinyModel({ texts: strings, path: file('tiny.gguf'), dimension, contextSize });
  const tiny = { file: 'tiny.gguf' };
  const entry = (name: string, model_type: string, variant: object) => ({
    name,
    model_type,
    variants: [variant],
  });
  const entries = [
    entry('tiny', 'embedding', tiny),
    entry('judge', 'reranker', { file: await tinyReranker('one-layer') }),
    entry('short', 'reranker', { file: await tinyReranker('two-layer'), context_size: 24 }),
    entry('broken', 'reranker', tiny),
    entry('far', 'reranker', { hf: 'nobody/nothing/rerank.gguf' }),
  ];
  writeFileSync(models, JSON.stringify({ version: 1, models: entries }));
});

async function sessionWithDocs(config: object = {}) {
  const server = await TestServer.start({ config: { models_catalog_path: models, ...config } });
  const session = await server.session();
  await session.createEmbeddedStringStorage({ name: 'docs', strings, embeddingModel: 'tiny' });
  return { session };
}

const graph = (params: object = {}, retrieve: object = {}): Graph => ({
  nodes: [
    {
      id: 'kb',
      type: 'retrieve',
      params: { embedded_string_storage: 'docs', top_k: 12, emit: true, ...retrieve },
    },
    { id: 'best', type: 'rerank', params },
  ],
});

/** The order and scores that the library gives. */
async function expectedOrder(path = 'one-layer' as const, documents = strings) {
  await using model = await Reranker.load(await tinyReranker(path));
  const { results } = await model.rank(question, documents);
  return results.map(({ index, score }) => ({ id: String(index), score }));
}

type Hits = NonNullable<ServerFrames['TurnComplete']['hits']>;
const shown = (hits: Hits | undefined) => hits?.map(({ id, rerankScore: score }) => ({ id, score }));

describe('the rerank node', () => {
  it("sorts the turn's knowledge by the library's scores, and keeps the best", async () => {
    const { session } = await sessionWithDocs({ include_engine_diagnostics: true });
    const agent = await session.createAgent({ graph: graph({ top_k: 4 }), enableDiagnostics: true });
    const { hits, diagnostics, debugInfo } = await agent.turn(question);
    const expected = await expectedOrder();
    expect(shown(hits)).toEqual(expected.slice(0, 4));
    expect(hits?.map(({ rank }) => rank)).toEqual([1, 2, 3, 4]);
    expect(diagnostics?.nodes[1]).toMatchObject({
      node: 'best',
      type: 'rerank',
      reranked: true,
      documents: 12,
      truncated: 0,
      droppedRecords: 8,
    });
    expect(debugInfo?.nodes[1]?.diagnostics.engine).toMatchObject({
      kind: 'rerank',
      model: 'judge',
      documents: 12,
    });
  });

  it('takes its query from a template, and what it sorts into the next node', async () => {
    const { session } = await sessionWithDocs();
    const nodes: Graph['nodes'] = [
      ...graph({ query: '{{variables.topic}}', top_k: 1, model: 'judge' }).nodes,
      { id: 'say', type: 'quote', params: { min_score: 0 } },
    ];
    const agent = await session.createAgent({ graph: { nodes } });
    const { citations } = await agent.turn('glaciers', { variables: { topic: question } });
    const [best] = await expectedOrder();
    expect(citations?.[0]?.id).toBe(best?.id);
  });

  it('without knowledge does nothing', async () => {
    const { session } = await sessionWithDocs();
    const agent = await session.createAgent({
      graph: { nodes: [{ id: 'best', type: 'rerank' }] },
      enableDiagnostics: true,
    });
    const { status, diagnostics } = await agent.turn(question);
    expect(status).toBe('completed');
    expect(diagnostics?.nodes[0]).toMatchObject({ reranked: true, documents: 0 });
  });

  it('leaves the order as it is at the deadline, and says so', async () => {
    const load = vi.spyOn(Reranker, 'load').mockImplementation(
      (_, { signal } = {}) =>
        new Promise((_resolve, reject) => {
          signal?.addEventListener('abort', () => reject(signal.reason));
        }),
    );
    onTestFinished(() => load.mockRestore());
    const { session } = await sessionWithDocs();
    const plain = await session.createAgent({ graph: { nodes: graph().nodes.slice(0, 1) } });
    const before = (await plain.turn(question)).hits?.map(({ id }) => id);
    const agent = await session.createAgent({
      graph: graph({ deadline_ms: 5, top_k: 3 }),
      enableDiagnostics: true,
    });
    const { status, hits, diagnostics } = await agent.turn(question);
    expect(status).toBe('completed');
    expect(hits?.map(({ id }) => id)).toEqual(before?.slice(0, 3));
    expect(hits?.every(({ rerankScore }) => rerankScore === undefined)).toBe(true);
    expect(diagnostics?.nodes[1]).toMatchObject({ reranked: false, documents: 12, droppedRecords: 9 });
  });

  it('counts records that are truncated, and keeps the order for a query that leaves no room', async () => {
    const { session } = await sessionWithDocs();
    const agent = await session.createAgent({
      graph: graph({ model: 'short' }),
      enableDiagnostics: true,
    });
    expect((await agent.turn('moon')).diagnostics?.nodes[1]?.truncated).toBeGreaterThan(0);
    const { status, diagnostics } = await agent.turn('moon '.repeat(40));
    expect(status).toBe('completed');
    expect(diagnostics?.nodes[1]).toMatchObject({ reranked: false });
  });

  it.each([
    [{ model: 'judg' }, /there is no reranker "judg"; did you mean "judge"\?/],
    [{ model: 'tiny' }, /model "tiny" is of type embedding; a reranker is needed/],
    [{ top_k: 0 }, /top_k/],
    [{ deadline_ms: 0 }, /deadline_ms/],
  ])('refuses params %j', async (params, message) => {
    const { session } = await sessionWithDocs();
    const error = await refusal(session.createAgent({ graph: graph(params) }));
    expect(error).toMatchObject({ code: 4003, message: expect.stringMatching(message) });
  });

  it.each([
    ['broken', /classification head|UNSUPPORTED/],
    ['far', /lorekeep models pull "far"/],
  ])('fails the turn when the model %s cannot be loaded', async (model, message) => {
    const { session } = await sessionWithDocs();
    const agent = await session.createAgent({ graph: graph({ model }) });
    const { status, error } = await agent.turn(question);
    expect(status).toBe('failed');
    expect(error).toMatchObject({ code: 5001, message: expect.stringMatching(message) });
  });
});

describe('rerankers in memory', () => {
  it('share models_cache_max_mb with all models; what can never fit is refused with both numbers', async () => {
    const server = await TestServer.start({
      config: { models_catalog_path: models, models_cache_max_mb: 1 },
    });
    const session = await server.session();
    const error = await refusal(
      session.createEmbeddedStringStorage({ name: 'docs', strings, embeddingModel: 'tiny' }),
    );
    expect(error).toMatchObject({
      code: 5003,
      message: expect.stringMatching(/^model "tiny": it needs \d+ MiB of memory, and models may take 1 MiB$/),
    });
    const nodes = [{ id: 'say', type: 'rerank' }] as const;
    const agent = await session.createAgent({ graph: { nodes: [...nodes] } });
    expect((await agent.turn('x')).status).toBe('completed');
  });

  it('leave after reranker_idle_timeout, and come back', async () => {
    const options = rerankerOptions(configSchema.parse({ reranker_idle_timeout: 7 }));
    expect(options.idleMs).toBe(7000);
    const log = { info: vi.fn(), error: vi.fn() };
    const residency = new Residency(await Catalog.load(models), { log });
    const rerankers = new Rerankers(residency, { ...options, idleMs: 1 });
    onTestFinished(() => residency.close());
    const model = rerankers.find(undefined);
    const first = await model.rank(question, strings, {});
    await vi.waitFor(() => expect(residency.inMemory).toEqual([]));
    expect(log.info).toHaveBeenCalledWith({ model: 'judge' }, 'model unloaded: nothing used it');
    expect((await model.rank(question, strings, {})).results).toEqual(first.results);
  });
});

describe('rerank of a search', () => {
  it('sorts the candidates, and the plan says how', async () => {
    const { session } = await sessionWithDocs();
    const found = await session.search({ name: 'docs', text: question, topK: 3, rerank: { candidates: 12 } });
    const expected = await expectedOrder();
    expect(found.hits.map(({ id, rerankScore: score }) => ({ id, score }))).toEqual(expected.slice(0, 3));
    expect(found.hits.map(({ rank }) => rank)).toEqual([1, 2, 3]);
    expect(found.plan.rerank).toMatchObject({ model: 'judge', reranked: true, documents: 12, truncated: 0 });
  });

  it('sorts only what the search found', async () => {
    const { session } = await sessionWithDocs();
    const plain = await session.search({ name: 'docs', text: question, topK: 4 });
    const found = await session.search({ name: 'docs', text: question, topK: 4, rerank: { candidates: 1 } });
    expect(found.plan.rerank?.documents).toBe(4);
    expect(new Set(found.hits.map(({ id }) => id))).toEqual(new Set(plain.hits.map(({ id }) => id)));
  });

  it('is refused for a model that the catalog does not have', async () => {
    const { session } = await sessionWithDocs();
    const search = session.search({ name: 'docs', text: question, rerank: { model: 'nobody' } });
    expect(await refusal(search)).toMatchObject({ code: 1004, details: { path: 'rerank.model' } });
  });

  it('works in a retrieve node, too', async () => {
    const { session } = await sessionWithDocs();
    const { nodes } = graph({}, { top_k: 2, rerank: { candidates: 12 } });
    const agent = await session.createAgent({ graph: { nodes: nodes.slice(0, 1) } });
    const expected = await expectedOrder();
    expect(shown((await agent.turn(question)).hits)).toEqual(expected.slice(0, 2));
  });

  it('is an option of searches in the library', async () => {
    await using found = await CatalogModels.open(models);
    await using model = await Reranker.load(await tinyReranker('one-layer'));
    await using storage = await createStorage({ strings, model: await found.resolve('tiny') });
    const { hits, rerank } = await storage.search({
      text: question,
      topK: 3,
      rerank: { model, candidates: 12 },
    });
    const expected = await expectedOrder();
    expect(hits.map(({ id, rerankScore: score }) => ({ id, score }))).toEqual(expected.slice(0, 3));
    expect(rerank).toMatchObject({ reranked: true, documents: 12 });
    await expect(
      storage.search({ text: question, rerank: { model, candidate: 3 } as never }),
    ).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringContaining('rerank.candidate'),
    });
    await expect(
      storage.search({ text: question, rerank: { model: 'judge' } as never }),
    ).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', detail: { field: 'rerank.model' } });
  });
});
