// The time between two tokens of one client's reply beside others whose replies have dear constraints.
//
//   node bench/grammar/gaps.mjs MODEL.gguf [PART OF A NAME]
//
// A generates freely. Beside it, four replies with the same dear constraint run again and again. `refused` are those that
// CreateAgentRequest refuses, with the processor time of that answer. `turn` is the longest turn of the inference thread
// without the model's matrix products, which the scheduler plans, and `above` the part of it that the limit forbids: the gap of
// another client may be three of its own steps and 50 ms, so no turn may take 50 ms beside the products. Both are processor
// time: other programs do not change them. `gap` is A's longest one on the clock, and `plain` the one beside four replies
// without a constraint.
import { resolve } from 'node:path';
import { LanguageModel } from '../../dist/lib/index.js';
import { checkGrammar, schemaGrammar, stepWatch } from '../../dist/lib/internal.js';
import { dearConstraints } from './dear.mjs';

const [file, part = ''] = process.argv.slice(2);
if (file === undefined) throw new Error('usage: node bench/grammar/gaps.mjs MODEL.gguf [PART OF A NAME]');
const beside = 4;
/** Tokens of A's reply, and of the dear ones. */
const tokens = 24;
const dearTokens = 24;
/** Turns from this time on are seen, in ms. */
const seenMs = 1;

const { watchSteps, longSteps } = await stepWatch();
const model = await LanguageModel.load(resolve(file), { threads: 1, batchThreads: 1, contextSize: 2048 });
let seed = 1;
const reply = (maxTokens, constraint = {}) =>
  model.generate({
    ...{ prompt: 'Once upon a time', maxTokens, drafts: false, seed: seed++, sampling: { temperature: 1 } },
    ...constraint,
  });

/** The refusal of a constraint, and the processor time of the answer in ms. */
async function answered({ grammar, schema }) {
  const before = process.cpuUsage();
  let refusal;
  try {
    const made = schema === undefined ? grammar : await schemaGrammar(schema);
    if (made !== undefined) await checkGrammar(made);
  } catch (error) {
    refusal = error.message;
  }
  const { user, system } = process.cpuUsage(before);
  return { refusal, ms: (user + system) / 1000 };
}

/** A's gaps beside replies with a constraint, in ms. */
async function gapsBeside(constraint) {
  let over = false;
  const counts = { dear: 0, failed: new Set(), waits: 0 };
  const others = Array.from({ length: beside }, async () => {
    while (!over) {
      const running = reply(dearTokens, constraint);
      const stop = setInterval(() => over && running.cancel(), 20);
      await running.result.then(
        ({ usage, timing }) => {
          counts.dear += usage.completion;
          counts.waits += timing.constraintWaits;
        },
        (error) => {
          counts.failed.add(error.message);
        },
      );
      clearInterval(stop);
    }
  });
  const gaps = [];
  const running = reply(tokens);
  let last;
  for await (const _ of running) {
    const now = performance.now();
    if (last !== undefined) gaps.push(now - last);
    last = now;
  }
  over = true;
  await Promise.all(others);
  return { gaps: gaps.sort((a, b) => a - b), ...counts };
}

const middle = (values) => values[Math.floor(values.length / 2)];
const show = (value) => (value === undefined ? '-' : value.toFixed(value < 10 ? 1 : 0));

await reply(8).result;
const plain = await gapsBeside({});
console.log(
  `plain: gap p50 ${show(middle(plain.gaps))}, longest ${show(plain.gaps.at(-1))} ms, ${plain.dear} tokens beside`,
);
for (const { name, ...constraint } of dearConstraints.filter((one) => one.name.includes(part))) {
  const { refusal, ms } = await answered(constraint);
  if (refusal !== undefined) {
    console.log(`${name}: refused in ${show(ms)} ms: ${refusal.slice(0, 120)}`);
    continue;
  }
  watchSteps(seenMs);
  longSteps();
  const turns = [];
  const look = setInterval(() => turns.push(...longSteps()), 10);
  const { gaps, dear, failed, waits } = await gapsBeside(constraint);
  clearInterval(look);
  turns.push(...longSteps());
  watchSteps(0);
  const inference = turns.filter(({ thread }) => thread === 'inference').sort((a, b) => b.ms - a.ms);
  const others = turns.filter(({ thread }) => thread !== 'inference').sort((a, b) => b.ms - a.ms);
  console.log(
    `${name}: created in ${show(ms)} ms, turn ${show(inference[0]?.ms)} ms (${inference[0]?.part ?? ''}), gap p50 ${show(middle(gaps))}, longest ` +
      `${show(gaps.at(-1))} ms, ${dear} tokens beside, ${waits} waits` +
      (others.length > 0 ? `, ${others[0].thread} ${show(others[0].ms)} ms at ${others[0].where}` : '') +
      (failed.size > 0 ? `; ended: ${[...failed][0].slice(0, 100)}` : ''),
  );
}
await model.close();
