// Every model and format: one stream, a long prompt, a chunk and a reply behind it, four streams; what the model adds to memory.
import { statSync } from 'node:fs';
import { findBuilt, hasAmx } from '../../embedding/llama-server.mjs';
import { Contestants } from '../../harness/contestants.mjs';
import { contestantsOf, own } from '../contestants.mjs';
import { chunk, deepStream, manyStreams, oneStream, streams } from '../measurements.mjs';
import { languageModel } from '../models.mjs';
import { addAbsent } from '../parts.mjs';
import { Turns } from '../turns.mjs';

const megabyte = 1024 * 1024;
/** Room for a long prompt, and for the streams of a round beside it. */
const room = 1024;
/** The others compute like llama-server: they take part in long prompts of the first model, in the first round. */
const inLongPrompts = [own, 'llama-server'];
/** Files larger than this take many seconds a round, and have fewer. */
const [largeMegabytes, roundsOfLarge, deepRoundsOfLarge] = [300, 2, 1];
/** Starting the contestants takes as long as a round of so much more of a file. */
const startMegabytes = 150;

/** What is asked of the ratio to llama-server where both are held to AVX-512 VNNI: prefill by format, and the rest. */
const askedPrefill = { Q8_0: 2, Q4_1: 4, Q4_0: 1.4, Q4_K_M: 1.5 };
const asked = { long: 2.5, chunk: 2, decode: 1.1, deep: 1.1, many: 1.3 };

/** Adds the tables "generation", "generation-ratios" and "generation-memory". */
export async function speed(options, result) {
  const { rows, curves } = await speedOf(options, result);
  result.tables.push(...tables(rows, options));
  result.curves.push(...curves);
  result.detail.speed = rows;
}

/** The same with both held to AVX-512 VNNI, on a processor with AMX: adds "generation-vnni" and "generation-vnni-ratios". */
export async function vnni(options, result) {
  if (!hasAmx()) return; // the first tables are of such a processor
  const server = findBuilt('vnni');
  if (!server) {
    const reason = '`npm run setup:llama-server` in bench/ builds it';
    result.leftOut.push({ name: 'llama-server held to AVX-512 VNNI', reason });
    return;
  }
  const env = { LOREKEEP_KERNELS: 'avx512vnni' };
  const { rows } = await speedOf({ ...options, server, env, peers: 'llama-server' }, result);
  const [speeds, ratios] = tables(rows, options);
  const held = 'both held to AVX-512 VNNI';
  result.tables.push({ ...speeds, id: 'generation-vnni', title: `${speeds.title}, ${held}` });
  result.tables.push({ ...ratios, id: 'generation-vnni-ratios', title: `${ratios.title}, ${held}` });
  result.detail.vnni = rows;
}

async function speedOf(options, result) {
  const rows = { speeds: [], ratios: [], memory: [] };
  const models = [];
  for (const name of options.models.split(',')) {
    const { reason, ...model } = await languageModel(name);
    if (reason) result.leftOut.push({ name, reason });
    else models.push({ ...model, name, megabytes: inMegabytes(statSync(model.path).size) });
  }
  // Each model has at least one round, and a share of the time by the size of its file.
  const weight = ({ megabytes }) => startMegabytes + megabytes;
  for (const [place, model] of models.entries()) {
    const weights = models.slice(place).reduce((sum, other) => sum + weight(other), 0);
    const end = performance.now() + (options.left() * weight(model)) / weights;
    await measureModel(model, { ...options, late: () => performance.now() > end }, rows, result);
  }
  const curves = [
    formatCurve(rows.speeds, 'prefill', `prefill, ${options.prompt} tokens`),
    formatCurve(rows.speeds, 'decode', 'decode'),
  ];
  return { rows, curves };
}

/** SmolLM2 in its formats, by the size of the file. */
function formatCurve(speeds, key, panel) {
  const own = speeds.filter(({ model }) => model.startsWith('SmolLM2'));
  const names = [...new Set(own.map(({ name }) => name))];
  const series = names.map((name) => ({
    name,
    points: own
      .filter((row) => row.name === name && row[key] > 0)
      .map((row) => ({ x: row.megabytes, y: row[key] }))
      .sort((a, b) => a.x - b.x),
  }));
  return { chart: 'generation-format', panel, series };
}

async function measureModel(model, options, rows, result) {
  const { long, reply } = options;
  const large = model.megabytes > largeMegabytes;
  const rounds = Math.min(options.rounds, large ? roundsOfLarge : Infinity);
  const deepRounds = Math.min(options['deep-rounds'], large ? deepRoundsOfLarge : Infinity);
  const first = options.models.startsWith(model.name);
  const context = 2 * Math.ceil((long + room) / 2048) * 2048;
  const contestants = await Contestants.start(
    contestantsOf(model, { ...options, context, perStream: long + room }),
  );
  const turns = new Turns(contestants);
  await new Turns(contestants).each('warm', oneStream(model, { prompt: 64, reply: 4 }, 1));
  for (let round = 0; round < rounds; round++) {
    await turns.each('one', oneStream(model, options, 100 + round));
    await turns.each('many', manyStreams(model, { reply }, 1000 + 10 * round));
    if (round < deepRounds) {
      const who = first && round === 0 ? undefined : inLongPrompts;
      await turns.each('deep', deepStream(model, { ...options, reply: reply / 2 }, 5000 + 10 * round), who);
    }
    console.log(`${model.name}: round ${round + 1} of ${rounds}`);
    if (options.late()) break;
  }
  await turns.each('memory', (ask) => ask('memory', {}));
  for (const program of turns.names) addRows(model, program, turns, rows);
  contestants.end();
  addAbsent(result, contestants);
}

const inMegabytes = (bytes) => bytes && bytes / megabyte;

/** Columns of both tables: the measurement, what of it, and a label. */
const measured = ({ prompt, long, depth }) => [
  { key: 'prefill', id: 'one', get: ({ prefill }) => prefill, label: `prefill ${prompt}` },
  { key: 'long', id: 'deep', get: ({ long: speed }) => speed, label: `prefill ${long}` },
  { key: 'chunk', id: 'deep', get: ({ chunk: speed }) => speed, label: `${chunk} at ${depth}` },
  { key: 'decode', id: 'one', get: ({ decode }) => decode, label: `decode at ${prompt}` },
  { key: 'deep', id: 'deep', get: ({ decode }) => decode, label: `decode at ${depth}` },
  { key: 'many', id: 'many', get: (speed) => speed, label: `${streams} streams` },
];

function addRows({ name: model, megabytes }, name, turns, rows) {
  const [values, ratios] = [{}, {}];
  for (const { key, id, get } of measured({})) {
    values[key] = turns.median(name, id, get);
    ratios[key] = turns.ratio(own, name, id, get);
  }
  rows.speeds.push({ model, name, megabytes, ...values });
  if (name !== own) rows.ratios.push({ model, name, ...ratios });
  if (name === 'llama-server') {
    const format = model.split(' ')[1] ?? 'Q4_0';
    rows.ratios.push({ model, name: 'asked, AVX-512 VNNI', prefill: askedPrefill[format], ...asked });
  }
  const [found] = turns.list(name, 'memory');
  rows.memory.push({
    model,
    name,
    resident: inMegabytes(found?.all),
    estimate: inMegabytes(found?.estimate),
    excess: found?.estimate && inMegabytes(found.all - 1.1 * found.estimate),
  });
}

function tables({ speeds, ratios, memory }, options) {
  const who = [
    { key: 'model', label: 'model' },
    { key: 'name', label: 'program' },
  ];
  const columns = measured(options).map(({ key, label }) => ({ key, label }));
  return [
    { id: 'generation', title: 'Tokens per second', columns: [...who, ...columns], rows: speeds },
    {
      id: 'generation-ratios',
      title: 'lorekeep / this program, medians over the rounds',
      columns: [...who, ...columns.map((column) => ({ ...column, digits: 2 }))],
      rows: ratios,
    },
    {
      id: 'generation-memory',
      title:
        'Memory that the model adds to the process (llama-server: the whole process), and the estimate before loading',
      columns: [
        ...who,
        { key: 'resident', label: 'resident MiB', digits: 0 },
        { key: 'estimate', label: 'estimate MiB', digits: 0 },
        { key: 'excess', label: 'resident - 1.1 estimate, MiB', digits: 0 },
      ],
      rows: memory,
    },
  ];
}
