// A storage that changes: searches per second over the share of records changed since the last merge, beside a storage
// built from the same records; the time of batches; a million tiny batches; one batch of 64 MiB.
//
//   node bench/storage/changing.mjs [--records 10000] [--dimension 128] [--queries 400] [--tiny 0] [--large]
//
// Vectors and texts are made from a seed: vectors around centres, texts of words with a Zipf distribution. Both
// storages are searched in turns in this process, and the table shows processor time. Merging is paused in between, so
// that a row shows the worst moment before a merge; the last rows follow one. Embedding is not included.
import { parseArgs } from 'node:util';
import { Storage } from '../../dist/lib/index.js';

const { values } = parseArgs({
  options: {
    records: { type: 'string', default: '10000' },
    dimension: { type: 'string', default: '128' },
    queries: { type: 'string', default: '400' },
    tiny: { type: 'string', default: '0' },
    large: { type: 'boolean', default: false },
  },
});
const count = Number(values.records);
const dimension = Number(values.dimension);
const queries = Number(values.queries);
const centres = Math.max(8, Math.round(Math.sqrt(count)));
const shares = [0, 0.01, 0.05, 0.1, 0.15];
const fields = [{ name: 'group', type: 'int', optional: true }];

let state = 42;
function random() {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return state / 2 ** 32;
}
const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
const centre = Array.from({ length: centres }, () => Float32Array.from({ length: dimension }, normal));

function fillVector(row) {
  const near = centre[Math.floor(random() * centres)];
  for (let i = 0; i < dimension; i++) row[i] = near[i] + 0.8 * normal();
}
const word = () => `w${Math.floor(20_000 ** random())}`;
const text = (words) => Array.from({ length: words }, word).join(' ');

function makeRecords(ids) {
  const vectors = new Float32Array(ids.length * dimension);
  const records = ids.map((id, at) => {
    fillVector(vectors.subarray(at * dimension, (at + 1) * dimension));
    return { id, text: text(30), metadata: { group: Math.floor(random() * 10) } };
  });
  return { records, vectors };
}

const cpu = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

async function measured(work) {
  const started = performance.now();
  const before = cpu();
  await work();
  return { cpu: cpu() - before, elapsed: performance.now() - started };
}

const asked = Array.from({ length: queries }, () => {
  const vector = new Float32Array(dimension);
  fillVector(vector);
  return { vector, text: text(3) };
});
const filter = { '<': [{ knowledge: 'group' }, 3] };
const kinds = {
  dense: { mode: 'dense' },
  lexical: { mode: 'lexical' },
  hybrid: { mode: 'hybrid' },
  'dense, filtered': { mode: 'dense', filter },
  'hybrid, filtered': { mode: 'hybrid', filter },
};

const operands = ({ vector, text: words }, mode) => ({
  ...(mode !== 'lexical' && { vector }),
  ...(mode !== 'dense' && { text: words }),
});

/** Processor time of the queries per storage, in turns. */
async function searchTimes(storages, options) {
  const times = storages.map(() => 0);
  for (let round = 0; round < 4; round++) {
    for (const [index, storage] of storages.entries()) {
      const { cpu: taken } = await measured(async () => {
        for (const query of asked)
          await storage.search({ ...operands(query, options.mode), ...options, topK: 10 });
      });
      if (round > 0) times[index] += taken;
    }
  }
  return times;
}

async function recallOf(storage) {
  let found = 0;
  for (const { vector } of asked.slice(0, 100)) {
    const near = await storage.search({ mode: 'dense', vector, topK: 10 });
    const truth = await storage.search({ mode: 'dense', vector, topK: 10, exact: true });
    const ids = new Set(near.hits.map(({ id }) => id));
    found += truth.hits.filter(({ id }) => ids.has(id)).length;
  }
  return found / 1000;
}

async function freshOf(live) {
  const all = [];
  for (let offset = 0; offset < live.size; offset += 10_000)
    all.push(...(await live.list({ offset, limit: 10_000 })));
  const vectors = new Float32Array(all.length * dimension);
  for (const [at, { id }] of all.entries()) vectors.set(await live.embedding(id), at * dimension);
  return Storage.build(all, vectors, dimension, { fields });
}

async function compare(live, label) {
  const fresh = await freshOf(live);
  const row = [label.padEnd(14)];
  for (const [name, options] of Object.entries(kinds)) {
    const [changed, built] = await searchTimes([live, fresh], options);
    row.push(`${name} ${(built / changed).toFixed(2)}`);
  }
  row.push(`recall ${(await recallOf(live)).toFixed(3)} (built ${(await recallOf(fresh)).toFixed(3)})`);
  row.push(`parts ${live.merging.parts}`);
  console.log(row.join('  '));
  await fresh.close();
}

async function curves() {
  console.log(
    `${count} records x ${dimension}: searches per second, of those of a built storage, by changed share`,
  );
  const first = makeRecords(Array.from({ length: count }, (_, i) => `r${i}`));
  const live = await Storage.build(first.records, first.vectors, dimension, { fields });
  await live.pauseMerging();
  let changed = 0;
  for (const share of shares) {
    const until = Math.round(share * count);
    while (changed < until) {
      const size = Math.min(500, until - changed);
      // Records all over the storage.
      const ids = Array.from({ length: size }, (_, i) => `r${((changed + i) * 7919) % count}`);
      const { records, vectors } = makeRecords(ids);
      await live.update({ replace: records }, vectors);
      changed += size;
    }
    await compare(live, `${(100 * share).toFixed(0)} % replaced`);
  }
  const batch = makeRecords(Array.from({ length: 1000 }, (_, i) => `new${i}`));
  const added = await measured(() => live.update({ add: batch.records }, batch.vectors));
  const removed = await measured(() => live.update({ remove: batch.records.map(({ id }) => id) }));
  const show = ({ cpu: taken, elapsed }) => `${taken.toFixed(0)} ms of processor, ${elapsed.toFixed(0)} ms`;
  console.log(`1,000 records added: ${show(added)}; removed: ${show(removed)}`);
  const merged = await measured(() => live.merge());
  const built = await measured(async () => (await freshOf(live)).close());
  console.log(`a merge of everything: ${show(merged)}; a fresh build: ${show(built)}`);
  await compare(live, 'merged');
  await live.close();
}

async function tinyBatches(batches) {
  const live = await Storage.empty(8);
  const vector = new Float32Array(8).fill(1);
  const tenth = Math.ceil(batches / 10);
  for (let begin = 0; begin < batches; begin += tenth) {
    const { cpu: taken } = await measured(async () => {
      for (let i = begin; i < Math.min(batches, begin + tenth); i++)
        await live.update({ add: [{ id: `t${i}`, text: `tiny w${i % 1000}` }] }, vector);
    });
    const { parts } = live.merging;
    console.log(
      `${live.size} tiny batches: ${((1000 * taken) / tenth).toFixed(0)} us of processor each, ${parts} parts`,
    );
  }
  await live.close();
}

async function largeBatch() {
  const live = await Storage.empty(dimension, { fields });
  const records = makeRecords(Array.from({ length: 20_000 }, (_, i) => `l${i}`));
  const long = text(700);
  const large = records.records.map((record) => ({ ...record, text: long }));
  const bytes = large.length * long.length;
  const { cpu: taken } = await measured(() => live.update({ add: large }, records.vectors));
  console.log(`a batch of ${(bytes / 2 ** 20).toFixed(0)} MiB: ${(taken / 1000).toFixed(1)} s of processor`);
  await live.close();
}

if (Number(values.tiny) > 0) await tinyBatches(Number(values.tiny));
else if (values.large) await largeBatch();
else await curves();
