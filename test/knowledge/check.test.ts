import { readdirSync, writeFileSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import { EmbeddingModel } from '../../lib/index.js';
import {
  buildKnowledgeBase,
  checkKnowledgeBase,
  type KnowledgeModel,
  type KnowledgeProgress,
  openKnowledgeBase,
} from '../../src/knowledge/index.js';
import { rejection } from '../helpers/errors.js';
import { temporaryFolder } from '../helpers/folder.js';
import { createTinyModel } from '../helpers/tiny-model/tiny-model.mjs';

const file = temporaryFolder();
const records = [
  { id: 'bees', text: 'Honey bees dance in the hive' },
  { id: 'ice', text: 'Glaciers grind valleys' },
];
const config = { embedding_model: 'tiny', records_file: 'records.json', index_file: 'kb.index' };
let models: (name: string) => Promise<KnowledgeModel | undefined>;

const write = (name: string, content: unknown) => writeFileSync(file(name), JSON.stringify(content));

beforeAll(async () => {
  await createTinyModel({ texts: records.map(({ text }) => text), path: file('tiny.gguf'), dimension: 64 });
  const model = await EmbeddingModel.load(file('tiny.gguf'));
  models = async (name) => (name === 'tiny' ? { model } : undefined);
});

test('a check finds everything at once, and writes nothing', async () => {
  write('records.json', [...records, { id: 'bees', text: '' }]);
  write('kb.json', { ...config, embedding_model: 'huge', index_fil: 1 });
  const before = readdirSync(file());
  const { ok, findings, records: count } = await checkKnowledgeBase(file('kb.json'), { models });
  expect({ ok, count }).toEqual({ ok: false, count: undefined });
  expect(findings.map(({ severity, code }) => `${severity} ${code}`)).toEqual([
    'warning NO_EFFECT',
    'error INVALID_ARGUMENT',
    'error INVALID_ARGUMENT',
  ]);
  expect(findings.map(({ file: about }) => about)).toEqual([
    file('kb.json'),
    file('kb.json'),
    file('records.json'),
  ]);
  expect(findings[0]?.message).toContain('did you mean "index_file"');
  expect(readdirSync(file())).toEqual(before);
});

test('a check says which files are absent, and is content once they are built', async () => {
  write('records.json', records);
  write('kb.json', config);
  const absent = await checkKnowledgeBase(file('kb.json'), { models });
  expect(absent.findings.map(({ severity, code }) => `${severity} ${code}`)).toEqual([
    'error NOT_FOUND',
    'warning STALE',
  ]);
  await buildKnowledgeBase(file('kb.json'), { models });
  expect(await checkKnowledgeBase(file('kb.json'), { models })).toEqual({
    ok: true,
    findings: [],
    records: 2,
  });
});

test('a check says which option it does not know', async () => {
  const checking = checkKnowledgeBase(file('kb.json'), { model: models } as never);
  expect((await rejection(checking, 'INVALID_ARGUMENT')).message).toContain('did you mean "models"?');
});

test('building reports each phase from 0 to its end', async () => {
  write('records.json', records);
  write('kb.json', { ...config, index_file: 'new.index' });
  const told: KnowledgeProgress[] = [];
  const { times } = await buildKnowledgeBase(file('kb.json'), {
    models,
    onProgress: (step) => told.push(step),
  });
  expect([...new Set(told.map(({ phase }) => phase))]).toEqual(['read', 'embed', 'index', 'words']);
  expect(Object.keys(times)).toEqual(['read', 'embed', 'index', 'words']);
  for (const phase of ['read', 'embed', 'index', 'words']) {
    const steps = told.filter((step) => step.phase === phase).map(({ done }) => done);
    expect(steps[0]).toBe(0);
    expect(steps.at(-1)).toBe(2);
    expect(steps).toEqual(steps.toSorted((a, b) => a - b));
  }
});

test('an aborted build says so and leaves the old files', async () => {
  write('records.json', records);
  write('kb.json', config);
  await buildKnowledgeBase(file('kb.json'), { models });
  const abort = new AbortController();
  const onProgress = ({ phase }: KnowledgeProgress) => phase === 'index' && abort.abort();
  const building = buildKnowledgeBase(file('kb.json'), { models, signal: abort.signal, onProgress });
  await expect(building).rejects.toMatchObject({ name: 'AbortError' });
  await (await openKnowledgeBase(file('kb.json'), { models })).close();
  expect(readdirSync(file()).filter((name) => name.endsWith('.tmp'))).toEqual([]);
});
