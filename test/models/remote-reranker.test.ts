import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { RemoteServer } from '../../src/models/remote/remote-server.js';
import { RemoteReranker } from '../../src/models/remote/reranker.js';
import { type RemoteSettings, remoteSchema } from '../../src/models/remote/settings.js';
import { type Answerer, FakeModelServer, ranksOf, sendJson } from '../helpers/fake-model-server.js';

async function open(answer: Answerer, settings: Partial<RemoteSettings> = {}) {
  const peer = await FakeModelServer.start(answer);
  const all = remoteSchema.parse({ url: peer.url, model: 'far-away', retries: 0, ...settings });
  const server = await RemoteServer.open({ name: 'judge', file: '/models.json' }, all, (file) => file);
  const model = new RemoteReranker(server, 512);
  onTestFinished(() => model.close());
  return { peer, model };
}

const query = 'moon and tides';
const documents = ['bees dance', 'the moon makes tides', 'tides rise', 'the moon'];
const usual: Answerer = ({ body }, response) => sendJson(response, ranksOf(body.query, body.documents));

describe('a remote reranker', () => {
  it('sorts documents by the scores of its server, equal ones as they came', async () => {
    const { model, peer } = await open(usual);
    const ranking = await model.rank(query, documents);
    expect(ranking.results).toEqual([
      { index: 1, score: 2 },
      { index: 2, score: 1 },
      { index: 3, score: 1 },
      { index: 0, score: 0 },
    ]);
    expect(ranking).toMatchObject({ truncated: [], tokens: 20 });
    expect(peer.requests[0]).toMatchObject({
      path: '/v1/rerank',
      body: { model: 'far-away', query, documents, top_n: 4 },
    });
  });

  it('asks TEI in its own way', async () => {
    const { model, peer } = await open(
      ({ body }, response) =>
        sendJson(
          response,
          body.texts.map((_: string, index: number) => ({ index, score: -index })),
        ),
      { api: 'tei' },
    );
    expect((await model.rank(query, documents)).results.map(({ index }) => index)).toEqual([0, 1, 2, 3]);
    expect(peer.requests[0]?.body).toEqual({ query, texts: documents, raw_scores: true });
  });

  it('sends batches, whose scores are compared', async () => {
    const { model, peer } = await open(usual, { batch_texts: 2 });
    const ranking = await model.rank(query, documents);
    expect(ranking.results.map(({ index }) => index)).toEqual([1, 2, 3, 0]);
    expect(peer.requests).toHaveLength(2);
  });

  it('cuts documents that are too long, and says which', async () => {
    const { model } = await open((asked, response) =>
      asked.body.documents.some((text: string) => text.length > 100)
        ? sendJson(response, { error: { type: 'exceed_context_size_error' } }, 400)
        : usual(asked, response),
    );
    const long = `tides ${'and so on '.repeat(50)}`;
    const { results, truncated } = await model.rank(query, ['bees', long, 'moon tides']);
    expect(truncated).toEqual([1]);
    expect(results.map(({ index }) => index)).toEqual([2, 1, 0]);
  });

  it('says that a query leaves no room', async () => {
    const { model } = await open((_, response) => sendJson(response, {}, 413));
    await expect(model.rank(query, documents)).rejects.toMatchObject({ code: 'TEXT_TOO_LONG' });
  });

  it('ends its request when the caller stops waiting', async () => {
    const { model, peer } = await open(() => {});
    const stop = new AbortController();
    const ranking = model.rank(query, documents, { signal: stop.signal });
    ranking.catch(() => {});
    await vi.waitFor(() => expect(peer.requests).toHaveLength(1));
    stop.abort(new Error('enough'));
    await expect(ranking).rejects.toThrow('enough');
    await peer.requests[0]?.aborted;
  });

  const result = (index: unknown, relevance_score: unknown) => ({ index, relevance_score });
  it.each<[string, unknown, RegExp]>([
    ['too few scores', { results: [result(0, 1)] }, /1 scores for 2 documents/],
    ['a score twice', { results: [result(0, 1), result(0, 2)] }, /two scores of one document/],
    ['an index out of range', { results: [result(0, 1), result(2, 2)] }, /document that it was not given/],
    ['a negative index', { results: [result(0, 1), result(-1, 2)] }, /document that it was not given/],
    ['a null', { results: [result(0, 1), result(1, null)] }, /score that is not a finite number/],
    ['a text', { results: [result(0, 1), result(1, '2')] }, /score that is not a finite number/],
    ['no list', { hello: 1 }, /without a list of scores/],
  ])('refuses %s', async (_, answer, message) => {
    const { model } = await open((__, response) => sendJson(response, answer));
    await expect(model.rank(query, ['a', 'b'])).rejects.toThrow(message);
  });
});
