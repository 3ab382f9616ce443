import { writeFileSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import type { Graph } from '../../src/client/index.js';
import { buildKnowledgeBase, openKnowledgeBase } from '../../src/knowledge/index.js';
import {
  embeddingsOf,
  FakeModelServer,
  probeText,
  replyEvents,
  sendEvents,
  sendJson,
  wellBehaved,
} from '../helpers/fake-model-server.js';
import { corpus, strings } from './corpus.js';
import { answerWith, found, knowledgeBase, serverWith, usual } from './remote-setting.js';
import { retrieveGraph } from './test-server.js';

describe('a server with a remote embedding model', () => {
  it('makes storages with it, and finds in them', async () => {
    const peer = await FakeModelServer.start(usual);
    const session = await (await serverWith({ url: peer.url })).session();
    await session.createEmbeddedStringStorage({ name: 'docs', strings, embeddingModel: 'far' });
    for (const { text, question } of corpus.slice(0, 3)) expect(await found(session, question)).toBe(text);
    const { models } = await session.listModels();
    expect(models.find(({ name }) => name === 'far')).toMatchObject({
      loaded: true,
      device: 'remote',
      variants: [{ state: 'present', device: 'remote', downloadable: false }],
    });
    expect(JSON.stringify(models)).not.toContain('127.0.0.1');
  });

  it('serves others while its peer does not answer, on one thread', async () => {
    const peer = await FakeModelServer.start(usual);
    const server = await serverWith({ url: peer.url, parallel: 1 }, { thread_count: 1 });
    const [stuck, quick] = [await server.session(), await server.session()];
    for (const [session, embeddingModel] of [
      [stuck, 'far'],
      [quick, 'tiny'],
    ] as const)
      await session.createEmbeddedStringStorage({ name: 'docs', strings, embeddingModel });
    const before = peer.requests.length;
    peer.answer = () => {};
    const agent = await stuck.createAgent({ graph: retrieveGraph({ mode: 'dense' }) });
    const stop = new AbortController();
    const turn = agent.turn('bees', { signal: stop.signal });
    const searches = [1, 2, 3].map(() => found(stuck, 'bees'));
    await vi.waitFor(() => expect(peer.requests.length).toBe(before + 1));
    expect(await found(quick, corpus[0]?.question ?? '')).toBe(corpus[0]?.text);
    await quick.createEmbeddedStringStorage({ name: 'more', strings, embeddingModel: 'tiny' });
    const [asked] = peer.requests.slice(before);
    if (asked === undefined) throw new Error('nothing was asked');
    stop.abort();
    await Promise.allSettled([turn, stuck.destroy(), ...searches]);
    await asked.aborted;
  });

  it('ends the request of a turn that is cancelled', async () => {
    const peer = await FakeModelServer.start(usual);
    const session = await (await serverWith({ url: peer.url })).session();
    await session.createEmbeddedStringStorage({ name: 'docs', strings, embeddingModel: 'far' });
    const agent = await session.createAgent({ graph: retrieveGraph({ mode: 'dense' }) });
    const before = peer.requests.length;
    peer.answer = () => {};
    const stop = new AbortController();
    const turn = agent.turn('bees', { signal: stop.signal }).catch(() => {});
    await vi.waitFor(() => expect(peer.requests.length).toBe(before + 1));
    stop.abort();
    await peer.requests[before]?.aborted;
    await turn;
    peer.answer = usual;
    expect(await found(session, corpus[0]?.question ?? '')).toBe(corpus[0]?.text);
  });

  it('shares it fairly: a client that asks for much waits for itself', async () => {
    const peer = await FakeModelServer.start(usual);
    const server = await serverWith({ url: peer.url, parallel: 1, batch_texts: 1 });
    const [greedy, modest] = [await server.session(), await server.session()];
    await modest.createEmbeddedStringStorage({
      name: 'docs',
      strings: ['bees dance'],
      embeddingModel: 'far',
    });
    const many = Array.from({ length: 60 }, (_, at) => `text of the greedy client, number ${at}`);
    const before = peer.requests.length;
    const filling = greedy.createEmbeddedStringStorage({
      name: 'docs',
      strings: many,
      embeddingModel: 'far',
    });
    await vi.waitFor(() => expect(peer.requests.length).toBeGreaterThan(before));
    await found(modest, 'a modest question');
    await filling;
    const order = peer.inputs.flat();
    expect(order.indexOf('a modest question')).toBeLessThan(order.indexOf(many.at(-1) ?? ''));
  });

  it('tells clients a code, and nothing of its peer', async () => {
    const peer = await FakeModelServer.start(({ body }, response) =>
      body.input.includes(probeText)
        ? sendJson(response, embeddingsOf(body.input))
        : sendJson(response, { error: { message: 'internal gossip' } }, 400),
    );
    const session = await (await serverWith({ url: peer.url })).session();
    const creation = session.createEmbeddedStringStorage({ name: 'docs', strings, embeddingModel: 'far' });
    const error = await creation.then(
      () => undefined,
      (thrown) => thrown,
    );
    expect(error).toMatchObject({ code: 5001 });
    expect(error.message).toMatch(
      /model "far": the server that computes it refuses the request \(status 400\)/,
    );
    expect(error.message).not.toMatch(/gossip|127\.0\.0\.1/);
  });
});

describe('a server with a remote language model and a remote reranker', () => {
  const retrieve = { id: 'kb', type: 'retrieve', params: { embedded_string_storage: 'docs', top_k: 5 } };

  async function scene(remote: object = {}) {
    const peer = await FakeModelServer.start();
    const session = await (await serverWith({ url: peer.url, ...remote })).session();
    await session.createEmbeddedStringStorage({ name: 'docs', strings, embeddingModel: 'tiny' });
    const agentOf = (params: object = {}, nodes: object[] = [retrieve]) => {
      const say = { id: 'say', type: 'generate', params: { model: 'talk', ...params } };
      return session.createAgent({ graph: { nodes: [...nodes, say] } as Graph, enableDiagnostics: true });
    };
    return { peer, session, agentOf };
  }

  it('replies, and states what it cost', async () => {
    const { peer, agentOf } = await scene();
    const agent = await agentOf({ system: 'Be brief.', max_tokens: 30, temperature: 0, stop: ['@'] });
    const complete = await agent.turn('How does the moon make tides?');
    expect(complete.text).toBe('Hello, kind world.');
    expect(complete).toMatchObject({ finish: 'stop', usage: { prompt: 30, cached: 0, completion: 4 } });
    const { body } = peer.requests.at(-1) ?? {};
    expect(body).toMatchObject({
      model: 'far-away',
      max_tokens: 30,
      temperature: 0,
      stop: ['@'],
      stream: true,
    });
    expect(body.messages[0]).toEqual({ role: 'system', content: 'Be brief.' });
    expect(body.messages.at(-1).content).toContain('How does the moon make tides?');
    await agent.turn('And again?');
    const reply = { role: 'assistant', content: 'Hello, kind world.' };
    expect(peer.requests.at(-1)?.body.messages).toContainEqual(reply);
  });

  it.each([
    ['grammar', { grammar: 'root ::= "a"' }],
    ['actions', { actions: [{ name: 'go' }] }],
    ['cite', { cite: 'verbatim' }],
    ['top_k', { top_k: 5 }],
    ['min_p', { min_p: 0.1 }],
    ['repeat_penalty', { repeat_penalty: 1.1 }],
    ['thinking', { thinking: 'on' }],
  ])('refuses %s when the agent is created', async (param, params) => {
    const { agentOf } = await scene();
    const error = await agentOf(params).then(
      () => undefined,
      (thrown) => thrown,
    );
    expect(error).toMatchObject({ code: 4003 });
    expect(error.message).toMatch(new RegExp(`params\\.${param}: `));
  });

  it('passes a JSON Schema on, and the options that its kind of server has', async () => {
    const { peer, agentOf } = await scene({ api: 'llama-server' });
    peer.answer = (_, response) => sendEvents(response, replyEvents('{"n":4}'));
    const json_schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
    const agent = await agentOf({ json_schema, top_k: 5 });
    expect((await agent.turn('a number')).text).toBe('{"n":4}');
    const { body } = peer.requests.at(-1) ?? {};
    expect(body).toMatchObject({ top_k: 5, response_format: { json_schema: { schema: json_schema } } });
  });

  it('closes the request of a turn that is cancelled, while others go on', async () => {
    const { peer, session, agentOf } = await scene({ parallel: 1 });
    const agent = await agentOf({}, []);
    peer.answer = (_, response) => sendEvents(response, replyEvents('Hello').slice(0, 1), false);
    const stop = new AbortController();
    const turn = agent.turn('hello', { signal: stop.signal }).catch(() => {});
    await vi.waitFor(() => expect(peer.requests).toHaveLength(1));
    expect(await found(session, corpus[0]?.question ?? '')).toBe(corpus[0]?.text);
    stop.abort();
    await peer.requests[0]?.aborted;
    await turn;
    peer.answer = wellBehaved;
    expect((await agent.turn('hello again')).text).toBe('Hello, kind world.');
  });

  it('tells clients that the other server fails, and nothing of it', async () => {
    const { peer, agentOf } = await scene();
    const agent = await agentOf();
    peer.answer = (_, response) => sendJson(response, { error: 'gossip' }, 401);
    const told = await agent.turn('hello').then(
      (frame) => JSON.stringify(frame),
      (error) => `${error.code} ${error.message}`,
    );
    expect(told).toMatch(/5001.*the server that computes it refuses the secret/);
    expect(told).not.toMatch(/gossip|127\.0\.0\.1/);
  });

  it('reranks in searches and in turns', async () => {
    const { peer, session } = await scene();
    const rerank = { model: 'judge', candidates: 12 };
    const text = 'dried stigma crocus';
    const { hits } = await session.search({ name: 'docs', text, mode: 'dense', topK: 2, rerank });
    expect(hits[0]?.text).toMatch(/^Saffron is the dried stigma/);
    expect(hits[0]?.rerankScore).toBe(3);
    const best = { id: 'best', type: 'rerank', params: { model: 'judge', top_k: 1 } };
    const all = { ...retrieve, params: { ...retrieve.params, top_k: 12, emit: true } };
    const agent = await session.createAgent({ graph: { nodes: [all, best] } as Graph });
    await agent.turn(text);
    expect(peer.requests.at(-1)).toMatchObject({ path: '/v1/rerank', body: { query: text } });
    peer.answer = () => {};
    const late = { ...rerank, deadlineMs: 50 };
    const search = session.search({ name: 'docs', text, mode: 'dense', topK: 2, rerank: late });
    expect((await search).hits).toHaveLength(2);
    await peer.requests.at(-1)?.aborted;
  });
});

describe('an index with a remote model', () => {
  it('opens without embedding its records again', async () => {
    const peer = await FakeModelServer.start(usual);
    const { config, models } = await knowledgeBase({ url: peer.url });
    await buildKnowledgeBase(config, { models });
    const before = peer.inputs.flat().length;
    await using kb = await openKnowledgeBase(config, { models });
    expect(peer.inputs.flat()).toHaveLength(before + 2);
    const { hits } = await kb.search({ text: corpus[1]?.question ?? '', mode: 'dense' });
    expect(hits[0]?.text).toBe(corpus[1]?.text);
    await models.close();
  });

  it('is refused if the server computes another model by now, even a new process', async () => {
    const peer = await FakeModelServer.start(usual);
    const { config, models, folder } = await knowledgeBase({ url: peer.url });
    await buildKnowledgeBase(config, { models });
    await models.close();
    peer.answer = answerWith(99);
    const later = await knowledgeBase({ url: peer.url }, folder);
    await expect(openKnowledgeBase(config, { models: later.models })).rejects.toThrow(
      /kb\.index: the vectors of these records are not of the model "far".*remote\.revision/,
    );
    await later.models.close();
    const renewed = await knowledgeBase({ url: peer.url, revision: '2' }, folder);
    await using kb = await openKnowledgeBase(config, { models: renewed.models });
    expect(kb.size).toBe(strings.length);
    await renewed.models.close();
  });

  it('names the record that is too long', async () => {
    const peer = await FakeModelServer.start((asked, response) =>
      asked.body.input.some((text: string) => text === strings[3])
        ? sendJson(response, { error: { type: 'exceed_context_size_error' } }, 400)
        : usual(asked, response),
    );
    const { config, models } = await knowledgeBase({ url: peer.url });
    await expect(buildKnowledgeBase(config, { models })).rejects.toMatchObject({
      code: 'TEXT_TOO_LONG',
      detail: { record: 3, id: 'r3' },
    });
    await models.close();
  });

  it('cannot truncate texts, and says so', async () => {
    const peer = await FakeModelServer.start(usual);
    const { config, models } = await knowledgeBase({ url: peer.url });
    writeFileSync(
      config,
      JSON.stringify({
        embedding_model: 'far',
        records_file: 'records.json',
        index_file: 'kb.index',
        long_text: 'truncate',
      }),
    );
    await expect(buildKnowledgeBase(config, { models })).rejects.toThrow(
      /long_text: "truncate" needs a model/,
    );
    await models.close();
  });
});
