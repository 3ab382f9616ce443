import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonPieces } from '../../src/protocol/json-pieces.js';

/** Longer than a piece, with whatever a cut could damage at its end. */
const longText = fc
  .tuple(fc.integer({ min: 32_700, max: 32_800 }), fc.string({ unit: 'binary', maxLength: 40 }))
  .map(([length, text]) => 'x'.repeat(length) + text + '\ud83d\udc1d"\\\u2028\ud800'.repeat(3));

describe('the pieces of a frame', () => {
  it('make the JSON of any value', () => {
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), longText, fc.array(longText, { maxLength: 2 })), (value) => {
        expect([...jsonPieces(value)].join('')).toBe(JSON.stringify(value));
      }),
    );
  });

  it('cut a long text, at every place where a pair of surrogates may be', () => {
    for (const odd of ['', 'x']) {
      const text = odd + '\ud83d\udc1d'.repeat(100_000);
      const pieces = [...jsonPieces(text)];
      expect(pieces.join('')).toBe(JSON.stringify(text));
      expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(40_000);
    }
  });
});
