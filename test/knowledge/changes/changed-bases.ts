/** Knowledge bases that a test file changes, over one tiny model. */
import { writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { beforeAll } from 'vitest';
import type { ErrorDetail } from '../../../lib/basics.js';
import { EmbeddingModel, LorekeepError } from '../../../lib/index.js';
import { buildKnowledgeBase, type KnowledgeBase, openKnowledgeBase } from '../../../src/knowledge/index.js';
import { temporaryFolder } from '../../helpers/folder.js';
import { createTinyModel } from '../../helpers/tiny-model/tiny-model.mjs';
import { words } from '../words.js';

export const file = temporaryFolder();
const fields = [{ name: 'year', type: 'int', optional: true }];
export const base = [
  { id: 'bees', text: 'Honey bees dance in the hive', metadata: { year: 2001 } },
  { id: 'ice', text: 'Glaciers grind valleys', metadata: { year: 2010 }, mine: ['kept', 1.5e300] },
  { id: 'bread', text: 'A sourdough starter is flour and water' },
];
let model: EmbeddingModel;
export const models = async () => ({ model });
let made = 0;

beforeAll(async () => {
  await createTinyModel({ texts: words, path: file('tiny.gguf'), dimension: 64 });
  model = await EmbeddingModel.load(file('tiny.gguf'));
});

/** A built knowledge base of its own. */
export async function knowledgeBase(records: unknown = base, config: object = {}) {
  const name = `kb${made++}`;
  const paths = { config: file(`${name}.json`), records: file(`${name}-records.json`) };
  writeFileSync(paths.records, typeof records === 'string' ? records : JSON.stringify(records));
  const named = {
    embedding_model: 'tiny',
    records_file: basename(paths.records),
    index_file: `${name}.index`,
  };
  writeFileSync(paths.config, JSON.stringify({ ...named, fields, ...config }));
  await buildKnowledgeBase(paths.config, { models });
  return { ...paths, index: file(`${name}.index`), log: `${paths.records}.changes` };
}

export const open = (config: string, options: object = {}) =>
  openKnowledgeBase(config, { models, ...options });

/** The error of a call, with its facts. */
export async function rejection(
  call: Promise<unknown>,
): Promise<{ code: string; message: string; detail: ErrorDetail }> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof LorekeepError)) throw error ?? new Error('nothing was thrown');
  return error;
}

/** The most that list() returns at once. */
const limit = 10_000;

async function recordsOf(kb: KnowledgeBase) {
  const records = [];
  for (let offset = 0; offset < kb.size; offset += limit) records.push(...(await kb.list({ offset, limit })));
  return records;
}

export const ids = async (kb: KnowledgeBase) => (await recordsOf(kb)).map(({ id }) => id);
export const state = async (kb: KnowledgeBase) =>
  (await recordsOf(kb)).map(({ id, text, metadata }) => ({ id, text, metadata }));
