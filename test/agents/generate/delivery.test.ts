import { describe, expect, it } from 'vitest';
import { ActionSplitter } from '../../../src/agents/nodes/generate/actions.js';
import { Delivery, type Pace } from '../../../src/agents/nodes/generate/delivery.js';

const reply = 'Bees dance. They show e.g. the way to flowers! Why? Nobody knows';
const inPieces = (text: string, length: number) =>
  text.match(new RegExp(`.{1,${length}}`, 'gsu')) as string[];
const pieces = inPieces(reply, 3);

function sent(pace: Pace, given = pieces): string[] {
  const texts: string[] = [];
  const delivery = new Delivery(pace, (text) => texts.push(text));
  for (const piece of given) delivery.push(piece);
  delivery.finish();
  return texts;
}

describe('a reply is sent', () => {
  it('piece by piece', () => expect(sent('piece')).toEqual(pieces));
  it('sentence by sentence', () =>
    expect(sent('sentence')).toEqual([
      'Bees dance. ',
      'They show e.g. the way to flowers! ',
      'Why? ',
      'Nobody knows',
    ]));
  it.each([
    [['The U.S. Army moved at 5 p.m. on Jan. 3. ', 'It rained.']],
    [['Am 3. Oktober 1990 kam z. B. Hr. Dr. Müller. ', 'Das war 1990.']],
    [['真的？', '「是的。」', '他说。']],
    [['«M. Dupont est là.» ', 'Mme. Martin aussi ! ', 'Oui.']],
  ])('sentence by sentence, however it arrives: %j', (expected) => {
    for (const length of [1, 2, 3, 5, 8, 100])
      expect(sent('sentence', inPieces(expected.join(''), length))).toEqual(expected);
  });
  it('without words is not held back for ever', () => {
    const texts = sent('sentence', Array(5000).fill('\n'));
    expect(texts.join('')).toBe('\n'.repeat(5000));
    expect(Math.max(...texts.map(({ length }) => length))).toBeLessThan(100);
  });
  it('at the end', () => expect(sent('end')).toEqual([reply]));
});

describe('the action at the end of a reply', () => {
  const split = (text: string, length: number) => {
    const splitter = new ActionSplitter();
    let own = '';
    for (let at = 0; at < text.length; at += length) own += splitter.push(text.slice(at, at + length));
    return { own, action: splitter.finish() };
  };
  it.each([1, 2, 7, 1000])('is no text, in pieces of %i characters', (length) => {
    const action = { name: 'open', arguments: { door: 'north {1}' } };
    const json = JSON.stringify({ action: 'open', arguments: { door: 'north {1}' } });
    expect(split(`I open it. \n\n${json}`, length)).toEqual({ own: 'I open it.', action });
    expect(split(json, length)).toEqual({ own: '', action });
    expect(split('Only  words.', length)).toEqual({ own: 'Only  words.', action: undefined });
    // Cut by max_tokens.
    expect(split(`I open it. ${json.slice(0, -4)}`, length)).toEqual({
      own: 'I open it.',
      action: undefined,
    });
  });
});
