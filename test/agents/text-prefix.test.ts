import { expect, it } from 'vitest';
import { textPrefix } from '../../src/agents/text-prefix.js';

it.each([
  ['bees', 10, 'bees'],
  ['bees', 4, 'bees'],
  ['bees', 2, 'be'],
  ['a\ud83d\udc1d', 2, 'a'],
  ['a\ud83d\udc1db', 3, 'a\ud83d\udc1d'],
  ['\u00e9\u4e16x', 2, '\u00e9\u4e16'],
])('the beginning of %j of at most %d units is %j', (text, length, expected) => {
  expect(textPrefix(text, length)).toBe(expected);
});
