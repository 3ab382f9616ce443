// Hand-made pairs of what a user types and the sentence that answers it, for morphology, synonyms and typing errors.
// Each query is searched among the sentences of all pairs.
import { readFileSync } from 'node:fs';

const file = new URL('../../test/helpers/pairs.jsonl', import.meta.url);

/** [{kind, query, text}] */
export function readPairs() {
  return readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

/** Per kind: how many pairs, share found first, share among the first five, mean reciprocal rank. */
export async function measurePairs(model, { query_prefix = '', document_prefix = '' } = {}) {
  const pairs = readPairs();
  const queries = await model.embed(pairs.map(({ query }) => query_prefix + query));
  const texts = await model.embed(pairs.map(({ text }) => document_prefix + text));
  const width = model.dimension;
  const ranks = pairs.map((_, i) => {
    const score = (j) => dot(queries, i * width, texts, j * width, width);
    const own = score(i);
    return 1 + pairs.filter((_, j) => j !== i && score(j) >= own).length;
  });
  return [...new Set(pairs.map(({ kind }) => kind))].map((kind) => {
    const own = ranks.filter((_, i) => pairs[i].kind === kind);
    const share = (test) => own.filter(test).length / own.length;
    return {
      kind,
      count: own.length,
      first: share((rank) => rank === 1),
      five: share((rank) => rank <= 5),
      reciprocal: own.reduce((sum, rank) => sum + 1 / rank, 0) / own.length,
    };
  });
}

function dot(a, from, b, at, width) {
  let sum = 0;
  for (let i = 0; i < width; i++) sum += a[from + i] * b[at + i];
  return sum;
}
