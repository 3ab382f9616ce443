// A loop of 60 frames a second with 8 ms of work on every core, beside a generation at each throttle level.
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Contestants } from '../../harness/contestants.mjs';
import { contestantsOf, own } from '../contestants.mjs';
import { roundsOf } from '../frame-work.mjs';
import { languageModel, promptTokens } from '../models.mjs';
import { addAbsent } from '../parts.mjs';

const levels = [0, 0.25, 0.5, 0.75, 1];
const framesPerSecond = 60;
const workMs = 8;
/** The generation goes on for this multiple of the frames' time, because late frames take longer. */
const slack = 1.25;

/** Adds the table "generation-throttle". */
export async function throttle({ threads, frames, ...options }, result) {
  const model = await languageModel(options.model);
  if (model.reason) throw new Error(`${options.model}: ${model.reason}`);
  const loop = { count: threads, frames, rounds: roundsOf(workMs) };
  const contestants = await Contestants.start(
    contestantsOf(model, { ...options, threads, context: 8192, peers: '' }),
  );
  const call = (method, argument) => contestants.call(own, method, argument);
  const ms = (slack * frames * 1000) / framesPerSecond;
  const rows = [{ level: 'no generation', missed: await frameLoops(loop) }];
  for (const level of levels) {
    const generating = call('generateFor', { ms, level, prompt: promptTokens(model, 64, 1) });
    const missed = await frameLoops(loop);
    rows.push({ level, missed, ...(await generating) });
  }
  rows.at(-1).pauseCpu = await call('pauseProcessorTime', { prompt: promptTokens(model, 64, 2) });
  contestants.end();
  addAbsent(result, contestants);
  result.tables.push(table(rows));
}

/** The share of frames that ended late. */
async function frameLoops({ count, frames, rounds }) {
  const program = fileURLToPath(new URL('../frame-loop.mjs', import.meta.url));
  const missed = await Promise.all(
    Array.from({ length: count }, () => {
      const child = fork(program, [frames, rounds].map(String));
      return new Promise((resolve, reject) => {
        child.once('message', resolve);
        child.once('error', reject);
      });
    }),
  );
  return missed.reduce((sum, one) => sum + one, 0) / (count * frames);
}

function table(rows) {
  return {
    id: 'generation-throttle',
    title: `A loop of ${framesPerSecond} frames a second with ${workMs} ms of work on every core, by throttle level`,
    columns: [
      { key: 'level', label: 'level' },
      { key: 'missed', label: 'share of frames missed', digits: 3 },
      { key: 'perSecond', label: 'tokens/s' },
      { key: 'pauseCpu', label: 'processor time in pauses, cores', digits: 3 },
    ],
    rows,
  };
}
