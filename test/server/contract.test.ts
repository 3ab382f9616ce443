import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { buildKnowledgeBase } from '../../src/knowledge/index.js';
import { createLog } from '../../src/log/log.js';
import { CatalogModels } from '../../src/models/catalog-models.js';
import { refusal } from '../helpers/errors.js';
import { temporaryFolder } from '../helpers/folder.js';
import { createTinyModel } from '../helpers/tiny-model/tiny-model.mjs';
import { strings } from './corpus.js';
import { catalogPath, TestServer } from './test-server.js';

/** Sentences of the specification about storages that no other file proves over the wire. */

const inFolder = temporaryFolder();
/** Place of the version in a sidecar: behind 8 bytes of magic. */
const versionAt = 8;

const records = strings.map((text, index) => ({ id: `r${index}`, text }));

function knowledgeBase(name: string, config: object): string {
  const path = `${name}/kb.json`;
  mkdirSync(dirname(inFolder(path)), { recursive: true });
  const whole = { embedding_model: 'tiny', records_file: 'records.json', ...config };
  writeFileSync(inFolder(path), JSON.stringify(whole));
  writeFileSync(inFolder(name, 'records.json'), JSON.stringify(records));
  return path;
}

const start = () => TestServer.start({ config: { storage_root: inFolder() } });

it('the embedding_model of a request is ignored beside config_path', async () => {
  const session = await (await start()).session();
  const configPath = knowledgeBase('plain', {});
  for (const embeddingModel of ['no such model', 'talker', '', undefined]) {
    const made = await session.createEmbeddedStringStorage({ name: 'kb', configPath, embeddingModel });
    expect(made.recordCount).toBe(records.length);
    await session.destroyEmbeddedStringStorage('kb');
  }
});

it('a knowledge base needs an embedding model of the catalog', async () => {
  const session = await (await start()).session();
  for (const model of ['no such model', 'talker']) {
    const configPath = knowledgeBase('other', { embedding_model: model });
    expect(await refusal(session.createEmbeddedStringStorage({ name: 'kb', configPath }))).toMatchObject({
      code: 8003,
      details: { path: 'config_path', field: 'embedding_model' },
    });
  }
});

it('an index of another dimension than the model is refused with 8003, and stays as it is', async () => {
  // Makes the model.
  await TestServer.start();
  await createTinyModel({ texts: strings, path: inFolder('small.gguf'), dimension: 64 });
  const entry = (name: string, file: string) => ({ name, model_type: 'embedding', variants: [{ file }] });
  const models = [
    entry('tiny', join(dirname(catalogPath), 'tiny.gguf')),
    entry('small', inFolder('small.gguf')),
  ];
  writeFileSync(inFolder('models.json'), JSON.stringify({ version: 1, models }));
  const config = { storage_root: inFolder(), models_catalog_path: inFolder('models.json') };
  const session = await (await TestServer.start({ config })).session();
  const configPath = knowledgeBase('index', { index_file: 'kb.index' });
  await using catalog = await CatalogModels.open(inFolder('models.json'));
  await buildKnowledgeBase(inFolder(configPath), { models: catalog });
  await session.createEmbeddedStringStorage({ name: 'right', configPath });
  const before = readFileSync(inFolder('index/kb.index'));
  knowledgeBase('index', { index_file: 'kb.index', embedding_model: 'small' });
  const refused = await refusal(session.createEmbeddedStringStorage({ name: 'wrong', configPath }));
  expect(refused).toMatchObject({ code: 8003, details: { path: 'config_path' } });
  expect(refused.message).toContain('dimension 512, not 64');
  expect(readFileSync(inFolder('index/kb.index')).equals(before)).toBe(true);
});

it('a text index of version 1 is built again when it is loaded', async () => {
  const configPath = knowledgeBase('words', { bm25_file: 'kb.bm25' });
  const sidecar = inFolder('words/kb.bm25');
  const search = async () => {
    const lines: string[] = [];
    const log = createLog('info', { write: (line) => void lines.push(line) });
    const server = await TestServer.start({ log, config: { storage_root: inFolder() } });
    const { hits } = await (await server.session()).search({
      name: configPath,
      text: 'bees',
      mode: 'lexical',
    });
    expect(hits[0]?.id).toBe('r0');
    return lines.filter((line) => line.includes('"text index built"')).map((line) => JSON.parse(line).reason);
  };
  expect(await search()).toHaveLength(1);
  expect(await search()).toEqual([]);
  const bytes = readFileSync(sidecar);
  expect(bytes[versionAt]).toBe(2);
  bytes[versionAt] = 1;
  writeFileSync(sidecar, bytes);
  expect(await search()).toEqual([expect.stringContaining('version')]);
  expect(readFileSync(sidecar)[versionAt]).toBe(2);
  expect(await search()).toEqual([]);
});

it('a name is taken by either kind of storage, and both sources at once are none', async () => {
  const session = await (await start()).session();
  const configPath = knowledgeBase('taken', {});
  const inline = { strings, embeddingModel: 'tiny' };
  await session.createEmbeddedStringStorage({ name: 'file', configPath });
  await session.createEmbeddedStringStorage({ name: 'strings', ...inline });
  for (const name of ['file', 'strings'])
    for (const source of [{ configPath }, inline])
      expect((await refusal(session.createEmbeddedStringStorage({ name, ...source }))).code).toBe(8002);
  for (const both of [strings, []]) {
    const request = { name: 'both', configPath, strings: both, embeddingModel: 'tiny' } as never;
    expect((await refusal(session.createEmbeddedStringStorage(request))).code).toBe(8004);
  }
});

it('without storage_root, paths start at the folder of the package', async () => {
  const session = await (await TestServer.start()).session();
  const params = { string_storage: 'LICENSE' };
  const agent = await session.createAgent({
    graph: { nodes: [{ id: 'n', type: 'canned_response', params }] },
  });
  expect((await agent.turn('x')).status).toBe('completed');
});
