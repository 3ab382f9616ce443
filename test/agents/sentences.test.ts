import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { longestSentence, sentenceSteps, sentences } from '../../src/agents/nodes/quote/sentences.js';
import { testSeed } from '../helpers/random.js';

const split = (text: string) => [...sentences(text)].map(({ start, end }) => text.slice(start, end));

/** Sentences are written one per line here and joined by blanks; each must be found again. */
const english = `
Mr. Smith met Dr. Jones and Mrs. Lee at St. Mary's.
J. R. R. Tolkien wrote it, e.g. for Prof. E. V. Gordon.
The U.S. Army moved at 5 p.m. on Jan. 3.
It happened in the U.S.
The end of it cost 3.14 dollars, i.e. approx. 3 kg.
"Really?" she asked.
He said "Stop."
Then he left...
Nobody knows why (see Fig. 3).
(It was late.)
No. 5 Squadron flew with Smith et al. in 1990.
Yahoo! is a company, vs. Google Inc. in law.
See https://example.com/a.b?c=D.E&f=1.2.
It is version 2.0.1.
Wait… what?
Go!
`
  .trim()
  .split('\n');

describe('sentences', () => {
  it.each(['\n', '"." ', '\r\n.', 'J. ', '1. ', '\u200d', 'a\u0301', ' '])(
    'pause often, whatever the text: %j',
    (unit) => {
      const text = unit.repeat(65_536 / unit.length);
      const pauses = [...sentenceSteps(text)].filter((step) => step === undefined).length;
      expect(pauses).toBeGreaterThanOrEqual(text.length / 2048);
    },
  );

  it('end where English ends them, not at abbreviations, initials, decimals, ellipses, quotes and addresses', () => {
    expect(split(english.join(' '))).toEqual(english);
  });

  it.each([
    [
      'German',
      ['Am 3. Oktober 1990 kam z. B. Hr. Dr. Müller.', 'Das war im Jahr 1990.', 'Danach bzw. später nicht.'],
    ],
    ['French', ['M. Dupont est là.', 'Mme. Martin aussi !', 'Oui ?']],
    ['Spanish', ['El Sr. García llegó.', '¿Quién es?', '¡Hola!', 'Nadie.']],
    ['Russian', ['Он жил на ул. Ленина, т.е. в центре.', 'Потом уехал.']],
    ['Greek', ['Ο κ. Παπαδόπουλος ήρθε.', 'Τι θέλει;', 'Τίποτα.']],
    ['Arabic', ['هل هذا صحيح؟', 'نعم.', 'لا أعرف.']],
    ['Urdu', ['یہ پہلا جملہ ہے۔', 'یہ دوسرا ہے۔']],
    ['Hindi', ['यह एक वाक्य है।', 'यह दूसरा है॥', 'तीसरा?']],
    ['Armenian', ['Բարեւ։', 'Աշխարհ։']],
    ['Amharic', ['ሰላም ለዓለም።', 'ደህና ነው፧', 'አዎ።']],
    ['Khmer', ['នេះជាប្រយោគ។', 'នេះទីពីរ។']],
    ['Burmese', ['ဒါကစာကြောင်း။', 'ဒုတိယ။']],
    ['Tibetan', ['བོད་ཡིག།', 'གཉིས་པ།']],
  ])('end where %s ends them', (_, expected) => {
    expect(split(expected.join(' '))).toEqual(expected);
  });

  it.each([
    ['Chinese', ['你好。', '再见！', '真的？', '「是的。」', '他说。']],
    ['Japanese', ['猫です。', '「本当？」', 'はい！']],
  ])('need no blanks in %s', (_, expected) => {
    expect(split(expected.join(''))).toEqual(expected);
  });

  it('are clauses in scripts that put blanks between them and have no marks', () => {
    const clause = 'ภาษาไทยเขียนติดกันโดยไม่มีช่องว่างระหว่างคำและไม่มีเครื่องหมายจบประโยค';
    expect(split(`${clause} ${clause} ${clause}`)).toEqual([clause, clause, clause]);
  });

  it('end with a list item, a heading and a paragraph, and not where a line is wrapped', () => {
    const text = [
      '# Title',
      '',
      '1. First item',
      '2. Second item',
      '- a bullet',
      '• another',
      '',
      'This paragraph was wrapped in the middle of its only sentence by',
      'Somebody who likes lines of eighty characters.',
      'Another ends here,',
      'in lower case.',
      'below it one that begins so.',
    ].join('\n');
    expect(split(text)).toEqual([
      'Title',
      '1. First item',
      '2. Second item',
      'a bullet',
      'another',
      'This paragraph was wrapped in the middle of its only sentence by\nSomebody who likes lines of eighty characters.',
      'Another ends here,\nin lower case.',
      'below it one that begins so.',
    ]);
  });

  it('are none where there are no words', () => {
    for (const text of ['', ' \n\t', '...', '*** --- ***', '。！？', '\ud800'])
      expect(split(text)).toEqual([]);
  });

  it('have no blanks around them, lie in order, hold every word and break no character, whatever the text', () => {
    const parts = fc.constantFrom(
      ...[
        'Dr. ',
        'A. ',
        'word',
        ' ',
        '\n',
        '. ',
        '? ',
        '…',
        '。',
        '「',
        '” ',
        '1. ',
        '- ',
        '😀',
        '👩‍👩‍👧',
        'e\u0301',
        '\ud83d',
        '\udc00',
        'ก',
        'ไทย ',
        '॥',
        '\u2029',
        '\0',
        'ß',
      ],
    );
    const texts = fc.array(fc.oneof(parts, fc.string({ unit: 'binary' })), { maxLength: 60 });
    fc.assert(
      fc.property(texts, fc.integer({ min: 1, max: 40 }), (pieces, times) => {
        const text = pieces.join('').repeat(times);
        let last = 0;
        for (const { start, end } of sentences(text)) {
          const sentence = text.slice(start, end);
          expect(start).toBeGreaterThanOrEqual(last);
          expect(end - start).toBeLessThanOrEqual(longestSentence);
          expect(sentence).toBe(sentence.trim());
          expect(text.slice(last, start)).not.toMatch(/[\p{L}\p{N}]/u);
          expect(splitsPair(text, start) || splitsPair(text, end)).toBe(false);
          last = end;
        }
        expect(text.slice(last)).not.toMatch(/[\p{L}\p{N}]/u);
      }),
      { seed: testSeed, numRuns: 100 },
    );
  });

  it.each(['word ', 'x', '. 1', '\n', 'U. ', '(', '\u0301', '\ud800', '。', 'a\n', '… '])(
    'are found in a long text without an end: %j',
    (unit) => {
      const text = unit.repeat(200_000 / unit.length);
      let last = 0;
      for (const { start, end } of sentences(text)) {
        expect(end - start).toBeLessThanOrEqual(longestSentence);
        last = end;
      }
      expect(text.slice(last)).not.toMatch(/\p{L}/u);
    },
  );
});

function splitsPair(text: string, at: number): boolean {
  return /^[\ud800-\udbff]$/.test(text.charAt(at - 1)) && /^[\udc00-\udfff]$/.test(text.charAt(at));
}
