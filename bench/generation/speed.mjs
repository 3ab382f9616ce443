// Generation beside llama-server (-np 4) and node-llama-cpp: one stream, four streams, memory, cancels and shared prefixes, on the same
// files with the same threads.
//
//   node bench/generation/speed.mjs [--models SmolLM2-135M,Qwen2.5-0.5B,Llama-3.2-1B] [--prompt 512] [--reply 64] [--rounds 5]
//     [--agents 1000] [--cancels 200] [--threads 2] [--server PROGRAM] [--peers node-llama-cpp,llama-server]
//
// Prompts are random token ids, replies are greedy and of a fixed length. Contestants take turns, round by round; the ratio to a peer is the
// median over the rounds of one round's ratio, so that a neighbour who takes the processor for a while spoils a round and not the result.
import { findServer } from '../embedding/llama-server.mjs';
import { Contestants } from '../harness/contestants.mjs';
import { median, quantile } from '../harness/numbers.mjs';
import { runTrial } from '../harness/trial.mjs';
import { contestantsOf } from './contestants.mjs';
import { languageModel, modelNames, promptTokens } from './models.mjs';
import { firstTokenMs } from './timeline.mjs';

const defaults = {
  models: modelNames.join(),
  prompt: 512,
  reply: 64,
  rounds: 5,
  agents: 1000,
  persona: 500,
  cancels: 200,
  threads: 2,
  server: findServer() ?? '',
  peers: 'node-llama-cpp,llama-server',
};
const streams = 4;
const ownTokens = 20;
const megabyte = 1024 * 1024;

await runTrial('generation', defaults, async (options) => {
  const result = { tables: [], leftOut: [], failed: [] };
  const rows = { speed: [], memory: [], cancels: [], prefix: [] };
  for (const name of options.models.split(',')) {
    const model = await languageModel(name);
    if (model === undefined) {
      result.leftOut.push({ name, reason: 'its file is not in LOREKEEP_MODELS' });
      continue;
    }
    await measureModel(name, model, options, rows, result);
  }
  result.tables.push(...tables(rows));
  const { prompt, reply, rounds, threads } = options;
  const data = `prompts of ${prompt} random tokens, greedy replies of ${reply}, ${threads} threads, ${rounds} rounds in turns`;
  return { data, ...result, detail: rows };
});

async function measureModel(name, model, options, rows, result) {
  const context = streams * (options.prompt + options.reply + 64);
  const contestants = await Contestants.start(contestantsOf(model, { ...options, context }));
  const measured = new Map(contestants.names.map((who) => [who, { one: [], four: [] }]));
  const request = (seed, maxTokens = options.reply) => ({
    prompt: promptTokens(model, options.prompt, seed),
    maxTokens,
  });
  await contestants.each(
    'measure',
    () => request(1, 4),
    () => {},
  ); // warming up
  for (let round = 0; round < options.rounds; round++) {
    await contestants.each(
      'measure',
      () => request(100 + round),
      (who, times) => measured.get(who).one.push(times),
    );
    const requests = Array.from({ length: streams }, (_, i) => ({
      name: `${i}`,
      ...request(1000 + 10 * round + i),
    }));
    await contestants.each(
      'play',
      () => ({ requests }),
      (who, seen) => measured.get(who).four.push(totalSeconds(seen)),
    );
    console.log(`${name}: round ${round + 1} of ${options.rounds}`);
  }
  const memory = new Map();
  await contestants.each(
    'memory',
    () => ({}),
    (who, found) => memory.set(who, found),
  );
  for (const [who, found] of measured) {
    if (found.one.length < options.rounds || found.four.length < options.rounds) continue;
    rows.speed.push(speedRow(name, who, found, measured.get('lorekeep'), options));
    rows.memory.push(memoryRow(name, who, memory.get(who)));
  }
  contestants.end();
  for (const key of ['leftOut', 'failed']) result[key].push(...contestants[key].filter(isNew(result[key])));
  if (name !== options.models.split(',')[0]) return;
  rows.cancels.push(await cancels(model, options));
  rows.prefix.push(await sharedPrefix(model, options));
}

function isNew(known) {
  return (one) => !known.some(({ name, reason }) => name === one.name && reason === one.reason);
}

/** From the first request's start to the last reply's end. */
function totalSeconds(seen) {
  const all = Object.values(seen);
  return (Math.max(...all.map(({ endMs }) => endMs)) - Math.min(...all.map(({ startMs }) => startMs))) / 1000;
}

function speedRow(model, name, { one, four }, own, { prompt, reply, rounds }) {
  const prefill = (times) => (prompt / times.prefillMs) * 1000;
  const decode = (times) => ((times.completion - 1) / times.decodeMs) * 1000;
  const ratio = (list, mine, of) => median(list.slice(0, rounds).map((each, i) => of(mine[i]) / of(each)));
  return {
    model,
    name,
    prefill: median(one.map(prefill)),
    decode: median(one.map(decode)),
    four: (streams * (prompt + reply)) / median(four),
    prefillRatio: ratio(one, own.one, prefill),
    decodeRatio: ratio(one, own.one, decode),
    fourRatio: median(four.map((seconds, i) => seconds / own.four[i])),
  };
}

function memoryRow(model, name, found) {
  const estimate = found?.estimate && totalOf(found.estimate);
  return { model, name, resident: found && found.all / megabyte, estimate: estimate && estimate / megabyte };
}

/** The bytes of an estimate, whatever it is divided into. */
function totalOf(estimate) {
  if (typeof estimate === 'number') return estimate;
  if (typeof estimate?.total === 'number') return estimate.total;
  return Object.values(estimate ?? {}).reduce((sum, part) => sum + (totalOf(part) || 0), 0);
}

/** Cancels at random moments: how soon the cancel is acknowledged, and how soon a short request behind it has its first token. */
async function cancels(model, options) {
  const long = { prompt: promptTokens(model, 4000, 7), maxTokens: 64 };
  const short = { prompt: promptTokens(model, 32, 8), maxTokens: 2 };
  const contestants = await Contestants.start(
    contestantsOf(model, { ...options, peers: '', context: 8192, short: true }),
  );
  const { acknowledged, alone, behind } = await contestants.call('lorekeep', 'cancels', {
    long,
    short,
    count: options.cancels,
  });
  contestants.end();
  return {
    name: 'lorekeep',
    median: median(acknowledged),
    p99: quantile(acknowledged, 0.99),
    alone: median(alone),
    behind: median(behind),
  };
}

/** Agents with one persona and some tokens of their own, one after the other. */
async function sharedPrefix(model, options) {
  const persona = promptTokens(model, options.persona, 11);
  const context = 2048 + options.persona + options.agents * (ownTokens + 8);
  const contestants = await Contestants.start(contestantsOf(model, { ...options, peers: '', context }));
  const firsts = [];
  for (let agent = 0; agent < options.agents; agent++) {
    const prompt = [...persona, ...promptTokens(model, ownTokens, 5000 + agent)];
    const requests = [{ name: 'agent', prompt, maxTokens: 1 }];
    const seen = await contestants.call('lorekeep', 'play', { requests });
    firsts.push(firstTokenMs(seen.agent));
  }
  const numbers = await contestants.call('lorekeep', 'numbers');
  contestants.end();
  return {
    agents: options.agents,
    first: firsts[0],
    later: median(firsts.slice(1)),
    ratio: median(firsts.slice(1)) / firsts[0],
    cached: numbers && numbers.cachedTokens / numbers.promptTokens,
  };
}

function tables({ speed, memory, cancels, prefix }) {
  return [
    {
      id: 'generation',
      title: `One stream and ${streams} streams`,
      columns: [
        { key: 'model', label: 'model' },
        { key: 'name', label: 'program' },
        { key: 'prefill', label: 'prefill tokens/s' },
        { key: 'decode', label: 'decode tokens/s' },
        { key: 'four', label: `${streams} streams, tokens/s` },
        { key: 'prefillRatio', label: 'prefill: lorekeep / this', digits: 2 },
        { key: 'decodeRatio', label: 'decode: lorekeep / this', digits: 2 },
        { key: 'fourRatio', label: `${streams} streams: lorekeep / this`, digits: 2 },
      ],
      rows: speed,
    },
    {
      id: 'generation-memory',
      title:
        'Memory that the model adds to the process (llama-server: the whole process), and what was estimated before loading',
      columns: [
        { key: 'model', label: 'model' },
        { key: 'name', label: 'program' },
        { key: 'resident', label: 'resident MiB', digits: 0 },
        { key: 'estimate', label: 'estimate MiB', digits: 0 },
      ],
      rows: memory,
    },
    {
      id: 'generation-cancel',
      title: 'Cancels at random moments of a prompt of 4,000 tokens',
      columns: [
        { key: 'name', label: 'program' },
        { key: 'median', label: 'acknowledged, median ms' },
        { key: 'p99', label: 'p99 ms' },
        { key: 'alone', label: 'short request alone, first token ms' },
        { key: 'behind', label: 'behind the cancelled one, ms' },
      ],
      rows: cancels,
    },
    {
      id: 'generation-prefix',
      title: 'Agents that share a persona',
      columns: [
        { key: 'agents', label: 'agents', digits: 0 },
        { key: 'first', label: 'first token of the first, ms' },
        { key: 'later', label: 'of the later ones, median ms' },
        { key: 'ratio', label: 'ratio', digits: 3 },
        { key: 'cached', label: 'share of prompt tokens from the cache', digits: 3 },
      ],
      rows: prefix,
    },
  ];
}
