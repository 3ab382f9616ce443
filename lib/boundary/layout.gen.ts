// Written by scripts/generate-layouts.mjs. Positions in the arrays that cross to and from C++.

// Search modes by number.
export const searchModes = ['dense', 'lexical', 'hybrid'] as const;

// Filters of a measurement of recall by number.
export const triedFilters = ['none', 'random', 'near', 'far'] as const;

// Fusions of a hybrid search by number.
export const fusionMethods = ['rrf', 'scores'] as const;

// Search paths by number.
export const searchPaths = ['exact', 'graph', 'cells'] as const;

// Placements of a model by number.
export const placements = ['ram', 'vram', 'auto'] as const;

// Runtimes of a language model by number.
export const runtimes = ['auto', 'llama.cpp', 'decoder'] as const;

// Number formats of a KV cache by number.
export const kvCacheTypes = ['f16', 'q8_0'] as const;

// Roles of chat messages by number.
export const roles = ['system', 'user', 'assistant'] as const;

// Settings of a model's switch for thinking by number.
export const thinkingModes = ['default', 'on', 'off'] as const;

// Consumer classes by number.
export const consumerClasses = ['interactive_visible', 'interactive_buffered', 'background'] as const;

// Results of matching a text with a grammar by number.
export const grammarMatches = ['refused', 'beginning', 'conforms'] as const;

// The head of a storage search result: ns that the search held this thread, hits, then the plan.
// scoreWeight is NaN unless the legs were fused by scores, feedback without feedback, floor without
// a dense query or hits; the times are in ms. Of each hit a StorageHit follows, and one number per
// field.
export const storageResult = {
  held: 0,
  hits: 1,
  dense: 2,
  path: 3,
  matched: 4,
  visited: 5,
  exact: 6,
  lexical: 7,
  tokens: 8,
  terms: 9,
  scored: 10,
  scoreWeight: 11,
  feedback: 12,
  feedbackAdded: 13,
  floor: 14,
  filterMs: 15,
  denseMs: 16,
  lexicalMs: 17,
  fusionMs: 18,
  version: 19,
  numbers: 20,
} as const;

// The numbers of a hit of a storage search. NaN: absent.
export const storageHit = {
  ordinal: 0,
  score: 1,
  distance: 2,
  bm25Score: 3,
  denseRank: 4,
  lexicalRank: 5,
  denseScore: 6,
  lexicalScore: 7,
  relevance: 8,
  numbers: 9,
} as const;

// The head of a vector search result. Of each query a VectorQuery follows.
export const vectorResult = {
  held: 0,
  numbers: 1,
} as const;

// The numbers of one query: its hits, then the plan. Of each hit an IndexHit follows.
export const vectorQuery = {
  hits: 0,
  path: 1,
  matched: 2,
  visited: 3,
  exact: 4,
  numbers: 5,
} as const;

// The head of a text search result. Of each hit an IndexHit follows.
export const textResult = {
  held: 0,
  hits: 1,
  scored: 2,
  numbers: 3,
} as const;

// One measurement of recall. ef: a width that suffices if the default does not; 0: none.
export const recallCell = {
  filter: 0,
  share: 1,
  recall: 2,
  ef: 3,
  numbers: 4,
} as const;

// A hit of a vector or text index. value: distance or score.
export const indexHit = {
  ordinal: 0,
  value: 1,
  numbers: 2,
} as const;

// A part of the tree of prefixes in a KV cache; idleMs is in ms.
export const prefixPart = {
  depth: 0,
  tokens: 1,
  running: 2,
  kept: 3,
  pinned: 4,
  idleMs: 5,
  numbers: 6,
} as const;

// Number of matches of a text, which follow; begin and end of its best part, in UTF-16 code units.
export const textHighlights = {
  matches: 0,
  begin: 1,
  end: 2,
  numbers: 3,
} as const;

// A match in a text, in UTF-16 code units, and the number of the clause of the query.
export const highlight = {
  begin: 0,
  end: 1,
  clause: 2,
  numbers: 3,
} as const;
