import { choice, integer, number, type Options, object } from '../boundary/option.js';

const native = true;
const config = true;
const withDense = ['dense', 'hybrid'] as const;
const hybrid = ['hybrid'] as const;

/** Depth of a leg, in both fusions. */
const candidates = integer([1, 10_000], 'Depth of each leg, never less than `top_k`.', {
  otherwise: 'max(50, 4 `top_k`)',
  native: 'rrf.candidates',
});

const rrf = {
  k: number([0, 1e6], 'The k of weight / (k + rank).', { usual: 60, native: 'rrf.k' }),
  weights: object(
    {
      dense: number([0, 1000], 'Weight of the dense leg.', { usual: 1, native: 'rrf.dense_weight' }),
      lexical: number([0, 1000], 'Weight of the lexical leg.', { usual: 1, native: 'rrf.lexical_weight' }),
    },
    'Weights of the two legs.',
    {},
  ),
  candidates,
};

const scores = {
  weight: number([0, 1], 'Share of the dense leg.', {
    usual: 0.6,
    otherwise: "the model's, which follows each query",
    native: 'dense_weight',
  }),
  adapt: {
    kind: 'boolean',
    text: 'Whether the weight follows each query.',
    otherwise: 'true without `weight`',
    internal: true,
    native: 'adapt_weight',
  },
  candidates,
} as const;

const words = { most: 10_000, longest: 256 } as const;

/** How the lexical leg reads the text. */
export const lexicalOptions = {
  querySyntax: choice(
    ['words', 'extended'],
    'extended: "phrases", prefixes (word*), +required and -excluded words count.',
    { usual: 'words' },
  ),
  fuzziness: integer([0, 1], '1: rare words also match words that differ by one edit.', { usual: 0 }),
  boosts: {
    kind: 'factors',
    text: 'String fields whose words count too, with the factor of their BM25 score.',
    min: 0,
    above: true,
    max: 1000,
    most: 16,
  },
  stopwords: {
    kind: 'words',
    text: 'Words of queries that are ignored, besides those of the tokenizer.',
    ...words,
  },
  synonyms: { kind: 'groups', text: 'Groups of words that count as one.', ...words },
} as const satisfies Options;

/** Corrects relevance for judges whose judgments are known: log odds = offset + slope * estimated log odds. */
export const calibrationOptions = {
  offset: number(
    [-20, 20],
    'Added to the log odds. Above 0: records are relevant more often than estimated.',
    { usual: 0, native: 'calibration.offset' },
  ),
  slope: number([0.01, 10], 'Factor of the log odds, before the offset is added.', {
    usual: 1,
    native: 'calibration.slope',
  }),
};

const minByLeg = {
  dense: number([0, 1], 'Least relevance by the vectors.', { native: 'min_dense' }),
  lexical: number([0, 1], 'Least relevance by the words.', { native: 'min_lexical' }),
};

/** How records are ranked. */
export const rankingOptions = {
  mode: choice(['dense', 'lexical', 'hybrid'], 'Search by meaning, by words, or by both.', {
    usual: 'dense',
    best: 'hybrid',
    flag: '<mode>',
    config,
    native,
  }),
  topK: integer([1, 1000], 'Maximum number of hits.', { usual: 5, flag: '<n>', config, native }),
  threshold: number(
    [0, 2],
    'Largest cosine distance of the dense leg. Hits of the lexical leg are kept. Refused in lexical mode.',
    { modes: withDense, flag: '<d>', config, native },
  ),
  ef: integer([1, 100_000], 'Candidates held during a graph search: more find more and take longer.', {
    otherwise: '96, or twice `top_k` where that is more',
    modes: withDense,
    field: 'ef_search',
    internal: true,
    config,
    native,
  }),
  fusion: choice(
    ['rrf', 'scores'],
    'Fusion of the legs in hybrid mode: by ranks, or by normalised scores (docs/concepts/search.md). Refused in other modes, as are `rrf` and `scores`.',
    { usual: 'rrf', best: 'scores', modes: hybrid, flag: '<fusion>', config, native },
  ),
  rrf: object(
    rrf,
    'Rank fusion in hybrid mode: score = sum over the legs of weight / (k + rank), ranks from 1.',
    { modes: hybrid, config, type: 'FusionOptions' },
  ),
  scores: object(
    scores,
    'Fusion by scores in hybrid mode: score = weight * dense score + (1 - weight) * lexical score.',
    { modes: hybrid, config, type: 'ScoreFusionOptions' },
  ),
  feedback: number(
    [0, 2],
    'Weight of the embeddings of the best two hits: the query moves towards them, and the candidates are ranked again. 0: no feedback (docs/concepts/search.md).',
    { otherwise: '0', best: 0.3, alone: 0.3, modes: hybrid, flag: '[w]', config, native },
  ),
  minScore: number([0, 1], 'Minimum relevance of the hits; the others are dropped.', {
    flag: '<r>',
    config,
    native,
  }),
  minBest: number(
    [0, 1],
    'Minimum relevance of the best hit: if it has less, nothing relevant was found, and there are no hits.',
    { flag: '<r>', config, native },
  ),
  minByLeg: object(
    minByLeg,
    'Least relevance in hybrid mode by each leg as if it searched alone: if no hit reaches either, nothing relevant was found, and there are no hits. With a filter, the odds fall with the .3rd power of the share of records that match. A search with a `min_best` of its own takes none of the defaults.',
    { modes: hybrid, config, type: 'LegMinimum' },
  ),
  lexical: object(
    lexicalOptions,
    'How the lexical leg reads the text: docs/concepts/lexical-search.md. Refused in dense mode.',
    { modes: ['lexical', 'hybrid'], config, type: 'LexicalOptions' },
  ),
};

const recency = {
  field: {
    kind: 'text',
    text: 'Field with the time of a record: an int field with a format.',
    usual: 'time',
  },
  halfLifeS: number([1, 1e10], 'Seconds in which the recency of a record halves.', { usual: 604_800 }),
  weight: number([0, 1], 'Share of the score that depends on it.', { usual: 0.2 }),
} as const satisfies Options;

const importance = {
  field: { kind: 'text', text: 'Field with the importance of a record, 0 to 1.', usual: 'importance' },
  weight: number([0, 1], 'Share of the score that depends on it.', { usual: 0.2 }),
} as const satisfies Options;

/** How the hits are chosen from the ranking. */
export const resultOptions = {
  offset: integer([0, 1000], 'Hits to skip; `offset` plus `top_k` is at most 1000.', {
    usual: 0,
    flag: '<n>',
  }),
  groupBy: {
    kind: 'text',
    text: 'Metadata field; each of its values gets at most `group_size` hits: docs/concepts/search.md.',
    flag: '<field>',
  },
  groupSize: integer([1, 1000], 'Hits per value of `group_by`.', { usual: 1 }),
  dropDuplicates: number(
    [0, 2],
    'Drops each hit whose embedding is at most this cosine distance from that of a better one; 0.05 suits most models.',
    { otherwise: 'none is dropped', flag: '[d]', alone: 0.05 },
  ),
  context: integer([0, 10], 'Adds this many records before and after each hit.', { usual: 0, flag: '<n>' }),
  contextField: {
    kind: 'text',
    text: 'Field whose value the records around a hit share with it.',
    otherwise: '`path` if there is such a field',
  },
  recency: object(recency, 'Newer records score higher: docs/concepts/search.md. `{}` takes its defaults.', {
    type: 'RecencyOptions',
  }),
  importance: object(
    importance,
    'More important records score higher: docs/concepts/search.md. `{}` takes its defaults.',
    { type: 'ImportanceOptions' },
  ),
} as const satisfies Options;

/** Every option of a search: the one place of its names, range, default, flag and text. */
export const searchOptions = { ...rankingOptions, ...resultOptions };

/** The options that a storage gets as numbers. */
export const numberedOptions = {
  ...rankingOptions,
  calibration: object(calibrationOptions, 'Corrects relevance.', { type: 'Calibration' }),
};
