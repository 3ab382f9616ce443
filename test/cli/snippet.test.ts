import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Matcher } from '../../src/cli/search/matches.js';
import { snippet } from '../../src/cli/search/snippet.js';
import { columns } from '../../src/cli/terminal/columns.js';
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
const text = fc.array(word, { maxLength: 60 }).map((words) => words.join(' '));

describe('a snippet', () => {
  it('fits its columns, is plain text, and shows a match where there is one (random texts)', () => {
    const matcher = new Matcher('bees honey', 'enhanced');
    fc.assert(
      fc.property(text, fc.integer({ min: 10, max: 120 }), fc.constantFrom(0, 2), (whole, width, extra) => {
        const pieces = snippet(whole, matcher, width, extra);
        expect(piecesWidth(pieces, extra)).toBeLessThanOrEqual(width);
        for (const piece of pieces) expect(piece.text).not.toMatch(obeyed);
        if (/\b(bee|honey)/i.test(whole)) expect(pieces.some(({ matched }) => matched)).toBe(true);
        const lines = wrapPieces(pieces, width, extra);
        for (const line of lines) expect(piecesWidth(line, extra)).toBeLessThanOrEqual(width);
        expect(
          lines
            .flat()
            .map((piece) => piece.text.replaceAll(' ', ''))
            .join(''),
        ).toBe(pieces.map((piece) => piece.text.replaceAll(' ', '')).join(''));
      }),
    );
  });

  it('stands where the most different words are together', () => {
    const matcher = new Matcher('bees like honey', 'basic');
    const far = 'bees bees bees. '.concat(
      'filler '.repeat(60),
      'Here bees like honey most. ',
      'filler '.repeat(60),
    );
    const shown = snippet(far, matcher, 60, 0)
      .map((piece) => piece.text)
      .join('');
    expect(shown).toContain('bees like honey');
    expect(shown).toMatch(/^….*…$/);
    expect(columns(shown)).toBeGreaterThan(40);
  });

  it('is the beginning of a text without a match', () => {
    const shown = snippet('one two three '.repeat(20), new Matcher('zebra', 'basic'), 30, 0);
    expect(shown[0]?.text).toMatch(/^one two/);
    expect(shown.every(({ matched }) => !matched)).toBe(true);
  });

  it('matches as the tokenizer folds and stems', () => {
    const marked = (query: string, inText: string, tokenizer: 'basic' | 'enhanced') =>
      new Matcher(query, tokenizer).find(inText).map(({ start, end }) => inText.slice(start, end));
    expect(marked('STRASSE', 'Die Straße.', 'basic')).toEqual(['Straße']);
    expect(marked('run', 'running shoes', 'basic')).toEqual([]);
    expect(marked('nights', 'one night', 'enhanced')).toEqual(['night']);
    expect(marked('the', 'the end', 'enhanced')).toEqual([]);
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
