// Writes native/binding/{layout.gen.h,layout.gen.cc,options.gen.h} and lib/boundary/{layout,options}.gen.ts: where each number
// lies in the arrays that cross between C++ and TypeScript, and the numbers of enumerators; and the types of options, and
// how C++ reads them, from their definitions in lib/search/options.ts and lib/generation/sampling-options.ts. The compiler checks layout.gen.cc. Change the tables below, then run
//
//   node scripts/generate-layouts.mjs           writes the files
//   node scripts/generate-layouts.mjs --check   exit status 1 when a file differs from what would be written
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadDefinitions, optionTypes, reader, writer } from './layouts/options.mjs';
import { root } from './tool/project.mjs';

const definitions = await loadDefinitions();
const { rankingOptions, resultOptions, calibrationOptions, numberedOptions, samplingOptions } = definitions;

/**
 * Names of TypeScript whose positions are the values of a C++ enumeration: `type`, in `header`. `enumerators`: those that
 * are not spelled like the names.
 */
const enumerations = {
  searchModes: {
    comment: 'Search modes by number.',
    type: 'store::Mode',
    header: 'store/search.h',
    names: rankingOptions.mode.choices,
  },
  triedFilters: {
    comment: 'Filters of a measurement of recall by number.',
    type: 'vector::TriedFilter',
    header: 'vector/recall_report.h',
    names: ['none', 'random', 'near', 'far'],
  },
  fusionMethods: {
    comment: 'Fusions of a hybrid search by number.',
    type: 'store::Fusion',
    header: 'store/search.h',
    names: rankingOptions.fusion.choices,
  },
  searchPaths: {
    comment: 'Search paths by number.',
    type: 'vector::SearchPath',
    header: 'vector/vector_index.h',
    names: ['exact', 'graph', 'cells'],
  },
  placements: {
    comment: 'Placements of a model by number.',
    type: 'engine::Placement',
    header: 'engine/placement.h',
    names: ['ram', 'vram', 'auto'],
  },
  runtimes: {
    comment: 'Runtimes of a language model by number.',
    type: 'lm::Runtime',
    header: 'lm/model/language_model.h',
    names: ['auto', 'llama.cpp', 'decoder'],
    enumerators: { 'llama.cpp': 'kLlama' },
  },
  kvCacheTypes: {
    comment: 'Number formats of a KV cache by number.',
    type: 'lm::CacheType',
    header: 'lm/model/language_model.h',
    names: ['f16', 'q8_0'],
    enumerators: { q8_0: 'kQ8_0' },
  },
  roles: {
    comment: 'Roles of chat messages by number.',
    type: 'lm::Role',
    header: 'lm/prompt/chat_template.h',
    names: ['system', 'user', 'assistant'],
  },
  thinkingModes: {
    comment: "Settings of a model's switch for thinking by number.",
    type: 'lm::Thinking',
    header: 'lm/prompt/chat_template.h',
    names: ['default', 'on', 'off'],
  },
  consumerClasses: {
    comment: 'Consumer classes by number.',
    type: 'scheduler::ConsumerClass',
    header: 'scheduler/consumer_class.h',
    names: ['interactive_visible', 'interactive_buffered', 'background'],
  },
  grammarMatches: {
    comment: 'Results of matching a text with a grammar by number.',
    type: 'lm::GrammarMatch',
    header: 'lm/grammar/grammar.h',
    names: ['refused', 'beginning', 'conforms'],
  },
};

/** Names in the order in which their numbers lie one after another. */
const layouts = {
  StorageResult: {
    comment:
      'The head of a storage search result: ns that the search held this thread, hits, then the plan. scoreWeight is NaN unless the legs were fused by scores, feedback without feedback, floor without a dense query or hits; the times are in ms. Of each hit a StorageHit follows, and one number per field.',
    names: [
      'held',
      'hits',
      'dense',
      'path',
      'matched',
      'visited',
      'exact',
      'lexical',
      'tokens',
      'terms',
      'scored',
      'scoreWeight',
      'feedback',
      'feedbackAdded',
      'floor',
      'filterMs',
      'denseMs',
      'lexicalMs',
      'fusionMs',
      'version',
    ],
  },
  StorageHit: {
    comment: 'The numbers of a hit of a storage search. NaN: absent.',
    names: [
      'ordinal',
      'score',
      'distance',
      'bm25Score',
      'denseRank',
      'lexicalRank',
      'denseScore',
      'lexicalScore',
      'relevance',
    ],
  },
  VectorResult: {
    comment: 'The head of a vector search result. Of each query a VectorQuery follows.',
    names: ['held'],
  },
  VectorQuery: {
    comment: 'The numbers of one query: its hits, then the plan. Of each hit an IndexHit follows.',
    names: ['hits', 'path', 'matched', 'visited', 'exact'],
  },
  TextResult: {
    comment: 'The head of a text search result. Of each hit an IndexHit follows.',
    names: ['held', 'hits', 'scored'],
  },
  RecallCell: {
    comment: 'One measurement of recall. ef: a width that suffices if the default does not; 0: none.',
    names: ['filter', 'share', 'recall', 'ef'],
  },
  IndexHit: {
    comment: 'A hit of a vector or text index. value: distance or score.',
    names: ['ordinal', 'value'],
  },
  PrefixPart: {
    comment: 'A part of the tree of prefixes in a KV cache; idleMs is in ms.',
    names: ['depth', 'tokens', 'running', 'kept', 'pinned', 'idleMs'],
  },
  TextHighlights: {
    comment:
      'Number of matches of a text, which follow; begin and end of its best part, in UTF-16 code units.',
    names: ['matches', 'begin', 'end'],
  },
  Highlight: {
    comment: 'A match in a text, in UTF-16 code units, and the number of the clause of the query.',
    names: ['begin', 'end', 'clause'],
  },
};

const origin = 'Written by scripts/generate-layouts.mjs.';
const capital = (name) => name[0].toUpperCase() + name.slice(1);
const small = (name) => name[0].toLowerCase() + name.slice(1);
const snake = (name) => small(name).replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Comment lines of at most 100 columns. */
function wrapped(text, prefix) {
  const lines = [''];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (prefix.length + last.length + word.length > 99) lines.push(word);
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`;
  }
  return lines.map((line) => `${prefix}${line}\n`).join('');
}

const enumeratorOf = ({ enumerators = {} }, name) =>
  enumerators[name] ?? `k${name.split('_').map(capital).join('')}`;

const cppCount = ([name, { names }]) => `inline constexpr std::size_t k${capital(name)} = ${names.length};\n`;

const cppCheck = ([, enumeration]) => {
  const enumerators = enumeration.names.map(
    (name) => `${enumeration.type}::${enumeratorOf(enumeration, name)}`,
  );
  return `static_assert(are_numbered({${enumerators.join(', ')}}));\n`;
};

const cppLayout = ([name, { comment, names }]) =>
  `${wrapped(comment, '/// ')}namespace ${snake(name)} {
enum : std::size_t { ${names.map((entry) => `k${capital(entry)}`).join(', ')}, kNumbers };
}  // namespace ${snake(name)}
`;

const header = `// ${origin} Positions in the arrays that cross to and from TypeScript.
#pragma once

#include <cstddef>

namespace lorekeep::binding::layout {

// Number of enumerators.
${Object.entries(enumerations).map(cppCount).join('')}
${Object.entries(layouts).map(cppLayout).join('\n')}
}  // namespace lorekeep::binding::layout
`;

const headers = [...new Set(Object.values(enumerations).map(({ header }) => header))].sort();

const checks = `// ${origin} Compares the enumerators with their numbers in lib/boundary/layout.gen.ts.
#include <cstddef>
#include <initializer_list>

${headers.map((header) => `#include "${header}"\n`).join('')}
namespace lorekeep::binding {
namespace {

/// Returns whether the enumerators have the numbers 0, 1, 2 and so on.
template <class Enumerator>
consteval bool are_numbered(std::initializer_list<Enumerator> enumerators) {
  std::size_t next = 0;
  for (const Enumerator enumerator : enumerators) {
    if (static_cast<std::size_t>(enumerator) != next++) return false;
  }
  return true;
}

}  // namespace

${Object.entries(enumerations).map(cppCheck).join('')}
}  // namespace lorekeep::binding
`;

const tsLayout = ([name, { comment, names }]) =>
  `${wrapped(comment, '// ')}export const ${small(name)} = {
${[...names.map((entry, position) => `  ${entry}: ${position},`), `  numbers: ${names.length},`].join('\n')}
} as const;
`;

const tsEnumeration = ([name, { comment, names }]) =>
  `${wrapped(comment, '// ')}export const ${name} = [${names.map((entry) => `'${entry}'`).join(', ')}] as const;
`;

const module = `// ${origin} Positions in the arrays that cross to and from C++.

${[...Object.entries(enumerations).map(tsEnumeration), ...Object.entries(layouts).map(tsLayout)].join('\n')}`;

const readers = `// ${origin} Reads the options of lib/ from their numbers.
#pragma once

#include <span>

#include "binding/option_numbers.h"
#include "lm/sampling/sampling.h"
#include "store/search.h"

namespace lorekeep::binding {

${reader(definitions, { options: numberedOptions, struct: 'store::SearchRequest' })}
${reader(definitions, { options: samplingOptions, struct: 'lm::SamplingOptions', outer: ['sampling'] })}
}  // namespace lorekeep::binding
`;

const types = `// ${origin} The types of options and their numbers, from their definitions in lib/.
import { samplingOptions } from '../generation/sampling-options.js';
import { numberedOptions } from '../search/options.js';
import { optionNumber } from './option-numbers.js';

${optionTypes(definitions, [
  {
    options: rankingOptions,
    name: 'RankingOptions',
    fields: 'RankingFields',
    comment: 'How records are ranked.',
  },
  {
    options: resultOptions,
    name: 'ResultOptions',
    fields: 'ResultFields',
    comment: 'How the hits are chosen from the ranking.',
  },
  {
    options: calibrationOptions,
    name: 'Calibration',
    comment: 'Corrects relevance: log odds = offset + slope * estimated log odds.',
  },
  { options: samplingOptions, name: 'Sampling', fields: 'SamplingFields', comment: 'How tokens are chosen.' },
])}
${writer(definitions, {
  options: numberedOptions,
  name: 'searchNumbers',
  from: 'numberedOptions',
  type: 'RankingOptions & { calibration?: Calibration | undefined }',
})}
${writer(definitions, {
  options: samplingOptions,
  name: 'samplingNumbers',
  from: 'samplingOptions',
  type: 'Sampling',
  outer: ['sampling'],
})}`;

const files = [
  [join(root, 'native', 'binding', 'layout.gen.h'), header],
  [join(root, 'native', 'binding', 'layout.gen.cc'), checks],
  [join(root, 'native', 'binding', 'options.gen.h'), readers],
  [join(root, 'lib', 'boundary', 'layout.gen.ts'), module],
  [join(root, 'lib', 'boundary', 'options.gen.ts'), types],
];
for (const [file, content] of files) {
  if (!process.argv.includes('--check')) {
    writeFileSync(file, content);
  } else if (readFileSync(file, 'utf8') !== content) {
    console.error(`${file} is not what its table says; run node scripts/generate-layouts.mjs`);
    process.exitCode = 1;
  }
}
