/**
 * Words after which a sentence goes on, whatever mark is behind them, by language: articles, conjunctions, prepositions that no verb
 * is split into, and sounds of hesitation. "Turn it on.", "Yes, I am." and "Mach das Licht aus." are whole.
 */
const dangling: Readonly<Record<string, string>> = {
  en: `a an the and or but because if that whose of to at for from with without into between than as my your its our their
    um uh er erm hmm mm ah`,
  de: `der die den dem des ein eine einen einem einer eines und oder aber weil wenn dass ob als im am vom zum zur für mein
    meine dein äh ähm hm`,
  fr: `le la les un une des du de et ou mais parce que qui si quand dans sur sous à au aux par pour avec sans mon ma mes ton
    ta son sa ses notre votre euh ben`,
  es: `el la los las un una unos unas y o pero porque que si cuando en de del a al por para con sin mi mis tu sus eh`,
  it: `il lo la i gli le un uno una e o ma perché che se quando in di del della a al alla da dal per con senza mio mia tuo suo
    ehm`,
};

const danglingWords: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries(dangling).map(([language, words]) => [language, new Set(words.split(/\s+/))]),
);

/** Characters of the end of a text that are looked at: its last word, and the marks behind it. */
const longestEnd = 200;

/** Marks that end a sentence, with the quotation marks and brackets behind them. An ellipsis ends none. */
const sentenceEnd = /(?<!\.)[.!?。！？؟।]["'”’»)\]]*$/u;

/** The last word, and what is behind it. */
const lastWord = /[\p{L}\p{N}'’]+$/u;
const behindWords = /[^\p{L}\p{N}]+$/u;

/**
 * Whether a sentence probably goes on after this text: it ends without a mark of its end, as after "um, the...", or with a
 * word that needs another one.
 */
export function isUnfinished(text: string, language: string): boolean {
  const end = text.trimEnd().slice(-longestEnd);
  if (end === '') return false;
  if (!sentenceEnd.test(end)) return true;
  const word = lastWord.exec(end.replace(behindWords, ''))?.[0].toLowerCase();
  // A question may end with such a word ("What is it for?").
  if (word === undefined || /[?？؟]["'”’»)\]]*$/u.test(end)) return false;
  return danglingWords.get(language)?.has(word) ?? false;
}
