import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EmbeddingModel } from '../../lib/index.js';
import { measure, pairedDifference } from '../../src/knowledge/evaluation-measures.js';
import {
  createStorage,
  draftQuestions,
  type EvaluationQuestion,
  type EvaluationSetting,
  evaluate,
  questionLine,
  readQuestions,
  type SearchableStorage,
} from '../../src/knowledge/index.js';
import { temporaryFolder } from '../helpers/folder.js';
import { createTinyModel } from '../helpers/tiny-model/tiny-model.mjs';

const file = temporaryFolder();
const strings = [
  'honey bees dance for their sisters',
  'bees sting bears that steal honey',
  'glaciers grind valleys out of rock',
  'rivers carry sand to the sea',
];
const question = (text: string, relevant: Record<string, number>): EvaluationQuestion => ({
  question: text,
  relevant: new Map(Object.entries(relevant)),
  draft: false,
});

let model: EmbeddingModel;
let storage: SearchableStorage;
beforeAll(async () => {
  await createTinyModel({ texts: strings, path: file('tiny.gguf'), dimension: 64 });
  model = await EmbeddingModel.load(file('tiny.gguf'));
  storage = await createStorage({ strings, model });
});
afterAll(async () => {
  await storage.close();
  await model.close();
});

describe('measures', () => {
  test('are 1 for a perfect list, and 0 without relevant hits', () => {
    const gains = new Map([
      ['a', 2],
      ['b', 1],
    ]);
    expect(measure(['a', 'b', 'x'], gains, 10)).toEqual({ ndcg: 1, recall: 1, mrr: 1, hitRate: 1 });
    expect(measure(['x', 'y'], gains, 10)).toEqual({ ndcg: 0, recall: 0, mrr: 0, hitRate: 0 });
  });

  test('discount by rank, and count only the first k', () => {
    const gains = new Map([
      ['a', 2],
      ['b', 1],
    ]);
    const { ndcg, recall, mrr, hitRate } = measure(['x', 'b', 'a'], gains, 2);
    expect(ndcg).toBeCloseTo(1 / Math.log2(3) / (2 + 1 / Math.log2(3)), 12);
    expect([recall, mrr, hitRate]).toEqual([0.5, 0.5, 1]);
  });

  test('differ with an interval of paired differences', () => {
    expect(pairedDifference([1, 1, 1], [0, 0, 0])).toEqual({ mean: 1, half: 0 });
    const { mean, half } = pairedDifference([1, 0], [0, 0]);
    expect(mean).toBe(0.5);
    expect(half).toBeCloseTo(1.96 * Math.sqrt(0.5 / 2), 12);
  });
});

describe('an evaluation', () => {
  test('measures every setting, and compares it with the current one', async () => {
    const questions = [question('bees dance', { 0: 1 }), question('glaciers', { 2: 1 })];
    const found = await evaluate(storage, questions, { topK: 3 });
    expect(found).toMatchObject({ questions: 2, drafts: 0, topK: 3, missed: 0, late: 0, unknownWords: 0 });
    expect(found.settings.map(({ setting: { mode } }) => mode)).toEqual(
      expect.arrayContaining(['lexical', 'dense', 'hybrid']),
    );
    expect(found.settings.filter(({ current }) => current)).toMatchObject([
      { setting: { mode: 'hybrid', fusion: 'scores' }, difference: { mean: 0, half: 0 } },
    ]);
    const lexical = found.settings.find(({ setting }) => setting.mode === 'lexical');
    expect(lexical?.mean).toEqual({ ndcg: 1, recall: 1, mrr: 1, hitRate: 1 });
    expect(found.worst).toEqual([]);
    const { hits, relevant, mean } = found.relevance;
    expect([hits, relevant]).toEqual([6, 2 / 6]);
    expect(mean).toBeGreaterThan(0);
  });

  test('shows the worst questions with what was found instead, and counts what is missing', async () => {
    const questions = [
      question('glaciers', { 2: 1 }),
      question('bees', { nowhere: 1 }),
      question('zzz', { 3: 1 }),
    ];
    const done: number[] = [];
    const found = await evaluate(storage, questions, {
      settings: [{ mode: 'lexical' }],
      onProgress: (count) => done.push(count),
    });
    expect(done).toEqual([1, 2, 3]);
    const bees = found.worst.find((one) => one.question === 'bees');
    expect(bees).toMatchObject({ ndcg: 0, relevant: [{ id: 'nowhere' }], words: { all: 1, known: 1 } });
    expect(bees?.instead.map(({ id }) => id)).toEqual(expect.arrayContaining(['0', '1']));
    expect(found).toMatchObject({ missed: 1, unknownWords: 1, unknownIds: ['nowhere'] });
  });

  test('of a storage without a model is by words alone', async () => {
    const records = strings.map((text, i) => ({ id: String(i), text }));
    const vectors = new Float32Array(2 * strings.length).fill(1);
    await using words = await createStorage({ records, vectors });
    const found = await evaluate(words, [question('bees dance', { 0: 1 })]);
    expect(found.settings).toMatchObject([{ setting: { mode: 'lexical' }, current: true }]);
  });

  test('finds the current setting in any order of its options', async () => {
    const settings: EvaluationSetting[] = [{ fusion: 'scores', mode: 'hybrid' }];
    const found = await evaluate(storage, [question('bees dance', { 0: 1 })], { settings });
    expect(found.settings).toMatchObject([{ setting: { fusion: 'scores' }, current: true }]);
  });

  test('takes questions that are longer than the context of the model', async () => {
    const questions = [question('bees', { 0: 1 }), question('bees '.repeat(5000), { 0: 1 })];
    expect(await evaluate(storage, questions)).toMatchObject({ questions: 2 });
  });

  test('needs questions and settings', async () => {
    const wrong = { code: 'INVALID_ARGUMENT', detail: { field: 'questions' } };
    await expect(evaluate(storage, [])).rejects.toMatchObject(wrong);
    const none = { code: 'INVALID_ARGUMENT', detail: { field: 'settings' } };
    await expect(evaluate(storage, [question('x', { 0: 1 })], { settings: [] })).rejects.toMatchObject(none);
  });

  test.each([
    [{ topk: 3 }, 'topk'],
    [{ topK: 0 }, 'topK'],
    [{ worst: -1 }, 'worst'],
    [{ settings: 'lexical' }, 'settings'],
    [{ settings: [{ mode: 'lexical' }, null] }, 'settings[1]'],
    [{ settings: [{ mode: 'lexical', minScore: 0.5 }] }, 'settings[0].minScore'],
    [{ settings: [{ mode: 'dense', lexical: { fuzziness: 1 } }] }, 'settings[0].lexical'],
  ])('refuses the options %j by the wrong one', async (options, field) => {
    const found = evaluate(storage, [question('bees', { 0: 1 })], options as object);
    await expect(found).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', detail: { field } });
  });

  test.each([
    [null, ''],
    [{ question: 7, relevant: new Map([['0', 1]]) }, ''],
    [{ question: 'bees', relevant: ['0'] }, '.relevant'],
    [{ question: 'bees', relevant: new Map() }, '.relevant'],
    [{ question: 'bees', relevant: new Map([['0', 0]]) }, '.relevant'],
    [{ question: 'bees', relevant: new Map([['0', Number.NaN]]) }, '.relevant'],
    [{ question: 'bees', relevant: new Map([[0, 1]]) }, '.relevant'],
  ])('refuses the question %j by its number', async (wrong, field) => {
    const found = evaluate(storage, [question('bees', { 0: 1 }), wrong as never]);
    const detail = { field: `questions[1]${field}` };
    await expect(found).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', detail });
  });
});

describe('questions', () => {
  test('are read from JSON lines, and written back the same', async () => {
    const lines = [
      '{"question":"a?","relevant":["1","2"]}',
      '{"question":"b?","relevant":{"1":2}}',
      '{"question":"c?","relevant":["1"],"draft":true}',
    ];
    writeFileSync(file('q.jsonl'), `\uFEFF${lines.join('\r\n\n')}\n`);
    const read = await readQuestions(file('q.jsonl'));
    expect(read.map(questionLine)).toEqual(lines);
    expect(read[1]?.relevant.get('1')).toBe(2);
  });

  test.each([
    ['', 'no questions'],
    ['{"question": "x", "relevant": []}', ':1'],
    ['{"question": "x"}', ':1: relevant: is missing'],
    ['{"question": " ", "relevant": ["a"]}', 'question'],
    ['{"question": "x", "relevant": {"a": 0}}', ':1'],
    ['{"question": "x", "relevant": ["a"]}\n{"quest', ':2'],
    ['{"question": "x", "relevant": ["a"], "answer": 1}', ':1: answer: is not a known field; '],
    ['{"question": "x", "relevent": ["a"]}', ':1: relevent: is not a known field; did you mean "relevant"?'],
  ])('%j is refused', async (text, culprit) => {
    writeFileSync(file('bad.jsonl'), text);
    await expect(readQuestions(file('bad.jsonl'))).rejects.toThrow(culprit);
  });

  test('are drafted from sentences that say something, not from headings and titles that several records share', () => {
    const title = 'Documentation of lorekeep';
    const records = [
      {
        id: 'a',
        text: 'Docs > How to install it here\n\nIt needs Node.js 20 or newer. It compiles nothing.',
        metadata: { title },
      },
      { id: 'b', text: 'Short. Very short.', metadata: { title, heading: 'Clients in C' } },
      { id: 'c', text: 'What. Why.', metadata: { question: 'Who lights the lamp?', title } },
      { id: 'd', text: 'One.', metadata: { title } },
    ];
    expect(
      draftQuestions(records, 10).map(({ question, relevant }) => [question, ...relevant.keys()]),
    ).toEqual([
      ['It needs Node.js 20 or newer.', 'a'],
      ['Clients in C', 'b'],
      ['Who lights the lamp?', 'c'],
    ]);
  });

  test('are drafted from titles, else from first sentences, once each', () => {
    const records = [
      { id: 'a', text: 'One sentence.' },
      { id: 'b', text: 'Bees dance. They sting, too.' },
      { id: 'c', text: 'Ice.', metadata: { title: 'Glaciers' } },
      { id: 'd', text: 'Bees dance. They also sleep.' },
    ];
    const drafts = draftQuestions(records, 10).map((draft) => JSON.parse(questionLine(draft)));
    expect(drafts).toEqual([
      { question: 'Bees dance.', relevant: ['b'], draft: true },
      { question: 'Glaciers', relevant: ['c'], draft: true },
    ]);
    expect(draftQuestions(records, 1)).toHaveLength(1);
    expect(draftQuestions(records, 0)).toEqual([]);
  });
});
