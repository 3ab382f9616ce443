/** Letters with spaces between them, as pdf.js gives a word that is letterspaced: "I N T R O D U C T I O N". */
const letterspaced = /^(?:[\p{L}\p{Nd}][.,:;!?]? ){1,60}[\p{L}\p{Nd}][.,:;!?]?$/u;

const vowel = /[aeiouyäöüáéíóúàèâêîôæøåаеиоуыэюяёіαεηιουωάέήίόύώ]/i;

/** A word in capitals, or with one. */
const word = /^(?:\p{Lu}{5,}|\p{Lu}\p{Ll}{4,})[.,:;!?]?$/u;

const joined = (text: string) => text.replaceAll(' ', '');

/** Whether the letters are surely a word: no list such as A B C D E. */
function isWord(text: string): boolean {
  const letters = joined(text);
  const isList = [...letters].every((letter, at, all) => at === 0 || letter > (all[at - 1] as string));
  return word.test(letters) && vowel.test(letters) && !isList;
}

/** Returns the runs of a line with the letters of its words together, if a word of it is letterspaced. */
export function withoutGaps(line: readonly string[]): readonly string[] {
  if (!line.some((text) => letterspaced.test(text) && isWord(text))) return line;
  return line.map((text) => (letterspaced.test(text) ? joined(text) : text));
}
