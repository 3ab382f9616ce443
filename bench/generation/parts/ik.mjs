// Beside ik_llama.cpp, whose llama-bench LOREKEEP_IK_BENCH names: prefill of a short and a long prompt, and decode behind the short one.
// llama-bench loads the file for each run, which does not count. It runs with and without repacking of the weights, and the faster one counts.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { Contestants } from '../../harness/contestants.mjs';
import { median } from '../../harness/numbers.mjs';
import { contestantsOf, own } from '../contestants.mjs';
import { languageModel, promptTokens } from '../models.mjs';
import { addAbsent } from '../parts.mjs';
import { Turns } from '../turns.mjs';

const execute = promisify(execFile);
const measured = ['short', 'long', 'decode'];
const repackings = ['0', '1'];
/** Too large for a comparison that loads the file each time. */
const leftOutModels = ['Llama-3.2-1B'];

/** Adds the table "generation-ik". */
export async function ik(options, result) {
  const program = process.env.LOREKEEP_IK_BENCH;
  if (!program) {
    result.leftOut.push({ name: 'ik_llama.cpp', reason: 'LOREKEEP_IK_BENCH does not name its llama-bench' });
    return;
  }
  const rows = [];
  for (const name of options.models.split(',').filter((one) => !leftOutModels.includes(one))) {
    const model = await languageModel(name);
    if (model.reason || options.late()) continue;
    try {
      rows.push(await rowOf({ ...model, name, program }, options, result));
    } catch (error) {
      result.failed.push({ name: `ik_llama.cpp, ${name}`, reason: error.message });
      break; // the other parts keep their results
    }
  }
  if (rows.length > 0) result.tables.push(table(rows, options));
}

async function rowOf(model, options, result) {
  const context = 2 * Math.ceil(options.long / 1024) * 1024;
  const contestants = await Contestants.start(contestantsOf(model, { ...options, context, peers: '' }));
  const turns = new Turns(contestants);
  const theirs = Object.fromEntries(repackings.map((repack) => [repack, []]));
  const rounds = options['deep-rounds'];
  try {
    for (let round = 0; round < rounds; round++) {
      await turns.each('own', ours(model, options, 50_000 + 10 * round));
      for (const repack of repackings) theirs[repack].push(await bench(model, options, repack));
      console.log(`${model.name}, ik_llama.cpp: round ${round + 1} of ${rounds}`);
    }
  } finally {
    contestants.end();
    addAbsent(result, contestants);
  }
  const row = { model: model.name };
  for (const key of measured) {
    const medians = repackings.map((repack) => median(theirs[repack].map((found) => found[key])));
    const best = theirs[repackings[medians[1] > medians[0] ? 1 : 0]];
    row[`own-${key}`] = turns.median(own, 'own', (found) => found[key]);
    row[key] = Math.max(...medians);
    row[`${key}-ratio`] = median(turns.list(own, 'own').map((found, i) => found[key] / best[i][key]));
  }
  return row;
}

const ours =
  (model, { prompt, long, reply }, seed) =>
  async (ask) => {
    const short = await ask('measure', { prompt: promptTokens(model, prompt, seed), maxTokens: reply });
    const whole =
      short && (await ask('measure', { prompt: promptTokens(model, long, seed + 1), maxTokens: 1 }));
    if (!whole) return undefined;
    const perSecond = (tokens, ms) => (tokens / ms) * 1000;
    return {
      short: perSecond(short.computed, short.prefillMs),
      long: perSecond(whole.computed, whole.prefillMs),
      decode: perSecond(short.completion - 1, short.decodeMs),
    };
  };

/** Tokens a second of one run. */
async function bench({ program, path }, { prompt, long, reply, threads }, repack) {
  const flags = {
    '-m': path,
    '-t': threads,
    '-p': `${prompt},${long}`,
    '-n': 0,
    '-gp': `${prompt},${reply}`,
    '-r': 1,
    '-rtr': repack,
    '-o': 'json',
  };
  const { stdout } = await execute(program, Object.entries(flags).flat().map(String), { maxBuffer: 1 << 24 });
  const found = JSON.parse(stdout);
  const speed = (tokens, replies) => {
    const run = found.find(({ n_prompt, n_gen }) => n_prompt === tokens && n_gen === replies);
    if (!(run?.avg_ts > 0))
      throw new Error(`${program} gave no speed of a prompt of ${tokens} tokens and a reply of ${replies}`);
    return run.avg_ts;
  };
  return { short: speed(prompt, 0), long: speed(long, 0), decode: speed(prompt, reply) };
}

function table(rows, { prompt, long }) {
  const labels = { short: `prefill ${prompt}`, long: `prefill ${long}`, decode: 'decode' };
  const columns = measured.flatMap((key) => [
    { key: `own-${key}`, label: `${labels[key]}, lorekeep` },
    { key, label: `${labels[key]}, ik_llama.cpp` },
    { key: `${key}-ratio`, label: 'ratio', digits: 2 },
  ]);
  return {
    id: 'generation-ik',
    title: 'Beside ik_llama.cpp, tokens per second',
    columns: [{ key: 'model', label: 'model' }, ...columns],
    rows,
  };
}
