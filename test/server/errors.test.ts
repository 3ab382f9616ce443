import { describe, expect, it } from 'vitest';
import type { FilterExpression } from '../../lib/index.js';
import type { ClientSession } from '../../src/client/index.js';
import type { ServerError } from '../../src/protocol/errors.js';
import { refusal } from '../helpers/errors.js';
import { contextSize, overlong, strings } from './corpus.js';
import { retrieveGraph, TestServer } from './test-server.js';

const docs = { name: 'docs', strings: ['one bee'], embeddingModel: 'tiny' };

type Storage = Parameters<ClientSession['createEmbeddedStringStorage']>[0];
/** Fields of a storage, right or wrong. */
type AnyFields = { [Field in keyof Storage]?: unknown };

async function refusedStorage(fields: AnyFields): Promise<ServerError> {
  const session = await (await TestServer.start()).session();
  return refusal(session.createEmbeddedStringStorage({ ...docs, ...fields } as Storage));
}

describe('a storage is refused', () => {
  it.each([
    ['', 'not empty'],
    ['.hidden', 'malformed'],
    ['a b', 'malformed'],
    ['ä', 'malformed'],
    ['x'.repeat(129), 'malformed'],
    ['kb\n', 'malformed'],
    ['a/b', 'path'],
    ['kb.json', 'path'],
    ['lorekeep.docs', 'reserved'],
  ])('with 8001 for the name %j', async (name, reason) => {
    const error = await refusedStorage({ name });
    expect(error).toMatchObject({
      code: 8001,
      name: 'InvalidStorageName',
      message: expect.stringContaining(reason),
    });
  });

  it('with 8002 when the name is taken, also while the other is being made', async () => {
    const session = await (await TestServer.start()).session();
    const replies = await Promise.allSettled(
      [1, 2, 3, 4].map(() => session.createEmbeddedStringStorage(docs)),
    );
    expect(replies.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'rejected']);
    const error = await refusal(session.createEmbeddedStringStorage(docs));
    expect(error).toMatchObject({ code: 8002, name: 'StorageNameTaken', details: { name: 'docs' } });
    for (const reply of replies.slice(1))
      expect((reply as PromiseRejectedResult).reason).toMatchObject({ code: 8002 });
  });

  it('with 8003 for what is in it', async () => {
    const data = { code: 8003, name: 'InvalidEmbeddedStringStorageData' };
    expect(await refusedStorage({ strings: [] })).toMatchObject(data);
    expect(await refusedStorage({ strings: ['a', ' \n', ''] })).toMatchObject({
      ...data,
      details: { index: 1 },
    });
    expect(await refusedStorage({ embeddingModel: undefined })).toMatchObject(data);
    expect(await refusedStorage({ embeddingModel: 'tinny' })).toMatchObject({
      ...data,
      details: { nearest: 'tiny' },
    });
    expect(await refusedStorage({ embeddingModel: 'talker' })).toMatchObject(data);
    expect(await refusedStorage({ strings: Array.from({ length: 100_001 }, () => 'a') })).toMatchObject({
      ...data,
      details: { count: 100_001, limit: 100_000 },
    });
  });

  it('with 8003 for a string over the context, naming index, tokens and limit, wherever it stands', async () => {
    for (const index of [0, 300]) {
      const many = Array.from({ length: 301 }, (_, at) => (at === index ? overlong : `bee ${at}`));
      const error = await refusedStorage({ strings: many });
      expect(error).toMatchObject({ code: 8003, details: { index, limit: contextSize } });
      expect(error.details.tokens).toBeGreaterThan(contextSize);
      expect(error.message).toContain(`strings[${index}]`);
    }
  });

  it('with the field in the details, whatever is wrong', async () => {
    const paths: [AnyFields, string][] = [
      [{ name: 'a b' }, 'name'],
      [{ strings: [] }, 'strings'],
      [{ strings: Array.from({ length: 100_001 }, () => 'a') }, 'strings'],
      [{ strings: ['a', ' '] }, 'strings[1]'],
      [{ strings: ['a', overlong] }, 'strings[1]'],
      [{ embeddingModel: undefined }, 'embedding_model'],
      [{ embeddingModel: 'tinny' }, 'embedding_model'],
      [{ configPath: '../kb.json', strings: undefined }, 'config_path'],
    ];
    for (const [fields, path] of paths) {
      expect((await refusedStorage(fields)).details, path).toMatchObject({ path });
    }
  });

  it('with 8004 when both or neither of its sources are set', async () => {
    const ambiguous = { code: 8004, name: 'AmbiguousStorageSource' };
    expect(await refusedStorage({ configPath: 'kb/config.json' })).toMatchObject(ambiguous);
    expect(await refusedStorage({ strings: undefined })).toMatchObject(ambiguous);
    expect((await refusedStorage({ strings: undefined })).details).toEqual({ set: [] });
  });

  it.each([
    ['damaged', 'MODEL_INVALID'],
    ['absent', 'NOT_FOUND'],
    ['narrow', 'DIMENSION_MISMATCH'],
  ])('with 5001 when its model is %s, and again when asked again', async (embedding_model, reason) => {
    const session = await (await TestServer.start()).session();
    for (let attempt = 0; attempt < 2; attempt++) {
      const error = await refusal(
        session.createEmbeddedStringStorage({ ...docs, embeddingModel: embedding_model }),
      );
      expect(error).toMatchObject({
        code: 5001,
        name: 'ModelLoadFailed',
        details: { model: embedding_model, reason },
      });
      expect(error.message).not.toContain('.gguf');
    }
  });

  it('with 5001 when its model would have to be downloaded', async () => {
    expect(await refusedStorage({ embeddingModel: 'remote' })).toMatchObject({ code: 5001 });
  });

  it('and its name is free again', async () => {
    const session = await (await TestServer.start()).session();
    const bad = session.createEmbeddedStringStorage({ ...docs, strings: ['fine', overlong] });
    expect((await refusal(bad)).code).toBe(8003);
    await session.createEmbeddedStringStorage(docs);
  });
});

describe('what does not exist', () => {
  it('is 8005 for the name of a storage, and 3010 for a node param, which may be a path; both name the nearest', async () => {
    const session = await (await TestServer.start()).session();
    await session.createEmbeddedStringStorage(docs);
    const missing = { code: 8005, name: 'StorageNotFound', details: { path: 'name', nearest: 'docs' } };
    expect(await refusal(session.search({ name: 'dosc', text: 'bee' }))).toMatchObject(missing);
    expect(await refusal(session.destroyEmbeddedStringStorage('doc'))).toMatchObject(missing);
    const graph = retrieveGraph({ embedded_string_storage: 'docz' });
    const path = 'graph.nodes[0].params.embedded_string_storage';
    expect(await refusal(session.createAgent({ graph }))).toMatchObject({
      code: 3010,
      name: 'StorageFileNotFound',
      message: expect.stringMatching(
        /^graph\.nodes\[0\].*"docz".*no storage of this name either; did you mean "docs"\?$/,
      ),
      details: { path, nearest: 'docs' },
    });
  });

  it('is 2001 for a session, 4007 for an agent, 4008 for a turn', async () => {
    const server = await TestServer.start();
    const session = await server.session();
    await session.createEmbeddedStringStorage(docs);
    const agent = await session.createAgent({ graph: retrieveGraph() });
    const raw = await server.raw();
    const theirs = await raw.request({ type: 'DestroySessionRequest', id: 1, session_id: session.id });
    expect(theirs).toMatchObject({ type: 'Error', code: 2001, name: 'SessionNotFound' });
    await agent.destroy();
    expect(await refusal(agent.turn('bee'))).toMatchObject({ code: 4007, name: 'AgentNotFound' });
    expect(await refusal(agent.destroy())).toMatchObject({ code: 4007 });
    const { session_id } = await raw.request<{ session_id: string } & never>({
      type: 'CreateSessionRequest',
      id: 2,
    });
    const cancelled = await raw.request({ type: 'CancelTurnRequest', id: 3, session_id, turn_id: 't1' });
    expect(cancelled).toMatchObject({ type: 'Error', code: 4008, name: 'TurnNotFound' });
    await session.destroy();
    expect(await refusal(session.search({ name: 'docs', text: 'bee' }))).toMatchObject({ code: 2001 });
  });
});

describe('a search or a turn', () => {
  it('is refused with 1004 or 4003 when its filter names what the storage does not have', async () => {
    const session = await (await TestServer.start()).session();
    await session.createEmbeddedStringStorage({ ...docs, strings });
    const filter: FilterExpression = { '==': [{ knowledge: 'year' }, 1] };
    const search = await refusal(session.search({ name: 'docs', text: 'bee', filter }));
    expect(search).toMatchObject({ code: 1004, details: { path: 'filter' } });
    const agent = await refusal(session.createAgent({ graph: retrieveGraph({ filter }) }));
    expect(agent).toMatchObject({ code: 4003, details: { path: 'graph.nodes[0].params.filter' } });
  });

  it.each(['tiny', 'weighted'])(
    'is refused with 1004 or 4003 when both legs of a hybrid search weigh nothing: model %s',
    async (embedding_model) => {
      const session = await (await TestServer.start()).session();
      await session.createEmbeddedStringStorage({ ...docs, strings, embeddingModel: embedding_model });
      // The dense leg of "weighted" weighs 0 by its catalog entry.
      const weights = embedding_model === 'tiny' ? { dense: 0, lexical: 0 } : { lexical: 0 };
      const params = { mode: 'hybrid', rrf: { weights } } as const;
      const search = { name: 'docs', text: 'bee', ...params };
      const path = 'rrf.weights';
      expect(await refusal(session.search(search))).toMatchObject({ code: 1004, details: { path } });
      expect(await refusal(session.createAgent({ graph: retrieveGraph(params) }))).toMatchObject({
        code: 4003,
        details: { path: `graph.nodes[0].params.${path}` },
      });
      const dense = { ...search, mode: 'dense', rrf: undefined } as const;
      expect(await session.search(dense)).toMatchObject({ plan: { mode: 'dense' } });
    },
  );

  it('never fails because the text is longer than the model takes', async () => {
    const session = await (await TestServer.start()).session();
    await session.createEmbeddedStringStorage({ ...docs, strings });
    const agent = await session.createAgent({ graph: retrieveGraph() });
    expect(await agent.turn(overlong)).toMatchObject({ status: 'completed' });
    for (const mode of ['dense', 'lexical', 'hybrid'] as const) {
      expect((await session.search({ name: 'docs', text: overlong, mode })).hits[0]?.id).toBe('0');
    }
  });

  it('fails by 4003 when its query comes to nothing', async () => {
    const session = await (await TestServer.start()).session();
    await session.createEmbeddedStringStorage(docs);
    const agent = await session.createAgent({ graph: retrieveGraph({ query: '{{variables.topic}}' }) });
    const path = 'graph.nodes[0].params.query';
    expect(await agent.turn('bee')).toMatchObject({
      status: 'failed',
      error: { code: 4003, details: { path } },
    });
    expect(await agent.turn('x', { variables: { topic: 'bee' } })).toMatchObject({ status: 'completed' });
  });
});
