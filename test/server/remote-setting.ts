/** Servers, catalogs and knowledge bases with remote models, for tests. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ClientSession } from '../../src/client/index.js';
import { CatalogModels } from '../../src/knowledge/index.js';
import { type Answerer, embeddingsOf, sendJson, vectorOf } from '../helpers/fake-model-server.js';
import { temporaryFolder } from '../helpers/folder.js';
import { strings } from './corpus.js';
import { catalogPath, TestServer, type TestServerOptions } from './test-server.js';

export const inFolder = temporaryFolder();

/** Embeds as one model; another seed is another model. */
export const answerWith =
  (seed: number): Answerer =>
  ({ body }, response) =>
    sendJson(
      response,
      embeddingsOf(body.input, (text) => vectorOf(text, 64, seed)),
    );
export const usual = answerWith(7);

/** A catalog with the model "tiny" of this machine and the remote model "far". */
export async function catalogOf(remote: object, folder = mkdtempSync(inFolder('catalog-'))): Promise<string> {
  await TestServer.start(); // makes the file of "tiny"
  const file = join(folder, 'models.json');
  const far = { context_size: 200, remote: { model: 'far-away', retries: 0, ...remote } };
  const models = [
    { name: 'tiny', model_type: 'embedding', variants: [{ file: join(dirname(catalogPath), 'tiny.gguf') }] },
    { name: 'far', model_type: 'embedding', variants: [far] },
    { name: 'talk', model_type: 'llm', variants: [{ ...far, context_size: 2000 }] },
    { name: 'judge', model_type: 'reranker', variants: [far] },
  ];
  writeFileSync(file, JSON.stringify({ version: 1, models }));
  return file;
}

export async function serverWith(remote: object, config: object = {}, more: TestServerOptions = {}) {
  return TestServer.start({ ...more, config: { models_catalog_path: await catalogOf(remote), ...config } });
}

/** The text that a search in "docs" finds first. */
export async function found(session: ClientSession, text: string, signal?: AbortSignal) {
  const { hits } = await session.search({ name: 'docs', text, mode: 'dense', topK: 1 }, { signal });
  return hits[0]?.text;
}

/** A knowledge base with the model "far", not built yet. `config`: more of its fields. */
export async function knowledgeBase(
  remote: object,
  folder = mkdtempSync(inFolder('kb-')),
  config: object = {},
) {
  const records = strings.map((text, at) => ({ id: `r${at}`, text }));
  writeFileSync(join(folder, 'records.json'), JSON.stringify(records));
  const path = join(folder, 'kb.json');
  const files = { records_file: 'records.json', index_file: 'kb.index', embeddings_file: 'kb.embeddings' };
  writeFileSync(path, JSON.stringify({ embedding_model: 'far', ...files, ...config }));
  const models = await CatalogModels.open(await catalogOf(remote, folder));
  return { config: path, models, folder };
}
