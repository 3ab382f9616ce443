import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { beforeAll, expect, it } from 'vitest';
import { EmbeddingModel } from '../../lib/index.js';
import { buildKnowledgeBase } from '../../src/knowledge/index.js';
import type { ServerFrames } from '../../src/protocol/frames.js';
import { temporaryFolder } from '../helpers/folder.js';
import { corpus } from './corpus.js';
import type { RawClient } from './raw-client.js';
import { catalogPath, TestServer } from './test-server.js';

const file = temporaryFolder();
const records = corpus.map(({ text }, index) => ({ id: `r${index}`, text }));

beforeAll(() => {
  writeFileSync(file('records.json'), JSON.stringify(records));
});

function writeConfig(name: string, fields: object) {
  const config = { embedding_model: 'tiny', records_file: 'records.json', ...fields };
  writeFileSync(file(name), JSON.stringify(config));
}

/** A session of a server whose storage root is the folder. */
async function session() {
  const server = await TestServer.start({ config: { storage_root: file() } });
  const client = await server.raw();
  const { session_id } = await client.request<never>({
    type: 'CreateSessionRequest',
    id: 's',
  });
  return { client, session_id };
}

/** The error of a turn of the session's only agent. */
async function turn(client: RawClient, session_id: string) {
  client.send({ type: 'TurnRequest', id: 'turn', session_id, agent_id: `${session_id}.a1`, text: 'bees' });
  const ended = await client.next<ServerFrames['TurnComplete']>(({ type }) => type === 'TurnComplete');
  return ended.error;
}

it('a file that is not ours stays, and the refusal names both files without their folders', async () => {
  const { client, session_id } = await session();
  const before = readFileSync(file('records.json'), 'utf8');
  for (const field of ['bm25_file', 'embeddings_file', 'index_file']) {
    writeConfig('over.json', { [field]: 'records.json' });
    const create = { type: 'CreateEmbeddedStringStorageRequest', session_id, name: field };
    const reply = await client.request({ ...create, id: field, config_path: 'over.json' });
    expect(reply).toMatchObject({ type: 'Error', code: 8003 });
    expect(JSON.stringify(reply)).toContain('over.json');
    expect(JSON.stringify(reply)).toContain('records.json');
    expect(JSON.stringify(reply)).not.toContain(file());
  }
  expect(readFileSync(file('records.json'), 'utf8')).toBe(before);
});

it('an index that is changed in place is an error of the next search, and the server goes on', async () => {
  const { client, session_id } = await session();
  writeConfig('kb.json', { index_file: 'kb.index' });
  await using model = await EmbeddingModel.load(catalogPath.replace('models.json', 'tiny.gguf'));
  await buildKnowledgeBase(file('kb.json'), { models: async () => ({ model }) });
  const create = { type: 'CreateEmbeddedStringStorageRequest', session_id, name: 'kb' };
  const made = await client.request({ ...create, id: 'create', config_path: 'kb.json' });
  expect(made).toMatchObject({ record_count: records.length });
  const search = { type: 'SearchEmbeddedStringStorageRequest', session_id, name: 'kb', text: 'bees' };
  expect(await client.request({ ...search, id: 'before' })).toMatchObject({
    type: 'SearchEmbeddedStringStorageResponse',
  });
  const graph = { nodes: [{ id: 'kb', type: 'retrieve', params: { embedded_string_storage: 'kb' } }] };
  await client.request({ type: 'CreateAgentRequest', id: 'agent', session_id, graph });
  writeFileSync(file('kb.index'), Buffer.alloc(readFileSync(file('kb.index')).length, 0x5a));
  const reply = await client.request({ ...search, id: 'after' });
  expect(reply).toMatchObject({
    type: 'Error',
    code: 8003,
    message: expect.stringMatching(/^name: "kb": a file of the storage was changed in place/),
    details: { path: 'name', storage: 'kb' },
  });
  expect(await turn(client, session_id)).toMatchObject({
    code: 8003,
    message: expect.stringMatching(/^graph\.nodes\[0\]\.params\.embedded_string_storage: "kb": a file /),
  });
  expect(JSON.stringify(reply)).not.toContain(file());
  const strings = { strings: ['bees'], embedding_model: 'tiny' };
  await client.request({ ...create, id: 'notes', name: 'notes', ...strings });
  const { name: _, ...unnamed } = search;
  expect(await client.request({ ...unnamed, id: 'both', names: ['notes', 'kb'] })).toMatchObject({
    code: 8003,
    details: { path: 'names[1]', storage: 'kb' },
  });
  expect(await client.request({ type: 'Ping', id: 'ping' })).toMatchObject({ type: 'Pong' });
});

it.each(['dense', 'hybrid', 'lexical'])(
  'noise written over an index in place is 8003 for a %s search',
  async (mode) => {
    const { client, session_id } = await session();
    writeConfig('noise.json', { index_file: `${mode}.index` });
    await using model = await EmbeddingModel.load(catalogPath.replace('models.json', 'tiny.gguf'));
    for (const byte of [0xff, 0x7f, 0x80, 0]) {
      await buildKnowledgeBase(file('noise.json'), { models: async () => ({ model }) });
      const create = { type: 'CreateEmbeddedStringStorageRequest', session_id, name: `kb${byte}` };
      await client.request({ ...create, id: `create${byte}`, config_path: 'noise.json' });
      // The first search of a storage samples its rows: it is not preceded by another one.
      writeFileSync(file(`${mode}.index`), Buffer.alloc(readFileSync(file(`${mode}.index`)).length, byte), {
        flag: 'r+',
      });
      const search = {
        type: 'SearchEmbeddedStringStorageRequest',
        session_id,
        name: `kb${byte}`,
        text: 'bees',
        mode,
      };
      expect(await client.request({ ...search, id: `search${byte}` })).toMatchObject({
        type: 'Error',
        code: 8003,
      });
      // A build replaces only files of ours.
      rmSync(file(`${mode}.index`));
    }
  },
);
