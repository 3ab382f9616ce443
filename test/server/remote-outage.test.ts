import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { ClientSession } from '../../src/client/index.js';
import { buildKnowledgeBase, CatalogModels, openKnowledgeBase } from '../../src/knowledge/index.js';
import { createLog } from '../../src/log/log.js';
import { FakeModelServer } from '../helpers/fake-model-server.js';
import { corpus, strings } from './corpus.js';
import { answerWith, inFolder, knowledgeBase, usual } from './remote-setting.js';
import { TestServer } from './test-server.js';

const [first, second] = corpus as unknown as [(typeof corpus)[number], (typeof corpus)[number]];

/** A knowledge base that was built, and the server of its model. */
async function built(config: object = {}, remote: object = {}) {
  const peer = await FakeModelServer.start(usual);
  const made = await knowledgeBase({ url: peer.url, ...remote }, mkdtempSync(inFolder('kb-')), config);
  await buildKnowledgeBase(made.config, { models: made.models });
  await made.models.close();
  return { ...made, peer, catalog: join(made.folder, 'models.json') };
}

/** Opens it as a new process does. */
async function opened({ config, catalog }: { config: string; catalog: string }) {
  const models = await CatalogModels.open(catalog);
  onTestFinished(() => models.close());
  const kb = await openKnowledgeBase(config, { models });
  onTestFinished(() => kb.close());
  return kb;
}

/** Repeats a call until the server is asked again. */
const eventually = <T>(call: () => Promise<T>) => vi.waitFor(call);

const words = (text: string) => ({ text, mode: 'lexical', topK: 1 }) as const;
const meaning = (text: string) => ({ text, mode: 'dense', topK: 1 }) as const;
const unreachable = /model "far".*the server 127\.0\.0\.1:\d+ cannot be reached/;

describe('a knowledge base whose model is on a server that is down', () => {
  it.each([
    ['an index file', {}],
    ['an embeddings file alone', { index_file: undefined }],
  ])('opens with %s, and is searched for words', async (_, config) => {
    const made = await built(config);
    made.peer.stop();
    const kb = await opened(made);
    expect(kb.size).toBe(strings.length);
    expect((await kb.search(words(first.text))).hits[0]?.text).toBe(first.text);
    for (const mode of ['dense', 'hybrid'] as const)
      await expect(kb.search({ text: first.question, mode })).rejects.toThrow(unreachable);
    await expect(kb.add([{ id: 'new', text: 'a new text' }])).rejects.toThrow(unreachable);
    await kb.remove(['r11']);
    await made.peer.restart();
    const { hits } = await eventually(() => kb.search(meaning(first.question)));
    expect(hits[0]?.text).toBe(first.text);
    await kb.add([{ id: 'new', text: 'a new text' }]);
    expect((await kb.search(meaning('a new text'))).hits[0]?.id).toBe('new');
  });

  it('compares its vectors when the server answers, and refuses those of another model', async () => {
    const made = await built();
    made.peer.stop();
    const kb = await opened(made);
    made.peer.answer = answerWith(99);
    await made.peer.restart();
    const other = /kb\.index: the vectors of these records are not of the model "far".*remote\.revision/;
    await expect(kb.search(meaning(first.question))).rejects.toThrow(other);
    await expect(kb.search(meaning(first.question))).rejects.toThrow(other);
    expect((await kb.search(words(first.text))).hits[0]?.text).toBe(first.text);
    made.peer.answer = usual;
    expect((await kb.search(meaning(first.question))).hits[0]?.text).toBe(first.text);
    expect(made.peer.inputs.flat().filter((text) => text === first.question)).toHaveLength(1);
  });

  it('compares other records if the first and the last were removed', async () => {
    const made = await built();
    made.peer.stop();
    const kb = await opened(made);
    await kb.remove(['r0', `r${strings.length - 1}`]);
    made.peer.answer = answerWith(99);
    await made.peer.restart();
    await expect(kb.search(meaning(second.question))).rejects.toThrow(/are not of the model "far"/);
  });

  it('opens if the server answers with anything but embeddings', async () => {
    const made = await built();
    made.peer.answer = (_, response) => void response.end('<html>Down for maintenance</html>');
    const kb = await opened(made);
    expect((await kb.search(words(first.text))).hits[0]?.text).toBe(first.text);
    await expect(kb.search(meaning(first.question))).rejects.toThrow(/something that is not JSON/);
    made.peer.answer = usual;
    expect((await kb.search(meaning(first.question))).hits[0]?.text).toBe(first.text);
  });

  it('does not open without any stored vectors', async () => {
    const made = await built();
    for (const name of ['kb.index', 'kb.embeddings']) rmSync(join(made.folder, name));
    made.peer.stop();
    await expect(opened(made)).rejects.toThrow(unreachable);
  });

  it('does not open if its server computes vectors of another dimension', async () => {
    const made = await built();
    made.peer.answer = ({ body }, response) =>
      response.end(
        JSON.stringify({ data: body.input.map((text: string) => ({ embedding: [1, text.length] })) }),
      );
    await expect(opened(made)).rejects.toThrow(/of 2 numbers|embeds different texts alike|dimension/);
  });
});

describe('a server whose remote embedding model is down', () => {
  const lexical = {
    id: 'kb',
    type: 'retrieve',
    params: { embedded_string_storage: 'kb.json', mode: 'lexical', top_k: 1 },
  };
  const dense = { ...lexical, params: { ...lexical.params, mode: 'dense' } };

  async function scene(remote: object = {}, config: object = {}) {
    const made = await built({}, remote);
    made.peer.stop();
    const all = { storage_root: made.folder, models_catalog_path: made.catalog, ...config };
    const lines: string[] = [];
    const log = createLog('info', { write: (line: string) => void lines.push(line) });
    const server = await TestServer.start({ config: all, log });
    return { ...made, server, session: await server.session(), settings: all, lines };
  }

  const agentOf = (session: ClientSession, node: object) =>
    session.createAgent({ graph: { nodes: [node] } as never });

  /** The text of the first hit of a turn. */
  const answer = async (agent: Awaited<ReturnType<typeof agentOf>>, question: string) =>
    (await agent.turn(question, { hits: true })).hits?.[0]?.text;

  it('starts, and serves agents that look for words; the others recover without a restart', async () => {
    const { session, peer } = await scene();
    const looking = await agentOf(session, lexical);
    expect(await answer(looking, first.text)).toBe(first.text);
    const thinking = await agentOf(session, dense);
    const failed = await thinking.turn(first.question).then(
      (frame) => JSON.stringify(frame),
      (error) => `${error.code} ${error.message}`,
    );
    expect(failed).toMatch(/5001.*model \\?"far\\?": the server that computes it cannot be reached/);
    expect(failed).not.toContain('127.0.0.1');
    await session.createEmbeddedStringStorage({ name: 'other', strings, embeddingModel: 'tiny' });
    const search = { name: 'other', text: first.question, mode: 'dense', topK: 1 } as const;
    expect((await session.search(search)).hits[0]?.text).toBe(first.text);
    await peer.restart();
    expect(await answer(thinking, first.question)).toBe(first.text);
  });

  it('tells clients that it is another model by now, and no path', async () => {
    const { session, peer, folder } = await scene();
    const thinking = await agentOf(session, dense);
    peer.answer = answerWith(99);
    await peer.restart();
    const error = await thinking.turn(first.question).then(
      (frame) => JSON.stringify(frame),
      (thrown) => `${thrown.code} ${thrown.message}`,
    );
    expect(error).toMatch(/5001.*the vectors of these records are not of the model/);
    expect(error).not.toContain(folder);
  });

  it('gives a thread to others while it waits for the comparison', async () => {
    const { session, server, peer } = await scene({}, { thread_count: 1 });
    const thinking = await agentOf(session, dense);
    const looking = await agentOf(session, lexical);
    const before = peer.requests.length;
    peer.answer = () => {};
    await peer.restart();
    const stop = new AbortController();
    const turns = [1, 2, 3].map((at) =>
      thinking.turn(`question ${at}`, { signal: stop.signal }).catch(() => {}),
    );
    await vi.waitFor(() => expect(peer.requests.length).toBeGreaterThan(before));
    expect(await answer(looking, first.text)).toBe(first.text);
    const another = await agentOf(await server.session(), lexical);
    expect(await answer(another, second.text)).toBe(second.text);
    stop.abort();
    await Promise.all(turns);
    peer.answer = usual;
    expect(await answer(thinking, first.question)).toBe(first.text);
  });

  it('opens a base again that it has closed, while its server is down', async () => {
    const { session, server, peer } = await scene({}, { storage_cache_max_mb: 0 });
    await peer.restart();
    const thinking = await agentOf(session, dense);
    expect(await answer(thinking, first.question)).toBe(first.text);
    await session.destroy();
    peer.stop();
    const later = await server.session();
    const looking = await agentOf(later, lexical);
    expect(await answer(looking, first.text)).toBe(first.text);
  });

  it('pauses its requests after some failures: clients hear when to come back, and the metrics show it', async () => {
    const { server, session, peer, lines } = await scene({}, { metrics: { enabled: true, port: 0 } });
    const thinking = await agentOf(session, dense);
    const failures = [];
    for (let at = 0; at < 5; at++) failures.push((await thinking.turn(first.question)).error);
    expect(failures.at(-1)).toMatchObject({
      code: 5001,
      message: expect.stringMatching(/cannot be reached.*; it is asked again in \d+ s/),
      details: { model: 'far', retry_after_ms: expect.any(Number) },
    });
    const metrics = async () => (await fetch(`http://127.0.0.1:${server.server.metricsPort}/metrics`)).text();
    expect(await metrics()).toContain('lorekeep_remote_model_paused{model="far"} 1');
    expect(lines.filter((line) => line.includes('requests fail at once'))).toHaveLength(1);
    await peer.restart();
    await eventually(async () => expect(await answer(thinking, first.question)).toBe(first.text));
    expect(await metrics()).toContain('lorekeep_remote_model_paused{model="far"} 0');
    expect(lines.filter((line) => line.includes('answers again'))).toHaveLength(1);
  });

  it('opens a memory, and remembers once the server is back', async () => {
    const { server, peer, settings } = await scene({}, { memories_dir: mkdtempSync(inFolder('memories-')) });
    await peer.restart();
    const keep = (secret?: string) => ({
      id: 'keep',
      type: 'remember',
      params: { storage: 'memory', embeddingModel: 'far', scope: 'agent', ...(secret && { secret }) },
    });
    const created = await agentOf(await server.session(), keep());
    const secret = created.memories[0]?.secret as string;
    await server.server.close();
    peer.stop();
    const again = await TestServer.start({ config: settings });
    await agentOf(await again.session(), keep(secret));
  });
});
