// native/lm/prompt/letter_case_tables.gen.{h,cc}: upper, lower and title case of every code point, as Python's str has them.
import { array, declaration } from './array.mjs';

/** @returns the files by their path from native/text */
export async function letterCaseTables({ property, origin }) {
  const tables = [];
  for (const name of ['Uppercase', 'Lowercase', 'Titlecase']) {
    const simple = await property(`Simple_Case_Mapping/${name}`);
    const special = await property(`Special_Casing/${name}`);
    tables.push([name, rowsOf(simple, special), longer(special)]);
  }
  const head = `${origin}#pragma once

#include <array>
#include <cstdint>

namespace lorekeep::lm::unicode {

/// Rows of four numbers: the first code point, the number of code points, the step between them, what is added to each.
${tables.map(([name, rows]) => declaration('std::int32_t', `k${name}`, rows)).join('\n')}
/// Rows of four numbers: a code point and the two or three that it becomes (0: none).
${tables.map(([name, , rows]) => declaration('std::int32_t', `k${name}Longer`, rows)).join('\n')}

}  // namespace lorekeep::lm::unicode
`;
  const body = `${origin}#include "lm/prompt/letter_case_tables.gen.h"

#include "core/values/table_runs.h"

namespace lorekeep::lm::unicode {

${tables.map(([name, rows, more]) => `${array('std::int32_t', `k${name}`, rows)}\n${array('std::int32_t', `k${name}Longer`, more)}`).join('\n')}
}  // namespace lorekeep::lm::unicode
`;
  return {
    '../lm/prompt/letter_case_tables.gen.h': head,
    '../lm/prompt/letter_case_tables.gen.cc': body,
  };
}

function rowsOf(simple, special) {
  const pairs = [...simple].filter(([from]) => !special.has(from)).sort(([a], [b]) => a - b);
  const runs = [];
  for (const [from, to] of pairs) {
    const last = runs.at(-1);
    const step = last === undefined ? 0 : from - last.end;
    const fits =
      last !== undefined && last.delta === to - from && step <= 2 && (last.count === 1 || step === last.step);
    if (fits) Object.assign(last, { count: last.count + 1, step, end: from });
    else runs.push({ first: from, count: 1, step: 1, delta: to - from, end: from });
  }
  return runs.flatMap(({ first, count, step, delta }) => [first, count, step, delta]);
}

const longer = (special) =>
  [...special]
    .sort(([a], [b]) => a - b)
    .flatMap(([from, to]) => [from, ...to, ...Array(Math.max(0, 3 - to.length)).fill(0)]);
