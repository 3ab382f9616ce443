// The tables of BERT's normaliser and pre-tokeniser, from what the reference does with every code point
// (tools/golden/record-bert-normalizer.py).
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { arrayOfRows, declaration } from './array.mjs';

const mostStripped = 3;
const mostLowered = 2;

export function bertTables() {
  const [{ source }, ...named] = readFileSync(join(import.meta.dirname, 'bert-normalizer.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const rows = Object.fromEntries(named.map((table) => [table.name, table.rows]));
  const origin = `// Made by scripts/generate-unicode.mjs; do not edit. Source: ${source}.\n`;
  const tables = [
    [
      'kKinds',
      rows.kinds.flat(),
      3,
      'Triples, ascending: first code point, last, kind (BertCharacter). Other code points are letters.',
    ],
    [
      'kStripped',
      padded(rows.strip, mostStripped),
      mostStripped + 1,
      `Rows of ${mostStripped + 1}, ascending: code point, then its decomposition without accents and zeros. Hangul is computed.`,
    ],
    [
      'kLowered',
      padded(rows.lower, mostLowered),
      mostLowered + 1,
      `Rows of ${mostLowered + 1}, ascending: code point, then its lower case and zeros.`,
    ],
  ];
  const declarations = tables.map(
    ([name, values, , comment]) => `/// ${comment}\n${declaration('std::uint32_t', name, values)}`,
  );
  return {
    '../engine/bert_tables.gen.h': `${origin}#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace lorekeep::engine::bert {

inline constexpr std::size_t kMostStripped = ${mostStripped};
inline constexpr std::size_t kMostLowered = ${mostLowered};

${declarations.join('\n')}

}  // namespace lorekeep::engine::bert
`,
    '../engine/bert_tables.gen.cc': `${origin}#include "engine/bert_tables.gen.h"

#include "core/values/table_runs.h"

namespace lorekeep::engine::bert {

${tables.map(([name, values, columns]) => arrayOfRows('std::uint32_t', name, values, columns)).join('\n')}
}  // namespace lorekeep::engine::bert
`,
  };
}

function padded(rows, most) {
  return rows.flatMap(([codePoint, ...to]) => {
    if (to.length > most) throw new Error(`U+${codePoint.toString(16)} becomes ${to.length} characters`);
    return [codePoint, ...to, ...Array(most - to.length).fill(0)];
  });
}
