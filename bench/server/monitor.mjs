// What the monitor costs: throughput of a loaded server with the monitor on, and a page connected to its event stream, against
// the same server without. Two servers run side by side and are loaded in turns, so that a busy machine slows both.
//
//   node bench/server/monitor.mjs [--rounds 90] [--seconds 1] [--clients 16] [--records 2000] [--seed 1]
//
// Each round loads first one and then the other, in alternating order, with as many requests as `clients` connections get answered
// (a closed loop of hybrid turns). Costs are medians over the rounds, with 95 % intervals: of 1 - with / without in turns a second,
// and of with / without - 1 in processor time of the server per turn, which what else runs on the machine disturbs less. Many short
// rounds give narrower intervals than few long ones.

import { median, Random } from '../harness/numbers.mjs';
import { runTrial } from '../harness/trial.mjs';
import { knowledgeBase } from './knowledge-base.mjs';
import { Contender } from './monitor/contender.mjs';

const defaults = { rounds: 90, seconds: 1, clients: 16, records: 2000, seed: 1 };
/** The most that the monitor may cost. */
const limit = 0.03;

await runTrial('monitor', defaults, async (options) => {
  const { folder, questions } = await knowledgeBase(options.records);
  const random = new Random(options.seed);
  const ask = () => questions[random.integer(questions.length)];
  const plain = await Contender.start('without the monitor', folder, {}, options.clients);
  const monitor = { enabled: true, port: 0, memory_tick_interval_ms: 1000 };
  const watched = await Contender.start('with the monitor and a page', folder, { monitor }, options.clients);
  const page = await watched.watch();
  for (const one of [plain, watched]) await one.load(options.seconds, ask);
  const rounds = [];
  for (let round = 0; round < options.rounds; round++) {
    const order = round % 2 === 0 ? [plain, watched] : [watched, plain];
    const rates = new Map();
    for (const one of order) rates.set(one, await one.load(options.seconds, ask));
    rounds.push({ without: rates.get(plain), with: rates.get(watched) });
    const [first, second] = [plain, watched].map((one) => rates.get(one).rate.toFixed(0));
    console.log(`round ${round + 1} of ${options.rounds}: ${first} and ${second} turns a second`);
  }
  page.close();
  for (const one of [plain, watched]) await one.stop();
  return report(options, rounds, page.bytes);
});

/** The median of values, and a 95 % interval of it. */
function middleOf(values) {
  const sorted = values.toSorted((a, b) => a - b);
  // Order statistics: the median lies between them with 95 %.
  const reach = Math.ceil(0.98 * Math.sqrt(sorted.length));
  const middle = Math.floor(sorted.length / 2);
  const low = sorted[Math.max(0, middle - reach)];
  const high = sorted[Math.min(sorted.length - 1, middle + reach)];
  return { middle: median(sorted), low, high };
}

function percent(share) {
  return `${(100 * share).toFixed(1)} %`;
}

function shown({ middle, low, high }) {
  return `${percent(middle)} (95 %: ${percent(low)} to ${percent(high)})`;
}

function report({ clients, records, seconds }, rounds, bytes) {
  const cost = middleOf(rounds.map((round) => 1 - round.with.rate / round.without.rate));
  const processorCost = middleOf(
    rounds.map((round) => round.with.processorUs / round.without.processorUs - 1),
  );
  const processor = (which) => median(rounds.map((round) => round[which].processorUs));
  const table = {
    id: 'monitor',
    title: 'Cost of the monitor',
    columns: [
      { key: 'name', label: '' },
      { key: 'value', label: '' },
    ],
    rows: [
      {
        name: 'turns a second without (median)',
        value: median(rounds.map((round) => round.without.rate)).toFixed(0),
      },
      { name: 'turns a second with', value: median(rounds.map((round) => round.with.rate)).toFixed(0) },
      { name: 'cost in turns a second', value: shown(cost) },
      { name: 'processor time of the server per turn without, µs', value: processor('without').toFixed(0) },
      { name: 'with, µs', value: processor('with').toFixed(0) },
      { name: 'cost in processor time', value: shown(processorCost) },
      { name: 'KiB that the page got', value: (bytes / 1024).toFixed(0) },
    ],
  };
  const data = `${clients} clients in a closed loop of hybrid turns over ${records} records; ${rounds.length} rounds of ${seconds} s in turns`;
  // Only a cost that is certainly above the limit fails: a busy machine widens the interval.
  const failed =
    cost.low > limit ? [{ name: 'cost', reason: `${percent(cost.middle)} is above ${percent(limit)}` }] : [];
  return { data, tables: [table], failed, detail: { rounds } };
}
