/**
 * Words after which a sentence goes on, by language: articles, prepositions, conjunctions, auxiliaries, and sounds of
 * hesitation.
 */
const dangling: Readonly<Record<string, string>> = {
  en: `a an the and or but so because if when while that which who whose of to in on at by for from with without about into
    over under between than as is are was were am be been will would can could should shall may might must do does did
    have has had not my your his her its our their this these those very um uh er erm hmm mm ah like well`,
  de: `der die das den dem des ein eine einen einem einer eines und oder aber weil wenn dass ob als wie in im an am auf
    aus bei mit nach von vom zu zum zur für über unter ist sind war waren bin wird werden kann können soll muss hat haben
    mein meine dein ihr sein sehr äh ähm hm also`,
  fr: `le la les un une des du de et ou mais parce que qui si quand dans sur sous à au aux par pour avec sans est sont
    était suis être a ont peut doit mon ma mes ton ta son sa ses notre votre très euh ben`,
  es: `el la los las un una unos unas y o pero porque que si cuando en de del a al por para con sin es son era soy está
    ser ha han puede debe mi mis tu su sus muy eh este pues`,
  it: `il lo la i gli le un uno una e o ma perché che se quando in di del della a al alla da dal per con senza è sono era
    ha hanno può deve mio mia tuo suo molto ehm allora`,
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
