// The two models in the package beside node-llama-cpp on the same files: the first load on a machine and the next one, texts
// per second of many in one call, and one query. Texts: the first words of chunks of the corpus (titles), and whole chunks.
// Each contestant is a process of its own; they take turns, round by round, and medians count. node-llama-cpp is asked with two
// contexts of one thread, its best configuration for many short texts; for one query, with the better of two configurations.
//
//   node bench/embedding/bundled.mjs [--models lorekeep-mini] [--titles N] [--passages N] [--rounds N] [--cores 2]
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { cached, root } from '../harness/cache.mjs';
import { Contestants } from '../harness/contestants.mjs';
import { median } from '../harness/numbers.mjs';
import { readTexts } from '../harness/texts.mjs';
import { runTrial } from '../harness/trial.mjs';
import { bestConfigurations } from './configurations.mjs';
import { minCosine } from './cosine.mjs';

const defaults = { models: 'all-MiniLM-L6-v2,lorekeep-mini', titles: 400, passages: 60, rounds: 3, cores: 2 };
const [titleWords, passageWords] = [10, 110];
const [warmUp, queries] = [8, 20];
const columns = [
  { key: 'name', label: '' },
  { key: 'words', label: 'words a text', digits: 0 },
  { key: 'perSecond', label: 'texts/s' },
  { key: 'ratio', label: 'ours / theirs', digits: 1 },
  { key: 'queryMs', label: 'one text, ms' },
  { key: 'queryRatio', label: 'ours / theirs, time', digits: 2 },
  { key: 'cosine', label: 'cosine of the two', digits: 4 },
];
const loadColumns = [
  { key: 'name', label: 'model' },
  { key: 'firstMs', label: 'first load on a machine, ms' },
  { key: 'nextMs', label: 'next load, ms' },
];

await runTrial('models', defaults, async ({ models, titles, passages, rounds, cores }) => {
  const { texts } = await readTexts(Math.max(titles, passages));
  const cut = (text, words) => text.split(/\s+/).slice(0, words).join(' ');
  const lengths = [
    [titleWords, texts.slice(0, titles).map((text) => cut(text, titleWords))],
    [passageWords, texts.slice(0, passages).map((text) => cut(text, passageWords))],
  ];
  const result = { leftOut: [], failed: [], rows: [], loads: [] };
  for (const name of models.split(',')) await measureModel(name, lengths, { rounds, cores }, result);
  const { leftOut, failed, rows, loads } = result;
  const tables = [
    { id: 'models', title: 'The models in the package', columns, rows },
    { id: 'model-loads', title: 'Loading the models in the package', columns: loadColumns, rows: loads },
  ];
  return {
    tables,
    leftOut,
    failed,
    data: `texts of ${titleWords} and ${passageWords} words, the same files for all`,
  };
});

async function measureModel(name, lengths, { rounds, cores }, result) {
  const model = join(root, 'data', 'models', `${name}.gguf`);
  const module = (file) => new URL(`contestants/${file}.mjs`, import.meta.url);
  const settings = cached('embedding-settings', String(process.pid));
  mkdirSync(settings, { recursive: true });
  const own = {
    name: 'lorekeep',
    module: module('lorekeep'),
    options: { model },
    env: { LOREKEEP_CACHE: settings },
    peer: false,
  };
  const peer = { name: 'node-llama-cpp', module: module('node-llama-cpp'), options: { model, cores } };
  const first = await Contestants.start([own]);
  const firstMs = (await first.call('lorekeep', 'loadMs')).loadMs;
  first.end();
  const contestants = await Contestants.start([own, peer]);
  const facts = await contestants.call('lorekeep', 'facts');
  const nextMs = (await contestants.call('lorekeep', 'loadMs')).loadMs;
  result.loads.push({ name, firstMs, nextMs });
  for (const [words, texts] of lengths) {
    const chosen = await bestConfigurations(contestants, texts, words);
    const found = await measure(contestants, texts, chosen, rounds);
    result.rows.push(...rowsOf({ name, words, count: texts.length, runtime: facts.runtime }, found));
    console.log(`${name}, ${words} words: measured`);
  }
  contestants.end();
  rmSync(settings, { recursive: true, force: true });
  for (const one of contestants.leftOut)
    if (!result.leftOut.some(({ name: known }) => known === one.name)) result.leftOut.push(one);
  result.failed.push(...contestants.failed);
}

async function measure(contestants, texts, chosen, rounds) {
  const measured = new Map(contestants.names.map((name) => [name, { bulk: [], each: [] }]));
  const ask = (method, some, kind, receive) =>
    contestants.each(method, (name) => ({ texts: some, configuration: chosen.get(name)[kind] }), receive);
  await ask('bulk', texts.slice(0, warmUp), 'many', () => {});
  for (let round = 0; round < rounds; round++) {
    await ask('bulk', texts, 'many', (name, one) => measured.get(name).bulk.push(one));
    await ask('each', texts.slice(0, queries), 'one', (name, list) => measured.get(name).each.push(...list));
  }
  return measured;
}

function rowsOf({ name: model, words, count, runtime }, measured) {
  const own = measured.get('lorekeep');
  const seconds = ({ bulk }) => median(bulk.map((one) => one.seconds));
  return [...measured]
    .filter(([, { bulk }]) => bulk.length > 0)
    .map(([name, found]) => ({
      name: `${model}, ${name === 'lorekeep' ? `lorekeep (${runtime})` : name}`,
      words,
      perSecond: count / seconds(found),
      queryMs: median(found.each) * 1e3,
      ratio: name === 'lorekeep' ? undefined : seconds(found) / seconds(own),
      queryRatio: name === 'lorekeep' ? undefined : median(own.each) / median(found.each),
      cosine: name === 'lorekeep' ? undefined : minCosine(found.bulk[0].rows, own.bulk[0].rows),
    }));
}
