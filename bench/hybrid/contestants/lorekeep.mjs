import { contestantOptions, serve } from '../../harness/contestant.mjs';
import { timeModes } from '../../harness/modes.mjs';
import { readTexts } from '../../harness/texts.mjs';
import { Storage } from '../../lorekeep.mjs';
import { baseRows, queryRows } from '../../vector/sets.mjs';

const { set, topK } = contestantOptions();
const vectors = queryRows(set);
const { texts, queries } = await readTexts(set.rows, set.queries);
let storage;

serve({
  async build() {
    const records = texts.map((text, i) => ({ id: String(i), text }));
    const begin = performance.now();
    storage = await Storage.build(records, baseRows(set), set.dimension);
    return (performance.now() - begin) / 1000;
  },
  ask: () =>
    timeModes(set.queries, (mode, i) => {
      const own = vectors.subarray(i * set.dimension, (i + 1) * set.dimension);
      const vector = mode === 'lexical' ? undefined : own;
      return storage.search({ mode, topK, vector, text: queries[i] });
    }),
});
