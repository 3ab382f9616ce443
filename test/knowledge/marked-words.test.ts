import { expect, it } from 'vitest';
import { wordsOfQuestion } from '../../src/base/words/words-of-questions.js';
import { createStorage } from '../../src/knowledge/index.js';

const strings = [
  'The key of the boat house hangs behind the door of the kitchen.',
  'The lamp in the tower is lit when the sun sets, and who lights it is in the log.',
  'Der Schlüssel ist in dem Haus, und wo der Koch ist, das weiß der Hund.',
];

/** The marked words of the first hit. */
async function marked(text: string, options: object = {}): Promise<string[]> {
  await using storage = await createStorage({
    strings,
    vectors: new Float32Array(strings.length).fill(1),
    tokenizer: 'multilingual',
  });
  const { hits } = await storage.search({ text, mode: 'lexical', highlight: true, ...options });
  const [{ snippet = [], text: shown, highlights = [] }] = hits as [(typeof hits)[number]];
  const parts = snippet.filter(({ match }) => match).map((part) => part.text);
  expect(highlights.map(([begin, end]) => shown.slice(begin, end))).toEqual(parts);
  return parts;
}

it('words that say nothing about the subject of a question are not marked', async () => {
  expect(await marked('where is the key of the boat house?')).toEqual(['key', 'boat', 'house']);
  expect(await marked('who lights the lamp?')).toEqual(['lamp', 'lights']);
  expect(await marked('wo ist der Schlüssel?')).toEqual(['Schlüssel']);
});

it('they are marked where a query has no others, and in phrases', async () => {
  expect(await marked('the the')).toContain('The');
  const extended = { lexical: { querySyntax: 'extended' } };
  expect(await marked('"of the kitchen"', extended)).toEqual(
    expect.arrayContaining(['of', 'the', 'kitchen']),
  );
});

it('the language with most of them decides', () => {
  expect(wordsOfQuestion('when did he die of the fever')).toEqual(['when', 'did', 'he', 'of', 'the']);
  expect(wordsOfQuestion('wo ist die Mütze')).toEqual(['wo', 'ist', 'die']);
  expect(wordsOfQuestion('где стоит маяк')).toEqual(['где']);
  expect(wordsOfQuestion('πού είναι ο φάρος')).toEqual(['πού', 'είναι', 'ο']);
  expect(wordsOfQuestion('to be or not to be')).toEqual([]);
  expect(wordsOfQuestion('')).toEqual([]);
});
