/** Texts of TeX's fonts in PDFs that do not say what their characters are. */
import type { TextItem } from './pdf-lines.js';

/** The characters of TeX's T1 fonts below U+0020, and from U+0080 to U+00BF. */
const controls = '`´ˆ˜¨˝˚ˇ˘¯˙¸˛‚‹›“”„«»–—\u200b₀ıȷﬀﬁﬂﬃﬄ';
const upper = 'ĂĄĆČĎĚĘĞĹĽŁŃŇŊŐŔŘŚŠŞŤŢŰŮŸŹŽŻĲİđ§ăąćčďěęğĺľłńňŋőŕřśšşťţűůÿźžżĳ¡¿£';

const others: Readonly<Record<string, string>> = {
  "'": '’',
  '`': '‘',
  '\x7f': '-',
  '\xd7': 'Œ',
  '\xdf': 'SS',
  '\xf7': 'œ',
  '\xff': 'ß',
};

/** A ligature of T1 in a word: no other text has such characters. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: codes of ligatures
const ligature = /[A-Za-z][\x1b-\x1f]|[\x1b-\x1f][a-z]/;

/** Reads the texts of T1 fonts that are pictures, whose characters pdf.js gives by their codes. */
export class TexFonts {
  readonly #fonts = new Set<string>();

  read(items: readonly TextItem[]): readonly TextItem[] {
    for (const { fontName, str = '' } of items)
      if (fontName !== undefined && ligature.test(str)) this.#fonts.add(fontName);
    if (this.#fonts.size === 0) return items;
    return items.map((item) =>
      item.str !== undefined && this.#fonts.has(item.fontName ?? '')
        ? { ...item, str: ofT1(item.str) }
        : item,
    );
  }
}

const ofT1 = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: codes of characters
  text.replace(/[\x00-\x08\x0b\x0c\x0e-\x1f'`\x7f-\xbf\xd7\xdf\xf7\xff]/g, (character) => {
    const code = character.charCodeAt(0);
    if (code >= 0x1b && code < 0x20) return (controls[code] as string).normalize('NFKC');
    return controls[code] ?? upper[code - 0x80] ?? others[character] ?? character;
  });

/** Codes without a character. 0x88 is the bullet of TeX's symbols. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are looked for
const unnamed = /[\x00-\x08\x0e-\x1f\x7f-\x9f]/g;

/** Combining marks of the accents that TeX's first fonts draw before a letter. */
const marks: Readonly<Record<string, string>> = {
  '¨': '\u0308',
  '´': '\u0301',
  '`': '\u0300',
  ˆ: '\u0302',
  '˜': '\u0303',
  ˇ: '\u030c',
  '˘': '\u0306',
  '˚': '\u030a',
  '˝': '\u030b',
  '˙': '\u0307',
};

/** An accent before its letter. Acute and grave ones are also written for apostrophes and quotation marks: before vowels within words, they are accents. */
const accented = /[¨ˆ˜ˇ˘˚˝˙]([A-Za-zı])|(?<=\p{L})[´`]([aeiouyAEIOUYı])(?=\p{L}|[.,;:!?)]|\s|$)/gu;

/** Returns a text whose letters have the accents that are drawn before them, without codes that are no characters. */
export const readable = (text: string): string =>
  text
    .replace(unnamed, (code) => (code === '\x88' ? '•' : ''))
    .replace(accented, (drawn, one: string | undefined, other: string | undefined) => {
      const letter = one ?? other ?? '';
      const composed = `${letter === 'ı' ? 'i' : letter}${marks[drawn[0] ?? ''] ?? ''}`.normalize('NFC');
      return composed.length === 1 ? composed : drawn;
    });
