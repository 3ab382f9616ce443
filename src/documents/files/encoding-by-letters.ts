import { encodingOfLatin } from './encoding-of-latin.js';
import {
  frequentHangul,
  frequentKanji,
  frequentSimplified,
  frequentTraditional,
} from './frequent-characters.js';
import { singleByteDecoder } from './single-bytes.js';

/** An encoding with one byte for ASCII and two for the characters of East Asia. */
interface DoubleByte {
  encoding: string;
  /** Whether a pair of bytes is a character that texts have: kana, Hangul, punctuation, the first level of ideographs. */
  isUsual(lead: number, trail: number): boolean;
  frequent: ReadonlySet<string>;
}

const kana = Array.from({ length: 0x30fc - 0x3041 }, (_, at) => String.fromCodePoint(0x3041 + at)).join('');
const within = (byte: number, from: number, to: number) => byte >= from && byte <= to;

/** Pairs of EUC: punctuation and full-width letters, and the rows of usual characters. */
const euc =
  (from: number, to: number, fullWidth = 0xa3) =>
  (lead: number, trail: number) =>
    trail >= 0xa1 && (lead === 0xa1 || lead === fullWidth || within(lead, from, to));

const inShiftJis = (lead: number, trail: number) =>
  trail >= 0x40 && trail !== 0x7f && trail <= 0xfc && within(lead, 0x81, 0x98) && !within(lead, 0x84, 0x87);

const inBig5 = (lead: number, trail: number) =>
  (within(trail, 0x40, 0x7e) || within(trail, 0xa1, 0xfe)) && within(lead, 0xa1, 0xc6);

const japanese = new Set(kana + frequentKanji);

const encodings: readonly DoubleByte[] = [
  { encoding: 'shift_jis', isUsual: inShiftJis, frequent: japanese },
  {
    encoding: 'euc-jp',
    isUsual: (lead, trail) => euc(0xb0, 0xcf)(lead, trail) || (within(lead, 0xa4, 0xa5) && trail >= 0xa1),
    frequent: japanese,
  },
  { encoding: 'gb18030', isUsual: euc(0xb0, 0xd7), frequent: new Set(frequentSimplified) },
  { encoding: 'big5', isUsual: inBig5, frequent: new Set(frequentTraditional) },
  { encoding: 'euc-kr', isUsual: euc(0xb0, 0xc8), frequent: new Set(frequentHangul) },
];

/** Least shares of the characters that are usual, and that are frequent. Texts in other encodings have fewer. */
const leastUsual = 0.9;
const leastFrequent = 0.25;

/** Characters of two bytes that are looked at. */
const mostPairs = 60;

/** An encoding with one byte for each letter of an alphabet. */
interface SingleByte {
  encoding: string;
  letters: RegExp;
  /** The most frequent letters, which are most of a text. */
  frequent: ReadonlySet<string>;
}

const cyrillic = { letters: /\p{Script=Cyrillic}/u, frequent: new Set('оеаинтсрвлкмдпуіяј') };
const greek = { letters: /\p{Script=Greek}/u, frequent: new Set('αοιετσνηυρπκμλςάόίέή') };
const hebrew = { letters: /\p{Script=Hebrew}/u, frequent: new Set('יוהלאתרשבמנםעחקדכ') };
const arabic = { letters: /\p{Script=Arabic}/u, frequent: new Set('اليمنتروبعدةسف') };
const thai = { letters: /\p{Script=Thai}/u, frequent: new Set('านรกเงอมยลดท่้ัีิสปคห') };

/** The usual ones first. */
const alphabets: readonly SingleByte[] = [
  { encoding: 'windows-1251', ...cyrillic },
  { encoding: 'koi8-u', ...cyrillic },
  { encoding: 'ibm866', ...cyrillic },
  { encoding: 'iso-8859-5', ...cyrillic },
  { encoding: 'x-mac-cyrillic', ...cyrillic },
  { encoding: 'ibm855', ...cyrillic },
  { encoding: 'windows-1253', ...greek },
  { encoding: 'iso-8859-7', ...greek },
  { encoding: 'ibm737', ...greek },
  { encoding: 'windows-1255', ...hebrew },
  { encoding: 'ibm862', ...hebrew },
  { encoding: 'windows-1256', ...arabic },
  { encoding: 'iso-8859-6', ...arabic },
  { encoding: 'windows-874', ...thai },
];

/** Least shares of the letters that are of the alphabet, and of these, that are frequent. */
const leastOfAlphabet = 0.9;
const leastFrequentLetters = 0.6;

/** Share of the letters that are beside Latin ones. More are letters with accents. */
const mostBesideLatin = 0.1;

/** Fewer letters may be of any encoding. */
const fewestLetters = 4;

/** Capitals after small letters, signs after letters, marks before them, and rare or repeated letters: in another encoding, they are others. */
const misplaced =
  /\p{Ll}\p{Lu}|(?<=\p{L})\p{S}(?!\d)|[^\0-\x7f\p{L}\p{M}\u05BE«“„‘](?=\p{L})|[ЂЃЌЋЏЅѓќџѕ]|(\p{L})\1\1/gu;
const laterCapital = /(?<=[^\0-\x7f])(?<=\p{L})\p{Lu}/gu;
const weightOfMisplaced = 3;

/** A text with a lower score is in no such alphabet: lines of tables may look like letters. */
const leastScore = 1.2;

/** An encoding is taken if its score is higher than that of a more usual one by this. */
const leastLead = 0.03;

/** Score of a text in Latin letters that is no text of East Asia. */
const surelyLatin = 0.75;

/** Letters that are looked at. */
const mostLetters = 1000;

/**
 * Returns the encoding of a text that is Chinese, Japanese or Korean in characters of two bytes, or in an alphabet other than
 * the Latin one, or in letters of Central Europe; else undefined.
 */
export function encodingByLetters(bytes: Uint8Array): string | undefined {
  const start = beginning(bytes);
  const latin = encodingOfLatin(start);
  // Two letters with accents and one after each may be two characters of East Asia.
  const isLatin = /western|vietnamese/.test(latin?.letters ?? '') && (latin?.score ?? 0) >= surelyLatin;
  return (isLatin ? undefined : ofEastAsia(bytes)) ?? ofAlphabet(start) ?? latin?.encoding;
}

/** Returns the bytes up to the last letter that is looked at. */
function beginning(bytes: Uint8Array): Uint8Array {
  let letters = 0;
  const end = bytes.findIndex((byte) => byte >= 0x80 && ++letters > mostLetters);
  return end < 0 ? bytes : bytes.subarray(0, end);
}

function ofEastAsia(bytes: Uint8Array): string | undefined {
  let best: { encoding: string; share: number } | undefined;
  for (const each of encodings) {
    const share = frequentShare(bytes, each);
    if (share !== undefined && share > (best?.share ?? 0)) best = { encoding: each.encoding, share };
  }
  return best?.encoding;
}

function ofAlphabet(bytes: Uint8Array): string | undefined {
  let best: { encoding: string; score: number } | undefined;
  for (const { encoding, letters, frequent } of alphabets) {
    const text = decoded(bytes, encoding);
    const beyond = text?.match(/[^\0-\x7f]/gu) ?? [];
    if (beyond.length < fewestLetters) continue;
    const own = beyond.filter((character) => letters.test(character));
    if (own.length < beyond.length * leastOfAlphabet) continue;
    const beside = text?.match(/[a-z](?=[^\0-\x7f])|[^\0-\x7f](?=[a-z])/gi)?.length ?? 0;
    if (beside > own.length * mostBesideLatin) continue;
    const usual = own.filter((letter) => frequent.has(letter.toLowerCase())).length / own.length;
    // Words begin with capitals; in the wrong one of two Cyrillic encodings, they go on with them.
    const small = 1 - (text?.match(laterCapital)?.length ?? 0) / own.length;
    if (usual < leastFrequentLetters) continue;
    const score = usual + small - (weightOfMisplaced * (text?.match(misplaced)?.length ?? 0)) / own.length;
    if (score > (best === undefined ? leastScore : best.score + leastLead)) best = { encoding, score };
  }
  return best?.encoding;
}

/** Returns the share of frequent characters, if the bytes can be a text in the encoding. */
function frequentShare(bytes: Uint8Array, { encoding, isUsual, frequent }: DoubleByte): number | undefined {
  let [pairs, usual, adjacent] = [0, 0, 0];
  let lastEnd = -1;
  let end = bytes.length;
  for (let at = 0; at < bytes.length; at++) {
    const lead = bytes[at] as number;
    if (lead < 0x80) continue;
    const trail = bytes[at + 1];
    if (trail === undefined || pairs === mostPairs) {
      end = at;
      break;
    }
    // A rare character of four bytes.
    if (encoding === 'gb18030' && within(trail, 0x30, 0x39)) {
      at += 3;
      continue;
    }
    pairs++;
    if (isUsual(lead, trail)) usual++;
    if (lastEnd === at) adjacent++;
    at++;
    lastEnd = at + 1;
  }
  // Letters of Western texts, and their quotation marks, are between others.
  if (adjacent === 0 || usual < leastUsual * pairs) return undefined;
  const text = decoded(bytes.subarray(0, end), encoding);
  if (text === undefined) return undefined;
  const found = [...text].filter((character) => frequent.has(character)).length;
  return found < leastFrequent * pairs ? undefined : found / pairs;
}

function decoded(bytes: Uint8Array, encoding: string): string | undefined {
  try {
    return singleByteDecoder(encoding)?.(bytes) ?? new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
