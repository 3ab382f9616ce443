import { writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { EmbeddingModel } from '../../../lib/index.js';
import { LogAhead } from '../../../src/knowledge/changes/log-ahead.js';
import { buildKnowledgeBase, openKnowledgeBase } from '../../../src/knowledge/index.js';
import { findSource } from '../../../src/knowledge/resolve.js';
import { temporaryFolder } from '../../helpers/folder.js';
import { createTinyModel } from '../../helpers/tiny-model/tiny-model.mjs';
import { words } from '../words.js';

const file = temporaryFolder();
let model: EmbeddingModel;
const models = async () => ({ model });

beforeAll(async () => {
  await createTinyModel({ texts: words, path: file('tiny.gguf'), dimension: 64 });
  model = await EmbeddingModel.load(file('tiny.gguf'));
});

test('a log that is read ahead is read again if it has changed since', async () => {
  const [config, records] = [file('kb.json'), file('records.json')];
  writeFileSync(records, JSON.stringify([{ id: 'ice', text: 'Glaciers grind valleys' }]));
  writeFileSync(
    config,
    JSON.stringify({ embedding_model: 'tiny', records_file: basename(records), index_file: 'kb.index' }),
  );
  await buildKnowledgeBase(config, { models });
  await using kb = await openKnowledgeBase(config, { models });
  for (const id of ['a', 'b', 'c']) await kb.add([{ id, text: `Octopus ${id}` }]);
  const source = await findSource(config, { models });
  await using same = new LogAhead(source);
  await using unchanged = await same.take();
  expect(unchanged?.facts.version).toBe(3);
  await using ahead = new LogAhead(source);
  // Settles after the log has been read.
  await new LogAhead(source)[Symbol.asyncDispose]();
  await kb.add([{ id: 'd', text: 'Octopus d' }]);
  await using later = await ahead.take();
  expect(later?.facts.version).toBe(4);
  await using folded = await later?.fold({ after: 0, upTo: 4 }, undefined);
  expect(folded?.changed).toBe(4);
});
