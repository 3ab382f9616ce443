import { choiceArgument, integerArgument } from '../boundary/arguments.js';
import { binding } from '../boundary/binding.js';
import { LorekeepError } from '../boundary/errors.js';
import type { NativeLexicalOptions } from '../boundary/native.js';
import { describe } from '../boundary/native-call.js';

const querySyntaxes = ['words', 'extended'] as const;
export type QuerySyntax = (typeof querySyntaxes)[number];

/** How the lexical leg reads a query. Without any of these, the query is words, scored by BM25. */
export interface LexicalOptions {
  /** "extended": "phrases", prefixes (word*), +required and -excluded words count. Default "words". */
  querySyntax?: QuerySyntax | undefined;
  /** 1: rare words also match words that differ by one edit. Default 0. */
  fuzziness?: number | undefined;
  /** String fields whose words count too, with the factor of their BM25 score, above 0 up to 1000. */
  boosts?: Readonly<Record<string, number>> | undefined;
  /** Words of queries that are ignored, besides the tokenizer's stopwords. */
  stopwords?: readonly string[] | undefined;
  /** Groups of words that count as one. */
  synonyms?: readonly (readonly string[])[] | undefined;
}

/** Maximum number of boosted fields, and of stop words or synonyms. */
const maxBoosts = 16;
const maxWords = 10_000;
const maxBoost = 1000;

function refuse(field: string, expected: string, found: unknown): never {
  const reason = `${expected} is expected, not ${typeof found === 'number' ? found : describe(found)}`;
  throw LorekeepError.about('INVALID_ARGUMENT', { field, reason });
}

function words(field: string, value: unknown): string[] {
  if (value === undefined) return [];
  if (!Array.isArray(value) || value.some((word) => typeof word !== 'string'))
    refuse(field, 'an array of strings', value);
  if (value.length > maxWords) refuse(field, `an array of at most ${maxWords} words`, value.length);
  return value;
}

function groups(value: unknown): string[][] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) refuse('lexical.synonyms', 'an array of arrays of strings', value);
  const all = value.map((group) => words('lexical.synonyms', group ?? null));
  const count = all.reduce((sum, group) => sum + group.length, 0);
  if (count > maxWords) refuse('lexical.synonyms', `at most ${maxWords} words`, count);
  return all;
}

/** Returns the options for the addon, or undefined if they change nothing. @throws INVALID_ARGUMENT */
export function nativeLexical(options: LexicalOptions | undefined): NativeLexicalOptions | undefined {
  if (options === undefined) return undefined;
  if (typeof options !== 'object' || options === null) refuse('lexical', 'an object', options);
  const syntax = choiceArgument('lexical.querySyntax', options.querySyntax, 'words', querySyntaxes);
  const fuzziness = integerArgument('lexical.fuzziness', options.fuzziness, 0, 0, 1);
  const boosts = Object.entries(options.boosts ?? {});
  if (boosts.length > maxBoosts)
    refuse('lexical.boosts', `an object of at most ${maxBoosts} fields`, boosts.length);
  for (const [field, boost] of boosts) {
    if (!(typeof boost === 'number' && boost > 0 && boost <= maxBoost)) {
      refuse(`lexical.boosts.${field}`, `a number above 0, at most ${maxBoost},`, boost);
    }
  }
  const stopwords = words('lexical.stopwords', options.stopwords);
  const synonyms = groups(options.synonyms);
  if (syntax === 'words' && fuzziness === 0 && boosts.length + stopwords.length + synonyms.length === 0)
    return undefined;
  return {
    extended: syntax === 'extended',
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
