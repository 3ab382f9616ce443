// What batches and merges cost: a thousand records, doubling, and another client's searches during a merge.
import { Storage } from '../../../dist/lib/index.js';
import { fields, measured, merged, quantile, scattered } from './data.mjs';

const batchSize = 1000;

/** Adds and removes a thousand records; asked: under a second each. */
export async function thousand(live, made) {
  const { records, vectors } = made.make(Array.from({ length: batchSize }, (_, i) => `new${i}`));
  const added = await measured(() => live.update({ add: records }, vectors));
  const removed = await measured(() => live.update({ remove: records.map(({ id }) => id) }));
  const row = (what, { cpu, elapsed }) => ({ what, cpu, elapsed });
  return {
    title: `1,000 records of ${live.size}, in ms`,
    columns: [
      { key: 'what', label: 'batch' },
      { key: 'cpu', label: 'processor', digits: 0 },
      { key: 'elapsed', label: 'elapsed', digits: 0 },
    ],
    rows: [row('added', added), row('removed', removed)],
  };
}

/** Doubles a storage in batches, with its merges; asked: at most twice the processor time of a build of all records. */
export async function doubling(made, { count, build }) {
  const half = Math.floor(count / 2);
  const first = made.make(Array.from({ length: half }, (_, i) => `r${i}`));
  const second = [];
  for (let at = half; at < count; at += batchSize)
    second.push(made.make(Array.from({ length: Math.min(batchSize, count - at) }, (_, i) => `r${at + i}`)));
  const options = { fields, ...build };
  const live = await Storage.build(first.records, first.vectors, made.dimension, options);
  const grown = await measured(async () => {
    for (const { records, vectors } of second) {
      await live.update({ add: records }, vectors);
      // Writers are seldom faster than merges; the longest wait for one is part of the time.
      await merged(live);
    }
  });
  await live.close();
  const records = [...first.records, ...second.flatMap((batch) => batch.records)];
  const vectors = new Float32Array(count * made.dimension);
  vectors.set(first.vectors);
  for (const [at, batch] of second.entries())
    vectors.set(batch.vectors, (half + at * batchSize) * made.dimension);
  const fresh = await measured(async () =>
    (await Storage.build(records, vectors, made.dimension, options)).close(),
  );
  return {
    title: `${half} records become ${count} in batches of 1,000: processor time of batches and merges`,
    columns: [
      { key: 'grown', label: 'batches and merges, ms', digits: 0 },
      { key: 'fresh', label: 'one build of all records, ms', digits: 0 },
      { key: 'ratio', label: 'ratio', digits: 2 },
    ],
    rows: [{ grown: grown.cpu, fresh: fresh.cpu, ratio: grown.cpu / fresh.cpu }],
  };
}

/** Searches once every few milliseconds while `goesOn()`. */
async function latencies(storage, queries, goesOn) {
  const times = [];
  for (let at = 0; goesOn(times.length); at++) {
    const { vector, text } = queries[at % queries.length];
    const started = performance.now();
    await storage.search({ mode: 'hybrid', vector, text, topK: 10 });
    times.push(performance.now() - started);
    await new Promise((done) => setTimeout(done, 2));
  }
  return times;
}

/**
 * Latencies of searches with and without merges, which take turns on the same parts: a merge that is paused early leaves the
 * parts as they were. Asked: at most 5 ms more at p99. Then merges run to their end; afterwards there are fewer parts.
 */
export async function duringMerges(live, made, { rounds, queries, turns, searches }) {
  const asked = made.queries(queries);
  const count = live.size;
  const times = {
    'merging paused': [],
    'during merges': [],
    'during merges, to their end': [],
    afterwards: [],
  };
  const some = (done) => done < searches;
  const merging = () => live.merging.state !== 'idle';
  let changed = 0;
  for (let round = 0; round < rounds; round++) {
    await live.pauseMerging();
    for (const until = changed + Math.ceil(0.2 * count); changed < until; changed += batchSize) {
      const { records, vectors } = made.make(scattered(changed, batchSize, count));
      await live.update({ upsert: true, add: records }, vectors);
    }
    for (let turn = 0; turn < turns; turn++) {
      await live.pauseMerging();
      times['merging paused'].push(...(await latencies(live, asked, some)));
      live.resumeMerging();
      times['during merges'].push(...(await latencies(live, asked, (done) => some(done) && merging())));
    }
    times['during merges, to their end'].push(...(await latencies(live, asked, merging)));
    times.afterwards.push(...(await latencies(live, asked, some)));
  }
  return {
    title: `Hybrid searches of ${count} records, one every 2 ms: latency in ms`,
    columns: [
      { key: 'what', label: '' },
      { key: 'searches', label: 'searches', digits: 0 },
      { key: 'p50', label: 'p50', digits: 2 },
      { key: 'p99', label: 'p99', digits: 2 },
    ],
    rows: Object.entries(times).map(([what, each]) => ({
      what,
      searches: each.length,
      p50: quantile(each, 0.5),
      p99: quantile(each, 0.99),
    })),
  };
}

export async function tinyBatches(batches) {
  const live = await Storage.empty(8);
  const vector = new Float32Array(8).fill(1);
  const tenth = Math.ceil(batches / 10);
  const rows = [];
  for (let begin = 0; begin < batches; begin += tenth) {
    const { cpu } = await measured(async () => {
      for (let i = begin; i < Math.min(batches, begin + tenth); i++)
        await live.update({ add: [{ id: `t${i}`, text: `tiny w${i % 1000}` }] }, vector);
    });
    rows.push({ batches: live.size, each: (1000 * cpu) / tenth, parts: live.merging.parts });
  }
  await live.close();
  return {
    title: 'Batches of one record, merges included',
    columns: [
      { key: 'batches', label: 'batches', digits: 0 },
      { key: 'each', label: 'processor time of each, us', digits: 0 },
      { key: 'parts', label: 'parts', digits: 0 },
    ],
    rows,
  };
}

export async function largeBatch(made) {
  const live = await Storage.empty(made.dimension, { fields });
  const { records, vectors } = made.make(Array.from({ length: 20_000 }, (_, i) => `l${i}`));
  const long = made.text(700);
  const large = records.map((record) => ({ ...record, text: long }));
  const { cpu } = await measured(() => live.update({ add: large }, vectors));
  await live.close();
  return {
    title: 'One batch of 20,000 long records',
    columns: [
      { key: 'mib', label: 'MiB of text', digits: 0 },
      { key: 'seconds', label: 'processor time, s', digits: 1 },
    ],
    rows: [{ mib: (large.length * long.length) / 2 ** 20, seconds: cpu / 1000 }],
  };
}
