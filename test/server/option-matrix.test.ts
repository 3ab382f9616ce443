// Every option of a search, in every mode, in the library, in configs and on the wire: one without effect is refused, in a config
// named, by its own path.
import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EmbeddingModel, type SearchMode, searchModes } from '../../lib/index.js';
import { loadConfig } from '../../src/config/load.js';
import {
  createStorage,
  type EvaluationSetting,
  evaluate,
  openKnowledgeBase,
  searchStorages,
} from '../../src/knowledge/index.js';
import { usualDefaults } from '../../src/knowledge/search-defaults.js';
import { refusal, rejection } from '../helpers/errors.js';
import { temporaryFolder } from '../helpers/folder.js';
import { createTinyModel } from '../helpers/tiny-model/tiny-model.mjs';
import { retrieveGraph, TestServer } from './test-server.js';

const strings = ['the old keeper lights a lamp', 'a ship sees the lamp', 'an old ship'];
const text = 'lamp';

interface Case {
  /** The options, under their names in the library. */
  options: Record<string, unknown>;
  /** Modes in which they have an effect; in others, the first one is refused. */
  modes: readonly SearchMode[];
  /** Not on the wire. */
  isOfLibrary?: true;
}

const withDense: readonly SearchMode[] = ['dense', 'hybrid'];
const withWords: readonly SearchMode[] = ['lexical', 'hybrid'];
const hybrid: readonly SearchMode[] = ['hybrid'];

const cases: readonly Case[] = [
  { options: { topK: 2 }, modes: searchModes },
  { options: { minScore: 0.1 }, modes: searchModes },
  { options: { minBest: 0.1 }, modes: searchModes },
  { options: { offset: 1 }, modes: searchModes },
  { options: { dropDuplicates: 0.01 }, modes: searchModes },
  { options: { context: 1 }, modes: searchModes },
  { options: { highlight: true }, modes: searchModes },
  { options: { threshold: 1.5 }, modes: withDense },
  { options: { ef: 100 }, modes: withDense, isOfLibrary: true },
  { options: { vector: 'of the query' }, modes: withDense, isOfLibrary: true },
  { options: { fusion: 'rrf' }, modes: hybrid },
  { options: { fusion: 'scores' }, modes: hybrid },
  { options: { rrf: {} }, modes: hybrid },
  { options: { rrf: { k: 10 } }, modes: hybrid },
  { options: { rrf: { weights: { dense: 2, lexical: 1 } } }, modes: hybrid },
  { options: { rrf: { candidates: 20 } }, modes: hybrid },
  { options: { scores: {} }, modes: hybrid },
  { options: { scores: { weight: 0.4 } }, modes: hybrid },
  { options: { scores: { adapt: false } }, modes: hybrid, isOfLibrary: true },
  { options: { scores: { candidates: 20 } }, modes: hybrid },
  { options: { feedback: 0 }, modes: hybrid },
  { options: { feedback: 0.5 }, modes: hybrid },
  { options: { feedback: true }, modes: hybrid, isOfLibrary: true },
  { options: { lexical: {} }, modes: withWords },
  { options: { lexical: { querySyntax: 'extended' } }, modes: withWords },
  { options: { lexical: { fuzziness: 1 } }, modes: withWords },
  { options: { lexical: { stopwords: ['a'] } }, modes: withWords },
  { options: { lexical: { synonyms: [['lamp', 'light']] } }, modes: withWords },
  { options: { groupSize: 2 }, modes: [] },
  { options: { contextField: 'path' }, modes: [] },
  { options: { variables: { year: 1990 } }, modes: [], isOfLibrary: true },
];

/** Options that contradict each other in hybrid mode. */
const contradictions: readonly [options: Record<string, unknown>, refused: string][] = [
  [{ fusion: 'scores', rrf: { k: 10 } }, 'rrf'],
  [{ fusion: 'rrf', scores: { weight: 0.4 } }, 'scores'],
  [{ rrf: {}, scores: {} }, 'scores'],
];

const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const all = cases.flatMap((one) =>
  searchModes.map((mode) => {
    const refused = one.modes.includes(mode) ? undefined : Object.keys(one.options)[0];
    const name = `${JSON.stringify(one.options)} in ${mode} mode: ${refused === undefined ? 'taken' : 'refused'}`;
    return { ...one, mode, refused, name };
  }),
);

describe('in the library', () => {
  const file = temporaryFolder();
  let model: EmbeddingModel;
  let storage: Awaited<ReturnType<typeof createStorage>>;
  beforeAll(async () => {
    await createTinyModel({ texts: strings, path: file('tiny.gguf'), dimension: 32 });
    model = await EmbeddingModel.load(file('tiny.gguf'));
    storage = await createStorage({ strings, model });
  });
  afterAll(async () => {
    await storage.close();
    await model.close();
  });

  it.each(all)('$name', async ({ options: { vector, ...rest }, mode, refused }) => {
    const options = { ...rest, ...(vector !== undefined && { vector: new Float32Array(32).fill(1) }) };
    const search = storage.search({ text, mode, ...options });
    const several =
      vector === undefined ? searchStorages({ a: storage, b: storage }, { text, mode, ...options }) : search;
    for (const searched of [search, several]) {
      if (refused === undefined) await searched;
      else
        expect((await rejection(searched, 'INVALID_ARGUMENT')).detail).toMatchObject({
          field: refused,
          reason: expect.stringContaining('it has no effect'),
        });
    }
  });

  it.each(contradictions)('%j in hybrid mode is refused', async (options, field) => {
    const search = storage.search({ text, mode: 'hybrid', ...options });
    expect((await rejection(search, 'INVALID_ARGUMENT')).detail).toMatchObject({ field });
  });

  it('highlights are true, false or snippets', async () => {
    const search = storage.search({ text, highlight: 'yes' as never });
    expect((await rejection(search, 'INVALID_ARGUMENT')).detail).toMatchObject({ field: 'highlight' });
  });

  it.each([
    [{ mode: 'lexical', fusion: 'rrf' }, 'fusion'],
    [{ mode: 'dense', scores: {} }, 'scores'],
    [{ mode: 'lexical', ef: 10 }, 'ef'],
    [{ mode: 'hybrid', fusion: 'rrf', scores: {} }, 'scores'],
    [{ mode: 'dense', rrf: { kk: 1 } }, 'rrf.kk'],
  ] as const)('an evaluation refuses the setting %j by its number', async (setting, field) => {
    const questions = [{ question: text, relevant: new Map([['0', 1]]), draft: false }];
    const settings: object[] = [{ mode: 'lexical' }, setting];
    const evaluation = evaluate(storage, questions, { settings: settings as EvaluationSetting[] });
    const { detail } = await rejection(evaluation, 'INVALID_ARGUMENT');
    expect(detail).toMatchObject({ field: `settings[1].${field}` });
  });
});

describe('in a config', () => {
  const file = temporaryFolder();
  const inConfig = (value: unknown): unknown =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).map(([name, inner]) => [snake(name), inConfig(inner)]))
      : value;
  const withoutMode = cases.map(({ options }) => ({
    options: inConfig(options) as Record<string, unknown>,
    name: snake(Object.keys(options)[0] as string),
  }));
  const write = (config: object) => {
    writeFileSync(file('config.json'), JSON.stringify(config));
    return file('config.json');
  };

  it.each([...withoutMode, { options: { mode: 'lexical' }, name: 'mode' }])(
    'of a knowledge base $options is a default of the modes in which it has an effect, or a warning',
    async ({ options, name }) => {
      writeFileSync(
        file('records.json'),
        JSON.stringify(strings.map((each, n) => ({ id: `${n}`, text: each }))),
      );
      await createTinyModel({ texts: strings, path: file('tiny.gguf'), dimension: 32 });
      await using model = await EmbeddingModel.load(file('tiny.gguf'));
      const config = write({ embedding_model: 'tiny', records_file: 'records.json', ...options });
      await using kb = await openKnowledgeBase(config, { models: async () => ({ model }) });
      const isDefault = name === 'fusion' || name === 'lexical';
      expect(kb.warnings).toEqual(
        isDefault ? [] : [expect.stringMatching(`: ${name}: is not a known field.*; it has no effect$`)],
      );
      for (const mode of searchModes) expect((await kb.search({ text, mode })).plan.mode).toBe(mode);
    },
  );

  it.each(withoutMode)('of a server $options is a warning', async ({ options, name }) => {
    const { warnings } = await loadConfig({ '--config': write(options) });
    expect(warnings).toEqual([expect.stringMatching(`: ${name}: is not a known field.*; it has no effect$`)]);
  });
});

describe('on the wire', () => {
  async function sessionWithDocs() {
    const session = await (await TestServer.start({})).session();
    await session.createEmbeddedStringStorage({ name: 'docs', strings, embeddingModel: 'tiny' });
    return session;
  }

  it('searches and retrieve nodes refuse the same options, by their paths', async () => {
    const session = await sessionWithDocs();
    const refusals = [
      ...all.filter(({ isOfLibrary }) => !isOfLibrary),
      ...contradictions.map(([options, refused]) => ({ options, mode: 'hybrid' as const, refused })),
    ];
    for (const { options, mode, refused } of refusals) {
      const params = { mode, ...options };
      const search = () => session.search({ name: 'docs', text, ...params });
      const several = () => session.search({ names: ['docs'], text, ...params });
      const agent = () => session.createAgent({ graph: retrieveGraph(params) });
      if (refused === undefined) {
        for (const ask of [search, several, agent]) await ask();
        continue;
      }
      const path = snake(refused);
      for (const ask of [search, several])
        expect(await refusal(ask()), JSON.stringify(params)).toMatchObject({ code: 1004, details: { path } });
      expect(await refusal(agent()), JSON.stringify(params)).toMatchObject({
        code: 4003,
        details: { path: `graph.nodes[0].params.${path}` },
      });
    }
  });

  it("the number of hits is the library's", async () => {
    expect(usualDefaults).toMatchObject({ mode: 'dense', topK: 5 });
    await using storage = await createStorage({
      strings: Array.from({ length: 9 }, (_, n) => `lamp ${n}`),
      vectors: new Float32Array(18).fill(1),
    });
    expect((await storage.search({ text })).hits).toHaveLength(5);
  });
});
