import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { piecesWidth, wrapPieces } from '../../src/cli/terminal/pieces.js';
import { printable, printableJson } from '../../src/cli/terminal/printable.js';

// biome-ignore lint/suspicious/noControlCharactersInRegex: what must not be printed
const obeyed = /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]|\p{Cs}/u;

const word = fc.constantFrom(
  'bee',
  'Bees',
  'honey',
  'naïve',
  '蜜蜂花',
  'ไทย',
  '👩‍👩‍👧',
  'x'.repeat(70),
  '\u001b[2J',
  '\n',
  'e\u0301',
  '\ud800',
);
const part = fc.record({
  text: fc.array(word, { maxLength: 20 }).map((all) => all.join(' ')),
  match: fc.boolean(),
});

describe('a snippet', () => {
  it('fits its columns, and keeps all of its text (random texts)', () => {
    const size = fc.integer({ min: 10, max: 120 });
    fc.assert(
      fc.property(fc.array(part, { maxLength: 5 }), size, fc.constantFrom(0, 2), (parts, width, extra) => {
        const lines = wrapPieces(parts, width, extra);
        for (const line of lines) expect(piecesWidth(line, extra)).toBeLessThanOrEqual(width);
        const textOf = (all: typeof parts) => all.map(({ text }) => text.replaceAll(' ', '')).join('');
        expect(textOf(lines.flat())).toBe(textOf(parts));
      }),
    );
  });
});

describe('printable text', () => {
  it('shows control characters and marks that reorder, and keeps all else', () => {
    expect(printable('a\u001b[2J\u0007\n\u007f\u009b\u202eb')).toBe('a␛[2J␇␊␡\ufffd\ufffdb');
    expect(printable('Größe 東京 👩‍👩‍👧')).toBe('Größe 東京 👩‍👩‍👧');
  });

  it('leaves JSON the same value', () => {
    const value = { a: '\u001b\u007f\u009b\u2028\u202e"\\', b: [1, null] };
    expect(printableJson(value)).not.toMatch(obeyed);
    expect(JSON.parse(printableJson(value, 2))).toEqual(value);
  });
});
