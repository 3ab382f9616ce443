// Attacks against a server with a heap of 200 MB. It lives, and keeps no more than clients may fill (docs/internals/admission.md). In an
// attack of two minutes or more, what it keeps no longer grows in the second half: memory that nobody counts ends such a server within minutes.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chosenAttacks, runAttack } from '../attacks/attacks.mjs';
import { attackList } from '../attacks/list.mjs';
import { Sample } from '../sample.mjs';

const heapMb = 200;
/** The server's own 48 MiB, 60 % of the rest for clients, and what is collected later. */
const mostMib = 48 + 0.6 * (heapMb - 48) + 16;
/** Growth in MiB that is no leak: what is kept in a window varies with the requests under way. */
const allowedMib = 16;
const windows = 5;
/** Shorter attacks may not have filled what is counted yet. */
const growthMs = 120_000;

export const heap = {
  name: 'heap',
  what: `attacks against a server with a heap of ${heapMb} MB`,
  aim: attackList.length,
  short: { count: 1, minutes: 0.15 },
  long: { count: attackList.length, minutes: 20 },
  /** `minutes` is the time of all attacks together. */
  async run({ folder, seed, count, until, short, cases = '', say }) {
    const sample = await new Sample(join(folder, 'kb'), { seed, records: short ? 500 : 5000 }).write();
    await sample.build();
    sample.writeLong();
    // In the short campaign, the attack that once ended such a server.
    const chosen = chosenAttacks(short && cases === '' ? 'with system texts' : cases, count);
    const settleMs = short ? 500 : 10_000;
    const ms = Math.max(2000, (until - Date.now()) / chosen.length - settleMs - 5000);
    const outcomes = [];
    for (const attack of chosen) {
      if (outcomes.length > 0 && Date.now() > until) break;
      outcomes.push(await tried(attack, sample, { ms, seed, settleMs }));
      say(`${attack.name}: ${outcomes.at(-1).note}`);
    }
    await sample.close();
    return outcomes;
  },
};

async function tried(attack, sample, { ms, seed, settleMs }) {
  const file = sample.at(`heap-${heapRuns++}.txt`);
  const module = pathToFileURL(join(import.meta.dirname, 'heap-sizes.mjs')).href;
  const flags = [`--max-old-space-size=${heapMb}`, '--import', module];
  const env = { LOREKEEP_HEAP_SIZES: file };
  const { note, misses, measured, ...outcome } = await runAttack(attack, sample, {
    ms,
    seed,
    settleMs,
    flags,
    env,
  });
  const kept = keptByWindow(existsSync(file) ? readFileSync(file, 'utf8') : '');
  const problems = [...outcome.problems];
  // The first window begins before the attack, and the last one ends after it. Until the third, clients fill their budgets.
  const [, , early = 0, late = 0] = kept;
  if (kept.length === 0) problems.push('no sizes of the heap were seen');
  if (Math.max(...kept) > mostMib) problems.push(`the heap keeps ${Math.max(...kept)} MiB`);
  if (ms >= growthMs && late > early + allowedMib)
    problems.push(`the heap grows from ${early} to ${late} MiB`);
  return {
    ...outcome,
    problems,
    note: `the heap keeps ${kept.join(', ')} MiB in ${windows} parts of ${Math.round(ms / 1000)} s`,
  };
}

let heapRuns = 0;

/** The smallest size of the heap in each window, in MiB: nearest to what is kept, since collections come often in a small heap. */
function keptByWindow(text) {
  const sizes = text.trim().split('\n').filter(Boolean).map(Number);
  if (sizes.length < windows) return [];
  return Array.from({ length: windows }, (_, n) => {
    const part = sizes.slice(
      Math.floor((n * sizes.length) / windows),
      Math.floor(((n + 1) * sizes.length) / windows),
    );
    return Math.round(Math.min(...part) / 2 ** 20);
  });
}
