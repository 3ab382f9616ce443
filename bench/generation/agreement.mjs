// How close the runtimes come to a reference: the mean Kullback-Leibler divergence of next-token distributions, and the perplexity, over
// the positions of a real text. The reference is a file in F32, computed by llama.cpp.
//
//   node bench/generation/agreement.mjs --reference MODEL.F32.gguf --text FILE MODEL.gguf ... [--positions 2000] [--threads 2]
//
// The divergence is over the 100 likeliest tokens of the reference and one class of all others: a lower bound, the same for all. variants.mjs
// makes the F32 file of a quantised one, whose weights it has exactly.
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { parseArgs } from 'node:util';
import { LanguageModel } from '../lorekeep.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    reference: { type: 'string' },
    text: { type: 'string' },
    positions: { type: 'string', default: '2000' },
    threads: { type: 'string', default: '2' },
  },
});
const listed = 100;
/** Tokens of each piece of the text; its first ones give context only. */
const piece = 500;
const warmup = 20;
const threads = Number(values.threads);
const text = readFileSync(values.text, 'utf8');

/** The distributions after each position: the chosen (next) token's log-probability, and the likeliest tokens. */
async function distributions(path, runtime) {
  const model = await LanguageModel.load(path, {
    runtime,
    threads,
    batchThreads: threads,
    contextSize: piece + 8,
    kvCells: 4 * piece,
  });
  const { tokens } = await model
    .render([{ role: 'user', content: text.slice(0, 200_000) }])
    .catch(() => ({ tokens: [] }));
  const found = [];
  for (
    let begin = 3;
    found.length < Number(values.positions) && begin + piece < tokens.length;
    begin += piece
  ) {
    for (let at = warmup; at < piece - 1 && found.length < Number(values.positions); at++) {
      const prompt = tokens.subarray(begin, begin + at);
      const next = tokens[begin + at];
      const { logprobs } = await model.generate({
        prompt,
        maxTokens: 1,
        sampling: { temperature: 0 },
        logitBias: { [next]: 1e4 },
        logprobs: listed,
      }).result;
      found.push({ next: logprobs[0].logprob, top: logprobs[0].top });
    }
  }
  await model.close();
  return found;
}

function divergence(reference, other) {
  let sum = 0;
  for (const [i, { top }] of reference.entries()) {
    const theirs = new Map(other[i].top.map(({ token, logprob }) => [token, logprob]));
    const least = Math.min(...theirs.values());
    let [restP, restQ] = [1, 1];
    for (const { token, logprob } of top) {
      const q = theirs.get(token) ?? least;
      sum += Math.exp(logprob) * (logprob - q);
      restP -= Math.exp(logprob);
      restQ -= Math.exp(q);
    }
    if (restP > 1e-9 && restQ > 1e-9) sum += restP * Math.log(restP / restQ);
  }
  return sum / reference.length;
}

const perplexity = (found) => Math.exp(-found.reduce((sum, { next }) => sum + next, 0) / found.length);

const reference = await distributions(values.reference, 'llama.cpp');
console.log(
  `reference ${basename(values.reference)}: ${reference.length} positions, perplexity ${perplexity(reference).toFixed(4)}`,
);
for (const path of positionals) {
  for (const runtime of ['llama.cpp', 'decoder']) {
    const found = await distributions(path, runtime);
    const change = 100 * (perplexity(found) / perplexity(reference) - 1);
    console.log(
      `${basename(path)} ${runtime}: divergence ${divergence(reference, found).toExponential(3)}, perplexity ${perplexity(found).toFixed(4)} (${change.toFixed(3)} %)`,
    );
  }
}
