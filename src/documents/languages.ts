import { functionWords } from '../base/words/function-words.js';

/**
 * The share of each language in texts, as far as it can be told, most frequent first. Scripts decide: only languages in Latin letters
 * are told apart by words.
 */
export type LanguageShares = readonly { language: string; share: number }[];

/** Scripts of one language, and of several that nothing here needs to tell apart. */
const scripts = {
  Korean: /\p{Script=Hangul}/gu,
  Thai: /\p{Script=Thai}/gu,
  Lao: /\p{Script=Lao}/gu,
  Khmer: /\p{Script=Khmer}/gu,
  Burmese: /\p{Script=Myanmar}/gu,
  'a language in Devanagari letters': /\p{Script=Devanagari}/gu,
  'a language in Bengali letters': /\p{Script=Bengali}/gu,
  Tamil: /\p{Script=Tamil}/gu,
  Telugu: /\p{Script=Telugu}/gu,
  Gujarati: /\p{Script=Gujarati}/gu,
  Kannada: /\p{Script=Kannada}/gu,
  Malayalam: /\p{Script=Malayalam}/gu,
  Punjabi: /\p{Script=Gurmukhi}/gu,
  Sinhala: /\p{Script=Sinhala}/gu,
  'a language in Arabic letters': /\p{Script=Arabic}/gu,
  'a language in Hebrew letters': /\p{Script=Hebrew}/gu,
  Greek: /\p{Script=Greek}/gu,
  Armenian: /\p{Script=Armenian}/gu,
  Georgian: /\p{Script=Georgian}/gu,
  'a language in Ethiopic letters': /\p{Script=Ethiopic}/gu,
  'a language in Cyrillic letters': /\p{Script=Cyrillic}/gu,
} as const;

const kana = /[\p{Script=Hiragana}\p{Script=Katakana}]/gu;
const han = /\p{Script=Han}/gu;
const latin = /\p{Script=Latin}/gu;
const letters = /[\p{L}\p{M}]/gu;
const words = /[\p{L}\p{M}]+/gu;

/** A text has a language if so many of its letters are of its script. */
const mostly = 0.6;
/** Letters that a text needs for a language to be told, and words of a text in Latin letters. */
const fewestLetters = 12;
const fewestWords = 8;
/** Function words among all words, from which on a text in Latin letters has a language. Lists of names and code have fewer. */
const leastFunctionWords = 0.12;

const wordLists = Object.entries(functionWords).map(
  ([language, list]) => [language, new Set(list.split(' '))] as const,
);

const count = (text: string, pattern: RegExp) => text.match(pattern)?.length ?? 0;

/** Returns the language of most of a text; undefined if it cannot be told. */
export function languageOf(text: string): string | undefined {
  const all = count(text, letters);
  if (all < fewestLetters) return undefined;
  const least = all * mostly;
  if (count(text, latin) >= least) return latinLanguage(text);
  const japanese = count(text, kana);
  const chinese = count(text, han);
  if (japanese + chinese >= least) return japanese > chinese / 20 ? 'Japanese' : 'Chinese';
  return Object.entries(scripts).find(([, script]) => count(text, script) >= least)?.[0];
}

function latinLanguage(text: string): string | undefined {
  const found = text.normalize('NFC').toLowerCase().match(words) ?? [];
  if (found.length < fewestWords) return undefined;
  let best: string | undefined;
  let most = found.length * leastFunctionWords;
  for (const [language, list] of wordLists) {
    const known = found.reduce((sum, word) => sum + (list.has(word) ? 1 : 0), 0);
    if (known < most || (known === most && best !== undefined)) continue;
    best = language;
    most = known;
  }
  return best;
}

/** Counts the languages of texts by their letters. Those of which no language can be told have a share as well, which nothing names. */
export class LanguageCount {
  readonly #letters = new Map<string | undefined, number>();

  add(text: string): void {
    const language = languageOf(text);
    this.#letters.set(language, (this.#letters.get(language) ?? 0) + count(text, letters));
  }

  get shares(): LanguageShares {
    const total = [...this.#letters.values()].reduce((sum, each) => sum + each, 0);
    return [...this.#letters]
      .flatMap(([language, own]) => (language === undefined ? [] : { language, share: own / total }))
      .sort((a, b) => b.share - a.share);
  }
}
