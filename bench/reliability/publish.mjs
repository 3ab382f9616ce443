// Puts results where people read them: docs/measurements/reliability.json, by kind the newest, and the summary in docs/measurements/reliability.md.
//
//   node bench/reliability/publish.mjs      the page again, from the file
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root } from '../harness/cache.mjs';
import { load, machine, versions } from '../harness/machine.mjs';
import { markdownTable } from '../harness/table.mjs';
import { kindNames } from './kinds.mjs';
import { summaryTable, sums } from './report.mjs';

const file = join(root, 'docs', 'measurements', 'reliability.json');
const page = join(root, 'docs', 'measurements', 'reliability.md');
const shownProblems = 3;

/** @param add whether the results are added to present ones of the same kind, from other seeds */
export function publish(results, { add = false } = {}) {
  const { lorekeep } = versions();
  const run = { date: new Date().toISOString().slice(0, 10), lorekeep, machine: machine(), load: load() };
  const known = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : [];
  const newest = new Map(known.map((result) => [result.kind, result]));
  for (const result of results) {
    const fresh = forPublication(result, run);
    const earlier = add ? newest.get(result.kind) : undefined;
    newest.set(result.kind, earlier ? sum(earlier, fresh) : fresh);
  }
  const all = kindNames.map((name) => newest.get(name)).filter(Boolean);
  writeFileSync(file, `${JSON.stringify(all, undefined, 1)}\n`);
  writePage(all);
}

/** Adds two results of one kind. A note, which is about one run, is left out of a sum. */
export function sum(earlier, fresh) {
  const outcomes = fresh.outcomes.map((outcome) => {
    const before = earlier.outcomes.find((other) => other.case === outcome.case);
    if (before === undefined) return outcome;
    const { note, counts, ...rest } = outcome;
    const problems = [...before.problems, ...outcome.problems].slice(0, shownProblems);
    const both = before.counts !== undefined && counts !== undefined;
    return {
      ...rest,
      ...added(before, outcome, sums),
      problems,
      ...(both && { counts: added(before.counts, counts, Object.keys(counts)) }),
    };
  });
  const minutes = Number((earlier.minutes + fresh.minutes).toFixed(1));
  return { ...fresh, outcomes, minutes, seed: `${earlier.seed}, ${fresh.seed}` };
}

const added = (a, b, keys) => Object.fromEntries(keys.map((key) => [key, (a[key] ?? 0) + b[key]]));

function forPublication({ outcomes, minutes, ...result }, run) {
  const short = outcomes.map(({ problems, ...outcome }) => ({
    ...outcome,
    problems: problems.slice(0, shownProblems),
  }));
  return { ...result, ...run, minutes: Number(minutes.toFixed(1)), outcomes: short };
}

function writePage(results) {
  const text = readFileSync(page, 'utf8');
  const content = `${markdownTable(summaryTable(results))}\n\n${results.map(lineOf).join('\n')}`;
  const place = /<!-- begin campaign -->[\s\S]*<!-- end campaign -->/;
  writeFileSync(
    page,
    text.replace(place, () => `<!-- begin campaign -->\n\n${content}\n\n<!-- end campaign -->`),
  );
}

function lineOf({ kind, seed, minutes, date, lorekeep, machine: on, load: busy, outcomes }) {
  const problems = outcomes.flatMap((outcome) =>
    outcome.problems.map((what) => `  - ${outcome.case}: ${plain(what)}`),
  );
  const head =
    `- ${kind}: \`node bench/reliability/main.mjs --kinds ${kind}\`, seed ${seed}, ${minutes} minutes, ${date}, lorekeep ${lorekeep}; ` +
    `${on.cores} cores of ${on.cpu}, ${on.memoryGiB} GiB, ${on.system}, Node.js ${on.node}, load ${busy}.`;
  return [head, ...problems].join('\n');
}

/** One line without what Markdown would read as its own. */
const plain = (text) =>
  text
    .replace(/\s+/g, ' ')
    .replace(/[<>|`*_[\]]/g, ' ')
    .slice(0, 160);

if (process.argv[1] === fileURLToPath(import.meta.url)) writePage(JSON.parse(readFileSync(file, 'utf8')));
