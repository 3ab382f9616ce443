import { expect, it } from 'vitest';
import { nameOf, piecesOf, placeText, repeatedLength, shownPassages } from '../../web/page/passages.js';

const metadata = { path: 'a/gozo.md', title: 'Gozo', heading: 'Service' };

it('a passage is shown without its headings, and the wanted one with its marks', () => {
  const text = 'Gozo > Service\n\nAnna services it. Visitors come.';
  const passages = [{ id: '1', text, metadata }];
  const start = text.indexOf('Visitors');
  const [shown] = shownPassages(passages, { storage: 's', id: '1', range: [start, start + 15] });
  expect(shown?.headings).toBe('Gozo > Service');
  expect(shown?.pieces).toEqual([
    { text: 'Anna services it. ', mark: false },
    { text: 'Visitors come.', mark: true },
  ]);
});

it('words are marked wherever they stand, and what a passage repeats is shown once', () => {
  const end = 'This sentence stands in both of them.';
  const passages = [
    { id: '1', text: `Gozo\n\nThe first. ${end}`, metadata: { ...metadata, heading: 'Gozo' } },
    { id: '2', text: `Gozo\n\n${end} And this is new.`, metadata: { ...metadata, heading: 'Gozo' } },
  ];
  const [first, second] = shownPassages(passages, { storage: 's', id: '1', words: ['first', 'first', ''] });
  expect(first?.pieces.filter(({ mark }) => mark)).toEqual([{ text: 'first', mark: true }]);
  expect(second).toEqual({ id: '2', headings: '', pieces: [{ text: 'And this is new.', mark: false }] });
});

it('a text without headings is shown whole', () => {
  const [shown] = shownPassages([{ id: '1', text: 'One.\n\nTwo.' }], { storage: 's', id: '1' });
  expect(shown).toEqual({ id: '1', headings: '', pieces: [{ text: 'One.\n\nTwo.', mark: false }] });
});

it('ranges that overlap are marked once, and short repetitions stay', () => {
  expect(
    piecesOf('abcdef', [
      [1, 4],
      [2, 5],
    ]).map(({ text }) => text),
  ).toEqual(['a', 'bcd', 'ef']);
  expect(repeatedLength('the end', 'end of it')).toBe(0);
});

it('records are named by title, file or id', () => {
  expect(nameOf({ id: 'x', metadata })).toBe('Gozo');
  expect(nameOf({ id: 'x', metadata: { path: 'a/b.txt' } })).toBe('b.txt');
  expect(nameOf({ id: 'x' })).toBe('x');
  expect(placeText({ id: 'x', metadata: { ...metadata, page: 3 } })).toBe('a/gozo.md › Service, page 3');
});
