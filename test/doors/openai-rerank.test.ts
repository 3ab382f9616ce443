import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { Reranker } from '../../lib/index.js';
import { tinyReranker } from '../helpers/rerankers.js';
import { corpus } from '../server/corpus.js';
import { catalogPath } from '../server/test-server.js';
import { type Door, door } from './door-setting.js';

const documents = corpus.map(({ text }) => text);
const query = 'How does the moon make tides?';

/** A server with two rerankers of random weights. */
async function withRerankers(): Promise<Door> {
  const folder = mkdtempSync(join(tmpdir(), 'lorekeep-rerank-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const entry = (name: string, model_type: string, file: string) => ({
    name,
    model_type,
    variants: [{ file }],
  });
  const models = [
    entry('judge', 'reranker', await tinyReranker('one-layer')),
    entry('second', 'reranker', await tinyReranker('two-layer')),
    entry('tiny', 'embedding', join(catalogPath, '..', 'tiny.gguf')),
  ];
  const path = join(folder, 'models.json');
  writeFileSync(path, JSON.stringify({ version: 1, models }));
  return door({}, { config: { models_catalog_path: path } });
}

it('a reranker sorts texts as the library does', async () => {
  const { call } = await withRerankers();
  await using model = await Reranker.load(await tinyReranker('one-layer'));
  const { results: expected } = await model.rank(query, documents);
  const scores = expected.map(({ index, score }) => ({ index, relevance_score: score }));
  const reply = await call('POST', '/v1/rerank', { model: 'judge', query, documents });
  expect(reply.status, reply.text).toBe(200);
  expect(reply.json()).toMatchObject({ model: 'judge', results: scores });
  expect(reply.json().usage.total_tokens).toBeGreaterThan(0);
  // Cohere's and Open WebUI's clients send more, and nulls.
  const body = { query, documents: documents.map((text) => ({ text })), top_n: 2, return_documents: true };
  const best = await call('POST', '/v1/rerank', {
    ...body,
    model: null,
    max_chunks_per_doc: 10,
    user: 'ada',
  });
  expect(best.json().model).toBe('judge');
  expect(best.json().results).toEqual(
    scores.slice(0, 2).map((score) => ({ ...score, document: { text: documents[score.index] } })),
  );
  const all = await call('POST', '/v1/rerank', {
    ...body,
    model: 'second',
    top_n: null,
    return_documents: null,
  });
  expect(all.json().results).toHaveLength(documents.length);
  expect(all.json().results[0]).not.toHaveProperty('document');
  expect((await call('GET', '/v1/models')).json().data).toContainEqual(
    expect.objectContaining({ id: 'judge', kind: 'reranker' }),
  );
});

it('mistakes of a request to rerank are named', async () => {
  const { call } = await withRerankers();
  for (const [body, status, param, message] of [
    [{ model: 'jugde', query, documents }, 404, 'model', 'did you mean "judge"?'],
    [{ model: 'tiny', query, documents }, 404, 'model', 'is an embedding model; a reranker is expected'],
    [{ model: 'docs', query, documents }, 404, 'model', 'a reranker is expected'],
    [{ query, documents: [] }, 400, 'documents', 'documents: an array of'],
    [{ query: '', documents }, 400, 'query', 'query: a string of at least 1 character'],
    [{ documents }, 400, 'query', 'query: is missing'],
    [{ query, documents: ['a', 5] }, 400, 'documents[1]', 'a text, or {"text": ...}, is expected'],
    [{ query, documents, top_n: 0 }, 400, 'top_n', 'top_n: '],
  ] as const) {
    const refused = await call('POST', '/v1/rerank', body);
    expect(refused.status, `${JSON.stringify(body).slice(0, 60)} ${refused.text}`).toBe(status);
    expect(refused.json().error, message).toMatchObject({ param, message: expect.stringContaining(message) });
  }
});

it('a server without a reranker says so', async () => {
  const { call } = await door();
  const refused = await call('POST', '/v1/rerank', { query, documents });
  expect(refused.status).toBe(404);
  expect(refused.json().error).toMatchObject({
    code: 'model_not_found',
    message: expect.stringContaining('this server has no reranker'),
  });
});
