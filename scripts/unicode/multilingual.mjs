// The tables of the multilingual tokenizer: what each code point becomes (compatibility decomposition and full case
// folding, composed again), its part in a word, which pairs compose, and which letters are a base with a diacritic.
import { array, arrayOfRows, declaration } from './array.mjs';
import { combiningRanges } from './combining-classes.mjs';

// Must match enum CodePointClass in native/text/multilingual_folding.h.
const separator = 0;
const word = 1;
const ideograph = 2;
const hangul = 3;
const complexBase = 4;
const complexMark = 5;
const diacritic = 6;
const ignored = 7;

const blockSize = 1 << 7;
const hangulSyllables = { first: 0xac00, last: 0xd7a3 };
// Without Fraction: 6½ is not 61⁄2.
const compatibilityKinds =
  'Circle Compat Final Font Initial Isolated Medial Narrow Nobreak Small Square Sub Super Vertical Wide';

// Letters that are written with and without a change that Unicode does not take for a mark.
const basesWithoutMark = codePointMap({
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ħ: 'h',
  ŧ: 't',
  ı: 'i',
  æ: 'ae',
  œ: 'oe',
  ð: 'd',
});
// Spellings of one Arabic letter: Farsi yeh and alef maksura, teh marbuta, keheh.
const sameLetters = codePointMap({ ى: 'ي', ی: 'ي', ة: 'ه', ک: 'ك' });
// Short i is a letter of its own in every language that uses it; nobody writes it without its breve.
const noVariants = [0x0439];
const tatweel = 0x0640;
const dotAbove = 0x0307;
const dottedCapitalI = 0x0130;
const zeroWidthSpace = 0x200b;
const zeroWidthNonJoiner = 0x200c;
const kanaVoiceMarks = [0x3099, 0x309a];
const diacriticBlocks = [
  [0x0300, 0x036f],
  [0x1ab0, 0x1aff],
  [0x1dc0, 0x1dff],
  [0x20d0, 0x20ff],
  [0xfe20, 0xfe2f],
];
const scriptsWithOptionalMarks = ['Arabic', 'Hebrew', 'Syriac', 'Inherited'];
const devanagariNukta = 0x093c;

export async function multilingualTables({ property, origin, commonFoldings, fullFoldings, words }) {
  const unicode = await readProperties(property);
  const pairs = compositionPairs(unicode);
  const classes = classify(unicode, words);
  const seconds = new Set([...pairs.values()].flatMap((byFirst) => [...byFirst.keys()]));
  for (let jamo = 0x1161; jamo <= 0x1175; jamo++) seconds.add(jamo);
  for (let jamo = 0x11a8; jamo <= 0x11c2; jamo++) seconds.add(jamo);

  const fold = (codePoint) => {
    if (codePoint >= hangulSyllables.first && codePoint <= hangulSyllables.last) return [codePoint];
    const folded = decompose(unicode, codePoint)
      .flatMap((part) => fullFoldings.get(part) ?? commonFoldings.get(part) ?? part)
      .flatMap((part) => decompose(unicode, part))
      .map((part) => unicode.digits.get(part) ?? sameLetters.get(part)?.[0] ?? part)
      .filter((part) => classes(part) !== ignored && !(codePoint === dottedCapitalI && part === dotAbove));
    return compose(pairs, folded);
  };
  const bases = baseForms(unicode, classes, fold);
  const entry = (codePoint) =>
    classes(codePoint) + (seconds.has(codePoint) ? 8 : 0) + (bases.has(codePoint) ? 16 : 0);

  const expansions = [];
  const records = new Map();
  const recordOf = (codePoint) => {
    const folded = classes(codePoint) === ignored ? [] : fold(codePoint);
    let value = ignored;
    if (unicode.trademarks.has(codePoint)) value = separator;
    else if (folded.length === 1) value = (folded[0] - codePoint) * 64 + entry(folded[0]);
    else if (folded.length > 1 && folded.every((part) => classes(part) === separator)) value = separator;
    else if (folded.length > 1) {
      value = (expansions.length * 32 + folded.length) * 64 + 32;
      for (const part of folded) expansions.push(part * 32 + entry(part));
    }
    if ((value & 31) === separator && (value & 32) === 0) value = separator; // The character that it folds to does not matter.
    if (!records.has(value)) records.set(value, records.size);
    return records.get(value);
  };
  recordOf(0); // record 0: a separator
  const { blockOf, recordNumbers } = blocksOf(recordOf);
  const compositions = [...pairs]
    .sort(([a], [b]) => a - b)
    .flatMap(([first, seconds]) => [...seconds].sort(([a], [b]) => a - b).map((pair) => [first, ...pair]));
  return files(origin, { blockOf, recordNumbers, records, expansions, compositions, bases });
}

function codePointMap(letters) {
  const codePoints = (text) => [...text].map((letter) => letter.codePointAt(0));
  return new Map(Object.entries(letters).map(([from, to]) => [from.codePointAt(0), codePoints(to)]));
}

async function readProperties(property) {
  const set = async (path) => new Set(await property(path));
  const canonical = await property('Decomposition_Mapping/Canonical');
  const compatible = new Map();
  for (const kind of compatibilityKinds.split(' ')) {
    for (const [from, to] of await property(`Decomposition_Mapping/${kind}`)) compatible.set(from, to);
  }
  const scripts = new Map();
  for (const script of [...scriptsWithOptionalMarks, 'Latin', 'Greek', 'Cyrillic', 'Hangul']) {
    for (const codePoint of await property(`Script/${script}`)) scripts.set(codePoint, script);
  }
  const ideographic = new Set();
  for (const script of ['Han', 'Hiragana', 'Katakana', 'Bopomofo']) {
    for (const codePoint of await property(`Script_Extensions/${script}`)) ideographic.add(codePoint);
  }
  const superscripts = await property('Decomposition_Mapping/Super');
  const symbols = await set('General_Category/Other_Symbol');
  return {
    canonical,
    compatible,
    scripts,
    ideographic,
    digits: digitValues(await property('General_Category/Decimal_Number')),
    complex: await set('Line_Break/Complex_Context'),
    ignorable: await set('Binary_Property/Default_Ignorable_Code_Point'),
    nonspacing: await set('General_Category/Nonspacing_Mark'),
    spacing: await set('General_Category/Spacing_Mark'),
    enclosing: await set('General_Category/Enclosing_Mark'),
    excluded: await set('Binary_Property/Full_Composition_Exclusion'),
    // Symbols set high, such as the trademark sign, are no letters of the word before them.
    trademarks: new Set([...superscripts.keys()].filter((codePoint) => symbols.has(codePoint))),
  };
}

/** Decimal digits of every script -> ASCII digit. Unicode promises that they lie in runs of ten, from zero up. */
function digitValues(codePoints) {
  const values = new Map();
  let first;
  let previous;
  for (const codePoint of [...codePoints].sort((a, b) => a - b)) {
    if (codePoint !== previous + 1) first = codePoint;
    values.set(codePoint, 0x30 + ((codePoint - first) % 10));
    previous = codePoint;
  }
  return values;
}

function decompose(unicode, codePoint) {
  if (codePoint >= hangulSyllables.first && codePoint <= hangulSyllables.last) return [codePoint];
  const mapped = unicode.canonical.get(codePoint) ?? unicode.compatible.get(codePoint);
  if (mapped === undefined) return [codePoint];
  return (Array.isArray(mapped) ? mapped : [mapped]).flatMap((part) => decompose(unicode, part));
}

/** first -> second -> composed, of all primary composites but Hangul's. */
function compositionPairs({ canonical, excluded }) {
  const pairs = new Map();
  for (const [composed, parts] of canonical) {
    if (!Array.isArray(parts) || parts.length !== 2 || excluded.has(composed)) continue;
    if (composed >= hangulSyllables.first && composed <= hangulSyllables.last) continue;
    if (!pairs.has(parts[0])) pairs.set(parts[0], new Map());
    pairs.get(parts[0]).set(parts[1], composed);
  }
  return pairs;
}

function compose(pairs, codePoints) {
  const composed = [];
  for (const codePoint of codePoints) {
    const whole = pairs.get(composed.at(-1))?.get(codePoint);
    if (whole === undefined) composed.push(codePoint);
    else composed[composed.length - 1] = whole;
  }
  return composed;
}

function classify(unicode, words) {
  const { scripts, ideographic, complex, ignorable, nonspacing, spacing, enclosing } = unicode;
  return (codePoint) => {
    if (codePoint === zeroWidthSpace || codePoint === zeroWidthNonJoiner) return separator;
    const mark = nonspacing.has(codePoint) || spacing.has(codePoint);
    if (kanaVoiceMarks.includes(codePoint)) return diacritic;
    if (mark && diacriticBlocks.some(([first, last]) => codePoint >= first && codePoint <= last))
      return diacritic;
    if (nonspacing.has(codePoint) && scripts.get(codePoint) === 'Cyrillic') return diacritic;
    if (ignorable.has(codePoint) || enclosing.has(codePoint)) return ignored;
    if (codePoint === tatweel || codePoint === devanagariNukta) return ignored;
    if (mark && scriptsWithOptionalMarks.includes(scripts.get(codePoint))) return ignored;
    if (!mark && !words.has(codePoint)) return separator;
    if (complex.has(codePoint)) return mark ? complexMark : complexBase;
    if (ideographic.has(codePoint) && !mark) return ideograph;
    return scripts.get(codePoint) === 'Hangul' ? hangul : word;
  };
}

/** Folded letter -> the same without its diacritics, of the scripts in which readers leave them out. */
function baseForms(unicode, classes, fold) {
  const bases = new Map();
  for (const [codePoint, script] of unicode.scripts) {
    if (!['Latin', 'Greek', 'Cyrillic'].includes(script) || classes(codePoint) !== word) continue;
    if (noVariants.includes(codePoint)) continue;
    const folded = fold(codePoint);
    if (folded.length !== 1 || folded[0] !== codePoint) continue;
    const parts = decompose(unicode, codePoint)
      .filter((part) => classes(part) !== diacritic)
      .flatMap((part) => basesWithoutMark.get(part) ?? part);
    if (parts.length === 0 || parts.length > 2 || (parts.length === 1 && parts[0] === codePoint)) continue;
    bases.set(codePoint, parts);
  }
  return bases;
}

function blocksOf(recordOf) {
  const blocks = new Map();
  const blockOf = [];
  for (let begin = 0; begin < 0x110000; begin += blockSize) {
    const content = Array.from({ length: blockSize }, (_, i) => recordOf(begin + i)).join();
    if (!blocks.has(content)) blocks.set(content, blocks.size);
    blockOf.push(blocks.get(content));
  }
  const empty = blocks.get(Array(blockSize).fill(0).join());
  while (blockOf.at(-1) === empty) blockOf.pop();
  return { blockOf, recordNumbers: [...blocks.keys()].flatMap((content) => content.split(',').map(Number)) };
}

/** `columns`: of a table whose rows are near each other. */
function definitionOf([type, name, values, , columns]) {
  return columns === undefined ? array(type, name, values) : arrayOfRows(type, name, values, columns);
}

function files(origin, { blockOf, recordNumbers, records, expansions, compositions, bases }) {
  if (records.size > 65536 || blockOf.some((block) => block > 65535)) {
    throw new Error('multilingual tables: record or block numbers no longer fit into 16 bits');
  }
  const letters = [...bases].sort(([a], [b]) => a - b);
  const tables = [
    [
      'std::uint16_t',
      'kBlockOf',
      blockOf,
      'Block of 2^kBlockBits code points -> its number in kRecordNumber.',
    ],
    [
      'std::uint16_t',
      'kRecordNumber',
      recordNumbers,
      'Block number * 2^kBlockBits + offset in the block -> record.',
    ],
    [
      'std::int32_t',
      'kRecord',
      [...records.keys()],
      `bits 0-2: class (CodePointClass); bit 3: may compose with what precedes; bit 4: has a base form
/// bit 5: folds to several code points, then bits 0-4 are in kExpansions
/// rest:  single folding: folded - own code point; several: first of kExpansions * 32 + their number`,
      1,
    ],
    ['std::uint32_t', 'kExpansions', expansions, 'Code point * 32 + its bits 0-4 as above.', 1],
    [
      'std::uint32_t',
      'kCompositions',
      compositions.flat(),
      'Triples, ascending: first code point, second, what they compose to. Hangul is computed.',
      3,
    ],
    [
      'std::uint32_t',
      'kBases',
      letters.flatMap(([codePoint, [a, b = 0]]) => [codePoint, a, b]),
      'Triples, ascending: letter, its base without diacritics, a second letter of the base or 0.',
      3,
    ],
    [
      'std::uint32_t',
      'kCombining',
      combiningRanges().flat(),
      'Triples, ascending: first code point, last, their canonical combining class, which is not 0.',
      3,
    ],
  ];
  const declarations = tables.map(
    ([type, name, values, comment]) => `/// ${comment}\n${declaration(type, name, values)}`,
  );
  return {
    'multilingual_tables.gen.h': `${origin}#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace lorekeep::text::multilingual {

inline constexpr int kBlockBits = ${Math.log2(blockSize)};
/// Code points from here on separate words.
inline constexpr char32_t kTableEnd = 0x${(blockOf.length * blockSize).toString(16)};
inline constexpr std::size_t kMaxExpansion = ${Math.max(...[...records.keys()].filter((value) => value & 32).map((value) => (value >> 6) & 31))};

${declarations.join('\n')}

}  // namespace lorekeep::text::multilingual
`,
    'multilingual_tables.gen.cc': `${origin}#include "text/multilingual_tables.gen.h"

#include "core/values/table_runs.h"

namespace lorekeep::text::multilingual {

${tables.map(definitionOf).join('\n')}
}  // namespace lorekeep::text::multilingual
`,
  };
}
