// Runs kinds one after the other. A result is {kind, aim, seed, minutes, outcomes}.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { kinds } from './kinds.mjs';

const absent = { tried: 0, crashes: 0, hangs: 0, outside: 0, starved: 0, problems: [] };

/** @param count, minutes bounds of each kind; 0: its own. @param cases text in the names of the attacks that run */
export async function runKinds(
  names,
  { folder, seed, short = false, count = 0, minutes = 0, cases = '', say },
) {
  const results = [];
  for (const { name, what, aim, run, ...bounds } of kinds.filter((kind) => names.includes(kind.name))) {
    const own = short ? bounds.short : bounds.long;
    const limit = (minutes || own.minutes) * 60_000;
    say(`${name}: ${what}; seed ${seed}`);
    const begin = Date.now();
    const work = join(folder, name);
    mkdirSync(work, { recursive: true });
    const outcomes = await run({
      folder: work,
      seed,
      count: count || own.count,
      until: begin + limit,
      short,
      cases,
      say,
    });
    results.push({
      kind: name,
      aim,
      seed,
      minutes: (Date.now() - begin) / 60_000,
      outcomes: outcomes.map(complete),
    });
  }
  return results;
}

function complete(outcome) {
  const whole = { ...absent, ...outcome };
  const known = whole.crashes + whole.hangs + whole.outside + whole.starved;
  return { ...whole, wrong: Math.max(0, whole.problems.length - known) };
}
