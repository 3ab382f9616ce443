import { appendFileSync } from 'node:fs';
import { stepWatch, threadMs } from '../../../lib/internal.js';
import { type LoopStep, sliceWatch } from '../../base/waiting/slice-watch.js';
import { watchCollections } from '../../fairness/collection-pauses.js';
import type { Log } from '../../log/log.js';

/** Processor time in ms that one step of a thread may take. */
const longestStepMs = 50;

/** Time in ms between two looks at the event loop, and between two reports. */
const lookMs = 5;
const reportMs = 100;

/**
 * Watches this process until it ends for steps that take too long, and logs each. The work of the event loop between two looks
 * at its timers is a step, too. `file` gets a line of JSON for each. A process that found any ends with 1 in place of 0.
 */
export async function openWatchdog(log: Log, file: string | undefined): Promise<void> {
  const { longSteps, watchSteps } = await stepWatch();
  watchSteps(longestStepMs);
  sliceWatch.limitMs = longestStepMs;
  let found = 0;
  const tell = (step: object) => {
    found++;
    log.error(step, 'a step took too long');
    if (file !== undefined) appendFileSync(file, `${JSON.stringify(step)}\n`);
  };
  const report = () => {
    for (const { thread, where, ms, part, partMs } of longSteps())
      tell({ thread, where, ms, ...(part !== '' && { part, partMs }) });
    for (const { where, ms } of sliceWatch.take()) tell({ thread: 'event loop', where, ms });
  };
  watchTurns();
  // Node.js reports a pause of the garbage collector in the second turn after it.
  setInterval(() => setImmediate(() => setImmediate(report)), reportMs).unref();
  process.once('exit', () => {
    report();
    if (found > 0) process.exitCode ||= 1;
  });
}

/** Finds turns of the event loop that take too long, whatever did the work. */
function watchTurns(): void {
  let long: LoopStep & { began: number; ended: number } = { used: 0, began: 0, ended: 0 };
  let last = { used: threadMs(), time: performance.now() };
  /** Pauses since the last look. */
  let pauses: { began: number; ms: number }[] = [];
  const without = ({ began, ms }: { began: number; ms: number }) => {
    if (began >= long.began && began < long.ended) long.used -= ms;
  };
  watchCollections((began, ms) => {
    const pause = { began, ms };
    if (began >= last.time) pauses.push(pause);
    else without(pause);
  });
  const look = () => {
    const now = { used: threadMs(), time: performance.now() };
    const used = now.used - last.used;
    const names = sliceWatch.recent();
    if (used > longestStepMs) {
      long = { used, began: last.time, ended: now.time };
      for (const pause of pauses) without(pause);
      sliceWatch.found(long, names.length > 0 ? names : ['no request']);
    }
    pauses = [];
    last = now;
  };
  setInterval(look, lookMs).unref();
}
