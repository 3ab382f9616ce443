import type { PageLine } from './pdf-lines.js';
import { readable } from './pdf-tex-fonts.js';

/** Stands for a hyphen at the end of a line, until all words of the document are known. No text has it. */
const brokenHyphen = '\uE0AD';

/** Forms of Arabic letters that fonts have for their places in words. */
const arabicForms = /[\uFB50-\uFDFB\uFE70-\uFEFC]+/g;

/** Characters of scripts without spaces, in which lines end within words. */
const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー々、，]$/u;
const unspacedBegin = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー々]/u;

/** A line is full if it has this share of the characters of the one below it, and this number at least. */
const fullShare = 0.8;
const fullLine = 12;

const endsWithin = (line: string, below: string) =>
  line.length >= Math.max(fullLine, fullShare * below.length) &&
  unspaced.test(line) &&
  unspacedBegin.test(below);

/** The text of a page: lines, with a blank line between paragraphs. joinWords() joins the words that lines divide. */
export function pageText(lines: readonly PageLine[]): string {
  const shown = lines.flatMap(({ text, isApart }, at) => (isApart && at > 0 ? ['', text] : [text]));
  return joined(shown.map((text) => readable(text).replace(arabicForms, (forms) => forms.normalize('NFKC'))));
}

function joined(lines: readonly string[]): string {
  const parts: string[] = [];
  // The end of the text so far is that of its last line: looking at the whole text for each line would take the square of its length.
  let last = '';
  for (const line of lines) {
    if (endsWithin(last, line)) parts.push(line);
    else if (!/\p{L}-$/u.test(last)) parts.push(parts.length === 0 ? '' : '\n', line);
    else if (/^\p{Ll}/u.test(line) || (/\p{Lu}{2}-$/u.test(last) && /^\p{Lu}{2}/u.test(line))) {
      parts[parts.length - 1] = last.slice(0, -1);
      parts.push(brokenHyphen, line);
    } else parts.push(/^[\p{Lu}\d]/u.test(line) ? '' : '\n', line); // "Jean-Paul", "Covid-19"
    last = line;
  }
  return parts.join('');
}

const words = /[\p{L}\p{M}]{1,60}(?:-[\p{L}\p{M}]{1,60}){0,4}/gu;

const broken = new RegExp(`([\\p{L}\\p{M}-]{0,60})${brokenHyphen}([\\p{L}\\p{M}]{0,60})(-?)`, 'gu');

/** First and second words of English compounds that are seldom the ends of a divided word. */
const firstWords =
  /^(?:long|short|well|self|high|low|full|half|part|hard|deep|large|small|cross|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|two|three|four|five|six)$/;
const secondWords =
  /^(?:term|based|driven|oriented|friendly|specific|related|making|level|scale|quality|known|aware|dependent|effective|style)$/;

/** Second parts that make one word with some of the first words: "selfish", "highway". */
const oneWord =
  /^(?:.{0,3}|ness|less|ment|able|hand|light|lights|lighted|land|lands|ways?|coming|comings|ening|ened|ishly|ishness|time|wave|back|ship|ware|fold|most|teen|teenth|some)$/;

/** Whether two parts are surely a compound: typesetters leave two letters or more on each line and divide no compound elsewhere. */
function isCompound(first: string, second: string): boolean {
  if (first.length === 1 || second.length === 1 || first.includes('-')) return true;
  return secondWords.test(second) || (firstWords.test(first) && !oneWord.test(second));
}

/**
 * Joins the words of a document that are divided at the ends of lines. The document's own words decide whether a hyphen stays:
 * the compound is written elsewhere with it and not without it, or nowhere and both of its parts are words. Where they say
 * nothing, it stays in what looks like a compound.
 */
export function joinWords(pages: readonly string[]): string[] {
  if (!pages.some((page) => page.includes(brokenHyphen))) return [...pages];
  const known = new Set<string>();
  for (const page of pages)
    for (const [word] of page.replace(broken, ' ').matchAll(words)) known.add(word.toLowerCase());
  const staysIn = (first: string, second: string, more: string) => {
    const [one, two] = [first.toLowerCase(), second.toLowerCase()];
    if (more !== '') return true; // "mother-in-law"
    if (known.has(one + two)) return false;
    return known.has(`${one}-${two}`) || (known.has(one) && known.has(two)) || isCompound(one, two);
  };
  return pages.map((page) =>
    page
      .replace(
        broken,
        (_, first: string, second: string, more: string) =>
          `${first}${staysIn(first, second, more) ? '-' : ''}${second}${more}`,
      )
      .replaceAll(brokenHyphen, ''),
  );
}
