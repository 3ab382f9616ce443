// Prefill, decode, many streams, streams with one prompt, and the time until a model can be asked, by model.
import { statSync } from 'node:fs';
import { contestantsOf, own } from '../generation/contestants.mjs';
import { deepStream, manyStreams, oneStream } from '../generation/measurements.mjs';
import { languageModel, shapeOf } from '../generation/models.mjs';
import { addAbsent } from '../generation/parts.mjs';
import { Turns } from '../generation/turns.mjs';
import { Contestants } from '../harness/contestants.mjs';
import { comparedColumns, peer } from './compared.mjs';

/** Tokens of a stream that are not its reply, and room beside the longest prompt. */
const [streamPrompt, room] = [64, 1024];
/** What is asked of the ratio to llama-server: of every row, and of streams that share a prompt. */
const [asked, askedShared] = [0.97, 1];

/** Adds the table "gpu", and `detail.streams`: its rows. */
export async function streams(options, result) {
  const names = options.models.split(',');
  const rows = [];
  for (const [place, name] of names.entries()) {
    const model = await languageModel(name);
    if (model.reason) {
      result.leftOut.push({ name, reason: model.reason });
      continue;
    }
    const end = performance.now() + options.left() / (names.length - place);
    const late = () => performance.now() > end;
    rows.push(...(await ofModel({ ...model, name }, { ...options, late }, result)));
  }
  result.detail.streams = rows;
  result.tables.push(table(rows));
}

/** @returns the model's rows, those of the last round that was begun in time */
async function ofModel(model, options, result) {
  const counts = options.counts.split(',').map(Number);
  const slots = Math.max(...counts);
  const perStream = streamPrompt + options.reply + 2;
  const context = Math.max(options.long + room, slots * perStream) + options.prompt;
  const group = new Map();
  const all = await Contestants.start([]);
  for (const one of contestantsOf(model, { ...options, context, slots })) {
    const begin = performance.now();
    const contestant = await Contestants.start([one]);
    group.set(one.name, performance.now() - begin);
    all.adopt(contestant);
  }
  const measurements = measurementsOf(model, { ...options, counts });
  const turns = new Turns(all, options.limit);
  await new Turns(all, options.limit).each('warm', oneStream(model, { prompt: 64, reply: 4 }, 1));
  let rows = [];
  for (let round = 0; round < options.rounds; round++) {
    for (const { id, work } of measurements) {
      await turns.each(id, work(round));
      if (options.late()) break;
    }
    rows = rowsOf(model, turns, measurements, group);
    for (const row of rows) options.record({ round, ...row });
    console.log(`${model.name}: round ${round + 1} of ${options.rounds}`);
    if (options.late()) break;
  }
  all.end();
  addAbsent(result, all);
  return rows;
}

/** Every measurement has prompts of its own: nothing is in a cache but what a row is about. `rows`: what a measurement gives, with the tokens that a step computes and the tokens in front of them, for the bounds. */
function measurementsOf(model, { prompt, long, depth, reply, counts }) {
  const [most] = counts;
  const half = reply / 2;
  return [
    {
      id: 'one',
      work: (round) => oneStream(model, { prompt, reply }, 100 + round),
      rows: [
        { row: 'decode', get: ({ decode }) => decode, batch: 1, before: prompt, kind: 'decode' },
        {
          row: `prefill ${prompt}`,
          get: ({ prefill }) => prefill,
          batch: prompt,
          before: 0,
          kind: 'prefill',
        },
      ],
    },
    ...counts.map((count) => ({
      id: `${count} streams`,
      work: (round) => manyStreams(model, { reply, count }, 1000 * count + 200 * round),
      rows: [
        {
          row: `${count} streams`,
          get: (speed) => speed,
          batch: count,
          before: streamPrompt,
          kind: 'decode',
        },
      ],
    })),
    {
      id: 'shared',
      work: (round) => manyStreams(model, { reply, count: most, shared: prompt }, 3000 + 200 * round),
      rows: [
        {
          row: `${most} streams that share ${prompt} tokens`,
          get: (speed) => speed,
          asked: askedShared,
        },
      ],
    },
    {
      id: 'deep',
      work: (round) => deepStream(model, { long, depth, reply: half }, 5000 + 10 * round),
      rows: [
        { row: `prefill ${long}`, get: (found) => found.long, batch: 512, before: long / 2, kind: 'prefill' },
        { row: `decode at ${depth}`, get: ({ decode }) => decode, batch: 1, before: depth, kind: 'decode' },
      ],
    },
  ];
}

function rowsOf(model, turns, measurements, startMs) {
  const about = { model: model.name, bytes: statSync(model.path).size, shape: shapeOf(model.name) };
  const rows = measurements.flatMap(({ id, rows: list }) =>
    list.map(({ get, ...facts }) => ({
      ...about,
      asked,
      ...facts,
      own: turns.median(own, id, get),
      peer: turns.median(peer, id, get),
      ratio: turns.ratio(own, peer, id, get),
      rounds: turns.list(own, id).length,
    })),
  );
  const [mine, theirs] = [startMs.get(own), startMs.get(peer)];
  rows.push({
    ...about,
    row: 'ms until it can be asked',
    own: mine,
    peer: theirs,
    ratio: theirs / mine,
    rounds: 1,
    asked,
  });
  return rows;
}

const table = (rows) => ({
  id: 'gpu',
  title: 'Tokens per second on the GPU; ratios above 1: lorekeep is faster',
  columns: [{ key: 'model', label: 'model' }, ...comparedColumns],
  rows,
});
