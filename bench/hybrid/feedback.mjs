// The time of a hybrid search with feedback as a multiple of the same search without it: the same queries, interleaved query by query,
// one caller from JavaScript, fusion by scores. Texts and queries as in harness/texts.mjs; vectors are generated ("latent" of
// vector/sets.mjs). The ratio is the median over all queries and rounds of the two times of one query.
//
//   node bench/hybrid/feedback.mjs [--rows N[,N...]] [--dimension N] [--seed N] [--queries N] [--top-k N] [--rounds N]
import { OptionError } from '../harness/command-line.mjs';
import { median } from '../harness/numbers.mjs';
import { readTexts, textSource } from '../harness/texts.mjs';
import { runTrial } from '../harness/trial.mjs';
import { Storage } from '../lorekeep.mjs';
import { baseRows, describeSet, queryRows, vectorSet } from '../vector/sets.mjs';

const defaults = {
  rows: '3000,20000,100000',
  dimension: 384,
  queries: 500,
  seed: 7,
  'top-k': '10,100',
  rounds: 2,
};
const feedback = 0.3;
const columns = [
  { key: 'name', label: 'rows' },
  { key: 'topK', label: 'hits' },
  { key: 'plain', label: 'hybrid p50 µs' },
  { key: 'fed', label: 'with feedback p50 µs' },
  { key: 'ratio', label: 'ratio', digits: 2 },
];

await runTrial('hybrid-feedback', defaults, async (options) => {
  const numbers = (name) => {
    const list = options[name].split(',').map(Number);
    if (list.every((value) => Number.isInteger(value) && value > 0)) return list;
    throw new OptionError(`--${name} ${options[name]}: whole numbers are expected, with commas between them`);
  };
  const rows = [];
  const sets = numbers('rows').map((size) => vectorSet('latent', { ...options, rows: size }));
  for (const set of sets) {
    const vectors = queryRows(set);
    const { texts, queries } = await readTexts(set.rows, set.queries);
    const records = texts.map((text, i) => ({ id: String(i), text }));
    const storage = await Storage.build(records, baseRows(set), set.dimension);
    for (const topK of numbers('top-k')) {
      const search = (i, more) => {
        const vector = vectors.subarray(i * set.dimension, (i + 1) * set.dimension);
        return storage.search({ mode: 'hybrid', topK, vector, text: queries[i], ...more });
      };
      rows.push({ name: set.rows, topK, ...(await timed(search, set.queries, options.rounds)) });
    }
    await storage.close();
  }
  const data = `${describeSet({ ...sets.at(-1), rows: options.rows })}; ${textSource()}`;
  return {
    data,
    tables: [{ id: 'hybrid-feedback', title: `Hybrid search with feedback ${feedback}`, columns, rows }],
  };
});

/** The first round warms up. */
async function timed(search, queries, rounds) {
  const times = { plain: [], fed: [] };
  for (let round = 0; round <= rounds; round++) {
    for (let i = 0; i < queries; i++) {
      const order = i % 2 === 0 ? ['plain', 'fed'] : ['fed', 'plain'];
      for (const name of order) {
        const begin = performance.now();
        await search(i, name === 'fed' ? { feedback } : {});
        const micros = (performance.now() - begin) * 1000;
        if (round > 0) times[name].push(micros);
      }
    }
  }
  const ratio = median(times.fed.map((micros, i) => micros / times.plain[i]));
  return { plain: median(times.plain), fed: median(times.fed), ratio };
}
