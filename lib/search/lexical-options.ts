import { binding } from '../boundary/binding.js';
import { LorekeepError } from '../boundary/errors.js';
import type { NativeLexicalOptions } from '../boundary/native.js';
import { describe } from '../boundary/native-call.js';
import { optionsCheck } from '../boundary/option-numbers.js';
import type { LexicalOptions } from '../boundary/options.gen.js';
import { lexicalOptions as defined } from './options.js';

export type { LexicalOptions };
export type QuerySyntax = NonNullable<LexicalOptions['querySyntax']>;

const check = optionsCheck(defined, 'lexical.');

function refuse(field: string, expected: string, found: unknown): never {
  const reason = `${expected} is expected, not ${typeof found === 'number' ? found : describe(found)}`;
  throw LorekeepError.about('INVALID_ARGUMENT', { field, reason });
}

function words(field: string, value: unknown): string[] {
  if (value === undefined) return [];
  if (!Array.isArray(value) || value.some((word) => typeof word !== 'string'))
    refuse(field, 'an array of strings', value);
  const { most } = defined.stopwords;
  if (value.length > most) refuse(field, `an array of at most ${most} words`, value.length);
  return value;
}

function groups(value: unknown): string[][] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) refuse('lexical.synonyms', 'an array of arrays of strings', value);
  const all = value.map((group) => words('lexical.synonyms', group ?? null));
  const count = all.reduce((sum, group) => sum + group.length, 0);
  const { most } = defined.synonyms;
  if (count > most) refuse('lexical.synonyms', `at most ${most} words`, count);
  return all;
}

/** Returns the options for the addon, or undefined if they change nothing. @throws INVALID_ARGUMENT */
export function nativeLexical(options: LexicalOptions | undefined): NativeLexicalOptions | undefined {
  if (options === undefined) return undefined;
  if (typeof options !== 'object' || options === null) refuse('lexical', 'an object', options);
  const { querySyntax, fuzziness } = options;
  check(options);
  const boosts = Object.entries(options.boosts ?? {});
  const { most, max } = defined.boosts;
  if (boosts.length > most) refuse('lexical.boosts', `an object of at most ${most} fields`, boosts.length);
  for (const [field, boost] of boosts) {
    if (!(typeof boost === 'number' && boost > 0 && boost <= max))
      refuse(`lexical.boosts.${field}`, `a number above 0, at most ${max},`, boost);
  }
  const stopwords = words('lexical.stopwords', options.stopwords);
  const synonyms = groups(options.synonyms);
  const extended = querySyntax === 'extended';
  if (!extended && !fuzziness && boosts.length + stopwords.length + synonyms.length === 0) return undefined;
  return {
    extended,
    fuzziness: fuzziness === 1,
    boostedFields: boosts.map(([field]) => field),
    boosts: Float64Array.from(boosts, ([, boost]) => boost),
    stopwords,
    synonyms,
  };
}

/** Returns the text that an embedding model should see: without operators and excluded words. */
export function textToEmbed(text: string, options: LexicalOptions | undefined): string {
  return options?.querySyntax === 'extended' ? binding.plainText(text) : text;
}
