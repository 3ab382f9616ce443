import { expect, it } from 'vitest';
import { decimalOf } from '../../lib/generation/decimal.js';
import { Languages } from '../../lib/generation/languages/language.js';
import { Work } from '../../lib/generation/languages/work.js';
import { NumberGrammar } from '../../lib/generation/number-grammar.js';
import { numberLanguage } from '../../lib/generation/number-language.js';
import type { NumberRange } from '../../lib/generation/number-range.js';
import { matchGrammar } from '../../lib/internal.js';
import { random, testSeed } from '../helpers/random.js';

/** The whole grammar of a range; undefined if it has no numbers. */
function grammarOf(range: NumberRange): string | undefined {
  const rules: string[] = [];
  const reserved = {
    count: 0,
    reserve: () => `r${++reserved.count}`,
    define: (name: string, body: string) => {
      rules.push(`${name} ::= ${body}`);
    },
  };
  const root = new NumberGrammar(reserved, new Work()).of(range);
  return root === undefined ? undefined : [`root ::= ${root}`, ...rules].join('\n');
}

/** Texts near a number: its own digits, cut, longer, and with one of them changed. */
function near(text: string, next: () => number): string[] {
  const at = Math.floor(next() * text.length);
  const changed = `${text.slice(0, at)}${Math.floor(next() * 10)}${text.slice(at + 1)}`;
  const all = [
    text,
    changed,
    text.slice(0, at),
    `${text}0`,
    `${text}${Math.floor(next() * 10)}`,
    `${text}.0`,
  ];
  return [...all, `${text}.5`, `-${text}`, text.replace('-', ''), `${text}0000000000000000`].filter(
    (each) => each !== '',
  );
}

const seed = testSeed;

it(`ranges have the numbers of their automata (seed ${seed})`, async () => {
  const next = random(seed);
  const number = () => {
    const size = 10 ** Math.floor(next() * 8 - 2);
    const value = (next() - 0.4) * size;
    const places = Math.floor(next() * 4);
    if (next() < 0.2) return value;
    return next() < 0.1 ? 0 : Number(value.toFixed(places));
  };
  const bound = () => ({ value: decimalOf(number()), strict: next() < 0.3 });
  for (let round = 0; round < 120; round++) {
    const least = next() < 0.2 ? undefined : bound();
    const most = next() < 0.2 ? undefined : bound();
    const range = { integer: next() < 0.4, least, most };
    const languages = new Languages(new Work());
    const language = numberLanguage(languages, { ...range, multiples: [] });
    const grammar = grammarOf(range);
    const texts = [least, most].flatMap((each) => {
      const { negative, whole, fraction } = each?.value ?? decimalOf(number());
      return near(`${negative ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`, next);
    });
    for (const text of [...texts, ...near(String(number()), next), '0', '-0', '0.0', '10', '00', '.5']) {
      const conforms = grammar !== undefined && (await matchGrammar(grammar, text)) === 'conforms';
      expect(conforms, `${text} of ${JSON.stringify(range)} by ${grammar}`).toBe(
        languages.matches(language, text),
      );
    }
  }
});

it('of a bound with more digits than a decimal may have has no empty rule', async () => {
  const range = { integer: false, least: { value: decimalOf(-101.38000000000001), strict: false } };
  const grammar = grammarOf({ ...range, most: { value: decimalOf(1001013.8), strict: false } }) ?? '';
  for (const [text, match] of [
    ['-101.3800000000', 'conforms'],
    ['-101.38', 'conforms'],
    ['-101.39', 'refused'],
  ])
    expect(await matchGrammar(grammar, text as string), text).toBe(match);
});
