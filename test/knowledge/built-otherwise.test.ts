import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { EmbeddingModel, Records } from '../../lib/index.js';
import { buildKnowledgeBase, checkKnowledgeBase, openKnowledgeBase } from '../../src/knowledge/index.js';
import { rejection } from '../helpers/errors.js';
import { temporaryFolder } from '../helpers/folder.js';
import { createTinyModel } from '../helpers/tiny-model/tiny-model.mjs';

const file = temporaryFolder();

test('an index that was built with another m or ef_construction is a warning', async () => {
  await createTinyModel({ texts: ['bees'], path: file('tiny.gguf'), dimension: 64 });
  const model = await EmbeddingModel.load(file('tiny.gguf'));
  const models = async () => ({ model });
  const path = file('kb.json');
  writeFileSync(file('records.json'), JSON.stringify([{ id: 'a', text: 'bees' }]));
  const configure = (hnsw?: object) =>
    writeFileSync(
      path,
      JSON.stringify({ embedding_model: 'tiny', records_file: 'records.json', index_file: 'kb.index', hnsw }),
    );
  const warnings = async () => {
    await using base = await openKnowledgeBase(path, { models });
    const { findings } = await checkKnowledgeBase(path, { models });
    expect(findings.map(({ message }) => message)).toEqual(base.warnings);
    return base.warnings;
  };
  configure({ m: 24, ef_construction: 100 });
  await buildKnowledgeBase(path, { models });
  expect(await warnings()).toEqual([]);
  configure({ m: 24, ef_construction: 100, ef_search: 50 });
  expect(await warnings()).toEqual([]);
  configure();
  expect(await warnings()).toEqual([
    `${file('kb.index')}: holds a graph of m 24; hnsw.m 16 has an effect when it is built again`,
    `${file('kb.index')}: holds a graph of ef_construction 100; hnsw.ef_construction 200 has an effect when it is built again`,
  ]);
  await buildKnowledgeBase(path, { models });
  expect(await warnings()).toEqual([]);
});

test('a records file of NULs is CORRUPT at line 1', async () => {
  for (const size of [1, 4096, 3_000_000]) {
    writeFileSync(file('nul.json'), Buffer.alloc(size));
    const { message } = await rejection(Records.read(file('nul.json')), 'CORRUPT');
    expect(message).toContain(`${file('nul.json')}:1: `);
  }
});
