// How close the runtimes come to a reference: the mean Kullback-Leibler divergence of next-token distributions, and the perplexity, over
// the positions of a real text. The reference is a file in F32, computed by llama.cpp.
//
//   node bench/generation/agreement.mjs --reference MODEL.F32.gguf --text FILE MODEL.gguf ... [--positions 2000] [--threads 2]
//
// The divergence is over the 100 likeliest tokens of the reference and one class of all others: a lower bound, the same for all.
// llama-quantize makes the files of one F32 file; with `--allow-requantize`, F32 too.
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { commandLine } from '../harness/command-line.mjs';
import { LanguageModel } from '../lorekeep.mjs';

const { values, positionals } = commandLine({
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
const piece = 145;
const warmup = 20;
const threads = Number(values.threads);
const positions = Number(values.positions);
const text = readFileSync(values.text, 'utf8');

/** The distributions after each position: the next token's log-probability, and the likeliest tokens. */
async function distributions(path, runtime) {
  const pieces = Math.ceil(positions / (piece - warmup));
  const model = await LanguageModel.load(path, {
    runtime,
    threads,
    batchThreads: threads,
    contextSize: piece + 8,
    kvCells: pieces * (piece + 32),
  });
  const tokens = await tokensOf(path, 3 + pieces * piece);
  // All pieces at once, so that a step computes a row of each.
  const found = await Promise.all(
    Array.from({ length: pieces }, (_, i) =>
      ofPiece(model, tokens.subarray(3 + i * piece, 3 + (i + 1) * piece)),
    ),
  );
  await model.close();
  return found.flat().slice(0, positions);
}

/** The tokens of the text, by a vocabulary alone: all files have the same. */
async function tokensOf(path, count) {
  const model = await LanguageModel.load(path, {
    contextSize: 8192,
    kvCells: 8192,
    threads: 1,
    runtime: 'llama.cpp',
  });
  const { tokens } = await model.render([{ role: 'user', content: text.slice(0, 6 * count) }]);
  await model.close();
  if (tokens.length < count)
    throw new Error(`${values.text}: ${tokens.length} tokens, but ${count} are needed`);
  return tokens;
}

async function ofPiece(model, tokens) {
  const found = [];
  for (let at = warmup; at < piece; at++) {
    const { logprobs } = await model.generate({
      prompt: tokens.subarray(0, at),
      maxTokens: 1,
      sampling: { temperature: 0 },
      // The text's next token is chosen, never an end token, which has no log-probability. Those that are
      // returned are the model's own, without the bias.
      logitBias: { [tokens[at]]: 1e4 },
      logprobs: listed,
    }).result;
    const [{ logprob, top }] = logprobs;
    found.push({ next: logprob, top });
  }
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
console.log(
  '| file | runtime | divergence | of llama.cpp | perplexity | of llama.cpp |\n|---|---|--:|--:|--:|--:|',
);
for (const path of positionals) {
  let usual;
  for (const runtime of ['llama.cpp', 'decoder']) {
    const found = await distributions(path, runtime);
    const own = { divergence: divergence(reference, found), perplexity: perplexity(found) };
    usual ??= own;
    const cells = [
      basename(path),
      runtime,
      own.divergence.toFixed(5),
      (own.divergence / usual.divergence).toFixed(3),
      own.perplexity.toFixed(4),
      (own.perplexity / usual.perplexity).toFixed(5),
    ];
    console.log(`| ${cells.join(' | ')} |`);
  }
}
