// What the monitor costs a loaded server: one with the monitor on and a page that watches it, against two without. All three start
// anew several times, because two starts of the same server differ by up to 3 % in processor time.
//
//   node bench/server/monitor.mjs [--starts 10] [--rounds 6] [--seconds 1] [--clients 16] [--records 2000] [--seed 1]
//
// Each round loads the servers one after another, in changing order, with as many requests as `clients` connections get answered
// (a closed loop of hybrid turns). A start gives one cost: processor time of the server per turn with the monitor, divided by the
// mean of the two without, less 1; and one difference of the two equal servers. Intervals are those of the mean over the starts, by
// Student's t. Turns a second are compared in the same way; other programs on the machine disturb them more.

import { median, Random } from '../harness/numbers.mjs';
import { runTrial } from '../harness/trial.mjs';
import { knowledgeBase } from './knowledge-base.mjs';
import { Contender } from './monitor/contender.mjs';

const defaults = { starts: 10, rounds: 6, seconds: 1, clients: 16, records: 2000, seed: 1 };
/** The most that the monitor may cost. */
const limit = 0.03;

/** Student's t for 95 %, by degrees of freedom from 1. */
const students = [12.7, 4.3, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.2, 2.18, 2.16, 2.14, 2.13];

const monitor = { enabled: true, port: 0, memory_tick_interval_ms: 1000 };

await runTrial('monitor', defaults, async (options) => {
  const { folder, questions } = await knowledgeBase(options.records);
  const random = new Random(options.seed);
  const ask = () => questions[random.integer(questions.length)];
  const starts = [];
  let bytes = 0;
  for (let start = 0; start < options.starts; start++) {
    const plain = await Contender.start('plain', folder, {}, options.clients);
    const equal = await Contender.start('equal', folder, {}, options.clients);
    const watched = await Contender.start('watched', folder, { monitor }, options.clients);
    const page = await watched.watch();
    await loadInTurns([plain, equal, watched], start, options, ask);
    page.close();
    bytes += page.bytes;
    for (const one of [plain, equal, watched]) await one.stop();
    const measured = [plain, equal, watched].map(({ rate, processorUs }) => ({ rate, processorUs }));
    starts.push(measured);
    const shown = measured.map(
      ({ rate, processorUs }) => `${rate.toFixed(0)}/s ${processorUs.toFixed(0)} µs`,
    );
    console.log(
      `start ${start + 1} of ${options.starts}: without ${shown[0]} and ${shown[1]}, with ${shown[2]}`,
    );
  }
  return report(options, starts, bytes);
});

/** The first round warms the servers up and does not count. */
async function loadInTurns(servers, start, { rounds, seconds }, ask) {
  for (let round = 0; round <= rounds; round++)
    for (let place = 0; place < servers.length; place++) {
      const one =
        servers[(start + round + (round % 2 === 0 ? place : servers.length - place)) % servers.length];
      await one.load(seconds, ask, round > 0);
    }
}

/** The mean of values, and its 95 % interval. */
function meanOf(values) {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  if (values.length < 2) return { mean, low: Number.NEGATIVE_INFINITY, high: Number.POSITIVE_INFINITY };
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1);
  const reach = (students[values.length - 2] ?? 2) * Math.sqrt(variance / values.length);
  return { mean, low: mean - reach, high: mean + reach };
}

function percent(share) {
  return Number.isFinite(share) ? `${(100 * share).toFixed(1)} %` : 'unknown';
}

function shown({ mean, low, high }) {
  return `${percent(mean)} (95 %: ${percent(low)} to ${percent(high)})`;
}

function report({ clients, records, rounds, seconds }, starts, bytes) {
  const processor = meanOf(
    starts.map(
      ([plain, equal, watched]) => (2 * watched.processorUs) / (plain.processorUs + equal.processorUs) - 1,
    ),
  );
  const rate = meanOf(
    starts.map(([plain, equal, watched]) => 1 - (2 * watched.rate) / (plain.rate + equal.rate)),
  );
  const differences = starts.map(([plain, equal]) => equal.processorUs / plain.processorUs - 1);
  const middle = (which, key) => median(starts.map((start) => start[which][key])).toFixed(0);
  const row = (name, value) => ({ name, value });
  const table = {
    id: 'monitor',
    title: 'Cost of the monitor',
    columns: [
      { key: 'name', label: '' },
      { key: 'value', label: '' },
    ],
    rows: [
      row('processor time of the server per turn without, µs (median)', middle(0, 'processorUs')),
      row('with, µs', middle(2, 'processorUs')),
      row('cost in processor time', shown(processor)),
      row('difference of two equal servers', shown(meanOf(differences))),
      row('the largest of one start', percent(Math.max(...differences.map(Math.abs)))),
      row('turns a second without (median)', middle(0, 'rate')),
      row('with', middle(2, 'rate')),
      row('cost in turns a second', shown(rate)),
      row('KiB that the pages got', (bytes / 1024).toFixed(0)),
    ],
  };
  const data = `${clients} clients in a closed loop of hybrid turns over ${records} records; ${starts.length} starts of three servers, ${rounds} rounds of ${seconds} s each`;
  // Only a cost that is certainly above the limit fails: a busy machine widens the interval.
  const failed =
    processor.low > limit
      ? [{ name: 'cost', reason: `${percent(processor.mean)} is above ${percent(limit)}` }]
      : [];
  return { data, tables: [table], failed, detail: { starts } };
}
