// The cost of the monitor to a loaded server, alone and with a page that watches it. Four equal servers run in one process: two without
// a monitor, one with it, one with it and a page. They are loaded one after another for a tenth of a second or so, so that
// whatever else the machine does meets all of them alike. Starts of the process differ by up to 3 %, which a start's servers share.
//
//   node bench/server/monitor.mjs [--starts 2] [--rounds 240] [--turns 80] [--pageRounds 110] [--pageTurns 128] [--clients 16] [--records 2000] [--seed 1]
//
// Each round asks three servers the same questions (hybrid turns), in changing order of servers, over `clients` connections in a closed
// loop: both without a monitor, and in `rounds` the one without a page, in `pageRounds` the one with it. The page opens before the
// latter. They take a tenth of a second, as often as a monitor sends turns, and wait until the page has been sent theirs. A cost of a
// round is the processor time of the process per turn, that of its event loop, or the time per turn, divided by the mean of both
// servers without a monitor, less 1. Young garbage is collected after each load, in the time of the server that made it. The table has
// the means of the middle half of the rounds with the 95 % intervals of 1,000 resamples. Short rounds make the interval narrow: for
// the same time, that of 80 turns is half as wide as that of 240. Memory is sampled once a second, during whichever load. What a
// monitor adds to the process and not to a turn, a clock of the event loop's delay and a watch on collections, is in all four: about
// 0.1 %.

import { root } from '../harness/cache.mjs';
import { Random } from '../harness/numbers.mjs';
import { runTrial } from '../harness/trial.mjs';
import { knowledgeBase } from './knowledge-base.mjs';
import { LoadedServers } from './monitor/loaded-servers.mjs';

const defaults = {
  ...{ starts: 2, rounds: 240, turns: 80, pageRounds: 110, pageTurns: 128 },
  ...{ clients: 16, records: 2000, seed: 1 },
};
/** The most that the monitor may cost. */
const limit = 0.03;
const resamples = 1000;
/** Loads of each server that warm it up, and their turns. */
const warming = { rounds: 6, turns: 720 };

const monitor = { enabled: true, port: 0, memory_tick_interval_ms: 1000 };
const without = ['plain', 'equal'];
const names = [...without, 'alone', 'watched'];

await runTrial('monitor', defaults, async (options) => {
  const { folder, questions } = await knowledgeBase(options.records);
  const random = new Random(options.seed);
  const draw = (count) => Array.from({ length: count }, () => questions[random.integer(questions.length)]);
  const common = { port: 0, storage_root: folder, models_catalog_path: `${root}/data/models.json` };
  const configs = {
    plain: common,
    equal: common,
    alone: { ...common, monitor },
    watched: { ...common, monitor },
  };
  const rounds = [];
  const pageRounds = [];
  let bytes = 0;
  for (let start = 0; start < options.starts; start++) {
    const servers = await LoadedServers.start(configs, options.clients);
    for (let round = 0; round < warming.rounds; round++)
      for (const name of names) await servers.load(name, draw(warming.turns));
    for (let round = 0; round < options.rounds; round++)
      rounds.push(await loadedInTurns(servers, [...without, 'alone'], round, draw(options.turns)));
    await servers.watch('watched');
    for (let round = 0; round < options.pageRounds; round++)
      pageRounds.push(await loadedInTurns(servers, [...without, 'watched'], round, draw(options.pageTurns)));
    bytes += servers.bytes('watched');
    servers.stop();
    const latest = rounds.slice(-options.rounds);
    const shown = [...without, 'alone'].map((name) => `${name} ${perTurn(latest, [name]).toFixed(0)} µs`);
    console.log(`start ${start + 1} of ${options.starts}: ${shown.join(', ')}`);
  }
  return report(options, { rounds, pageRounds }, bytes, random);
});

async function loadedInTurns(servers, names, round, questions) {
  const order = names.map((_, place) => names[(place + round) % names.length]);
  if (round % 2 === 1) order.reverse();
  const loads = {};
  for (const name of order) loads[name] = await servers.load(name, questions);
  return loads;
}

function sum(rounds, of, key) {
  return rounds.reduce((total, round) => total + of.reduce((part, name) => part + round[name][key], 0), 0);
}

/** Processor time per turn in µs. */
function perTurn(rounds, of) {
  return sum(rounds, of, 'processorUs') / sum(rounds, of, 'turns');
}

/** Turns a second. */
function rate(rounds, of) {
  return (1000 * sum(rounds, of, 'turns')) / sum(rounds, of, 'ms');
}

/** Returns the mean of the middle half: outliers do not move it, and it varies less than the median. */
function middleMean(numbers) {
  const quarter = Math.floor(numbers.length / 4);
  const middle = numbers.toSorted((a, b) => a - b).slice(quarter, numbers.length - quarter);
  return middle.reduce((sum, one) => sum + one, 0) / middle.length;
}

/** The middle mean of the rounds' numbers, and its 95 % interval. */
function interval(rounds, random, numberOf) {
  const numbers = rounds.map(numberOf);
  const means = Array.from({ length: resamples }, () =>
    middleMean(numbers.map(() => numbers[random.integer(numbers.length)])),
  ).sort((a, b) => a - b);
  return { value: middleMean(numbers), low: means[0.025 * resamples], high: means[0.975 * resamples - 1] };
}

/** What one server costs more than others in a round. `key`: its cost of all turns. */
function moreThan(name, base, key) {
  return (round) => {
    const perTurn = (one) => round[one][key] / round[one].turns;
    return (perTurn(name) * base.length) / base.reduce((sum, one) => sum + perTurn(one), 0) - 1;
  };
}

function percent(share) {
  return `${(100 * share).toFixed(1)} %`;
}

function shown({ value, low, high }) {
  return `${percent(value)} (95 %: ${percent(low)} to ${percent(high)})`;
}

function report(options, { rounds, pageRounds }, bytes, random) {
  const { clients, records, starts, turns, pageTurns } = options;
  const cost = (name, base, key) =>
    interval(name === 'watched' ? pageRounds : rounds, random, moreThan(name, base, key));
  const costs = {
    alone: cost('alone', without, 'processorUs'),
    watched: cost('watched', without, 'processorUs'),
    'alone, on the event loop': cost('alone', without, 'loopUs'),
    'watched, on the event loop': cost('watched', without, 'loopUs'),
    'alone, in time': cost('alone', without, 'ms'),
    'watched, in time': cost('watched', without, 'ms'),
  };
  const row = (name, value) => ({ name, value });
  const table = {
    id: 'monitor',
    title: 'Cost of the monitor',
    columns: [
      { key: 'name', label: '' },
      { key: 'value', label: '' },
    ],
    rows: [
      row('processor time per turn without, µs', perTurn(rounds, without).toFixed(0)),
      row('cost of the monitor in processor time', shown(costs.alone)),
      row('cost with a page', shown(costs.watched)),
      row('difference of two equal servers', shown(cost('equal', ['plain'], 'processorUs'))),
      row('cost of the monitor on the event loop', shown(costs['alone, on the event loop'])),
      row('cost with a page on the event loop', shown(costs['watched, on the event loop'])),
      row('turns a second without', rate(rounds, without).toFixed(0)),
      row('cost of the monitor in time per turn', shown(costs['alone, in time'])),
      row('cost with a page in time per turn', shown(costs['watched, in time'])),
      row('KiB that the pages got', (bytes / 1024).toFixed(0)),
    ],
  };
  const data = `${clients} clients in a closed loop of hybrid turns over ${records} records; ${starts} starts of a process with four servers, ${rounds.length} rounds of ${turns} turns, ${pageRounds.length} of ${pageTurns} with a page`;
  // Only a cost that is certainly above the limit fails: a busy machine widens the interval.
  const failed = Object.entries(costs)
    .filter(([, { low }]) => low > limit)
    .map(([name, { value }]) => ({ name, reason: `${percent(value)} is above ${percent(limit)}` }));
  return { data, tables: [table], failed, detail: { rounds, pageRounds } };
}
