import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { EmbeddingModel } from '../../lib/index.js';
import { createStorage, type SearchableStorage } from '../../src/knowledge/index.js';
import { maxWindows, questionWindows } from '../../src/knowledge/question-windows.js';

const strings = [
  'The keeper lights the lamp at night.',
  'Bees dance in the hive.',
  'Glaciers grind valleys.',
  'Flour and water make a starter.',
];
let model: EmbeddingModel;
let storage: SearchableStorage;

beforeAll(async () => {
  model = await EmbeddingModel.load(
    fileURLToPath(new URL('../../data/models/all-MiniLM-L6-v2.gguf', import.meta.url)),
  );
  storage = await createStorage({ strings, model });
});
afterAll(async () => {
  await storage.close();
  await model.close();
});

const noise = 'at two the operator heard a faint call and wrote it down. '.repeat(80);

test.each(['dense', 'hybrid', 'lexical'] as const)(
  'a question before or after a long text is answered, %s',
  async (mode) => {
    for (const text of [`Who lights the lamp? ${noise}`, `${noise} Who lights the lamp?`]) {
      const { hits, embedding } = await storage.search({ mode, text });
      expect(hits[0]?.id).toBe('0');
      if (mode === 'lexical') expect(embedding).toBeUndefined();
      else expect(embedding?.windows).toBeGreaterThan(2);
    }
  },
);

test('a question that fits has no windows', async () => {
  const { embedding } = await storage.search({ mode: 'dense', text: 'Who lights the lamp?' });
  expect(embedding).not.toHaveProperty('windows');
});

test('any long text is searched for: without blanks, of rare tokens, of a megabyte', async () => {
  const texts = [
    'x'.repeat(100_000),
    '\u{1f980}'.repeat(30_000),
    `${'@#'.repeat(50_000)} lamp`,
    noise.repeat(400),
  ];
  for (const text of texts) {
    const { hits, embedding } = await storage.search({ mode: 'dense', text });
    expect(hits).not.toEqual([]);
    expect(embedding?.windows ?? 1).toBeLessThanOrEqual(maxWindows);
  }
});

test('windows hold a text in order, cut between words, with short ones at both ends', () => {
  const text = 'one two three four five six seven eight nine ten';
  const [first, ...rest] = questionWindows(text, 24);
  const last = rest.pop();
  expect(rest.join('')).toBe(text);
  expect(rest.every((window) => window.length <= 24)).toBe(true);
  expect(text.startsWith(first as string) && text.endsWith(last as string)).toBe(true);
  expect(questionWindows('\u{1f980}'.repeat(40), 7).every((window) => !/[\ud800-\udbff]$/.test(window))).toBe(
    true,
  );
  expect(questionWindows('word '.repeat(10_000), 10)).toHaveLength(maxWindows);
});
