// Writes native/binding/layout.gen.h and lib/layout.gen.ts: where each number lies in the arrays that cross between C++
// and TypeScript. Change the table below, then run
//
//   node scripts/generate-layouts.mjs           writes the files
//   node scripts/generate-layouts.mjs --check   exit status 1 when a file differs from what would be written
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './tool/project.mjs';

/** Names whose positions are the values. */
const enumerations = {
  SearchMode: { comment: 'Search modes by number.', names: ['dense', 'lexical', 'hybrid'] },
  TriedFilter: {
    comment: 'Filters of a measurement of recall by number.',
    names: ['none', 'random', 'near', 'far'],
  },
  FusionMethod: { comment: 'Fusions of a hybrid search by number.', names: ['rrf', 'scores'] },
  SearchPath: { comment: 'Search paths by number.', names: ['exact', 'graph', 'cells'] },
};

/** Names in the order in which their numbers lie one after another. */
const layouts = {
  StorageRequest: {
    comment:
      'The numbers of a storage search. threshold and minScore are NaN for none; ef and candidates are 0 for the default. scoreWeight and adapt (0 or 1) are of the fusion by scores.',
    names: [
      'mode',
      'topK',
      'ef',
      'threshold',
      'rrfK',
      'denseWeight',
      'lexicalWeight',
      'candidates',
      'fusion',
      'scoreWeight',
      'adapt',
      'minScore',
    ],
  },
  StorageResult: {
    comment:
      'The head of a storage search result: ns that the search held this thread, hits, then the plan. scoreWeight is NaN unless the legs were fused by scores; the times are in ms. Of each hit a StorageHit follows, and one number per field.',
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
      'filterMs',
      'denseMs',
      'lexicalMs',
      'fusionMs',
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
    names: ['filter', 'share', 'recall', 'enough', 'ef'],
  },
  IndexHit: {
    comment: 'A hit of a vector or text index. value: distance or score.',
    names: ['ordinal', 'value'],
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

const cppEnum = ([name, { comment, names }]) =>
  `${wrapped(comment, '/// ')}namespace ${snake(name)} {
enum : std::size_t { ${names.map((entry) => `k${capital(entry)}`).join(', ')}, kNumbers };
}  // namespace ${snake(name)}
`;

const header = `// ${origin} Positions in the arrays that cross to and from TypeScript.
#pragma once

#include <cstddef>

namespace lorekeep::binding::layout {

${Object.entries({ ...enumerations, ...layouts })
  .map(cppEnum)
  .join('\n')}
}  // namespace lorekeep::binding::layout
`;

const tsLayout = ([name, { comment, names }]) =>
  `${wrapped(comment, '// ')}export const ${small(name)} = {
${[...names.map((entry, position) => `  ${entry}: ${position},`), `  numbers: ${names.length},`].join('\n')}
} as const;
`;

const tsEnumeration = ([name, { comment, names }]) =>
  `${wrapped(comment, '// ')}export const ${small(name)}s = [${names.map((entry) => `'${entry}'`).join(', ')}] as const;
`;

const module = `// ${origin} Positions in the arrays that cross to and from C++.

${[...Object.entries(enumerations).map(tsEnumeration), ...Object.entries(layouts).map(tsLayout)].join('\n')}`;

const files = [
  [join(root, 'native', 'binding', 'layout.gen.h'), header],
  [join(root, 'lib', 'layout.gen.ts'), module],
];
for (const [file, content] of files) {
  if (!process.argv.includes('--check')) {
    writeFileSync(file, content);
  } else if (readFileSync(file, 'utf8') !== content) {
    console.error(`${file} is not what its table says; run node scripts/generate-layouts.mjs`);
    process.exitCode = 1;
  }
}
