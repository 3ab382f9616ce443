import { describe, expect, it } from 'vitest';
import { ActionSplitter } from '../../../src/agents/nodes/generate/actions.js';
import { Delivery, type Pace } from '../../../src/agents/nodes/generate/delivery.js';

const reply = 'Bees dance. They show e.g. the way to flowers! Why? Nobody knows';
const pieces = reply.match(/.{1,3}/g) as string[];

function sent(pace: Pace): string[] {
  const texts: string[] = [];
  const delivery = new Delivery(pace, (text) => texts.push(text));
  for (const piece of pieces) delivery.push(piece);
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
