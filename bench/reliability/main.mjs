// The reliability campaign: makes trouble of every kind, and counts what went wrong.
//
//   node bench/reliability/main.mjs [--kinds kills,files] [--short] [--seed 1] [--count N] [--minutes M]
//     [--cases TEXT] [--publish | --add]
//
// --count and --minutes bound each kind; 0 is the kind's own (kinds.mjs). --short is what `npm test` runs, in some two minutes. --publish
// puts the results into docs/measurements/reliability.md, in place of earlier ones of the same kinds; --add adds them to those, for runs in parts with
// other seeds. `npm run bench -- --only reliability` runs all kinds. --cases, for kills, attacks, heap or readers alone, picks those whose name contains the
// text; only kills may be published then, by --add. The exit status is 1 when anything went wrong. What is tried follows from the seed; when it happens does not.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OptionError } from '../harness/command-line.mjs';
import { runTrial } from '../harness/trial.mjs';
import { kindNames } from './kinds.mjs';
import { publish } from './publish.mjs';
import { campaignTable } from './report.mjs';
import { runKinds } from './run.mjs';

const options = {
  kinds: '',
  short: false,
  seed: 1,
  count: 0,
  minutes: 0,
  cases: '',
  publish: false,
  add: false,
};

await runTrial('reliability', options, async ({ kinds, publish: publishing, add, ...values }) => {
  const chosen = kinds === '' ? kindNames : kinds.split(',');
  const unknown = chosen.find((name) => !kindNames.includes(name));
  if (unknown !== undefined) throw new OptionError(`--kinds ${unknown}: there are ${kindNames.join(', ')}`);
  if (values.cases !== '' && !picks(kinds, publishing, add))
    throw new OptionError(
      '--cases: give --kinds kills, attacks, heap or readers with it, and neither --publish nor, but for kills, --add',
    );
  const folder = mkdtempSync(join(tmpdir(), 'lorekeep-reliability-'));
  try {
    const results = await runKinds(chosen, { ...values, folder, say: (line) => console.log(line) });
    if (publishing || add) publish(results, { add });
    const failed = results.flatMap(({ kind, outcomes }) =>
      outcomes.flatMap(({ case: name, problems }) =>
        problems.map((reason) => ({ name: `${kind}, ${name}`, reason })),
      ),
    );
    return { data: `seed ${values.seed}`, tables: [campaignTable(results)], failed, detail: { results } };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

/** Whether single cases of these kinds may run alone: the published table of the others must be complete. */
function picks(kinds, publishing, add) {
  return !publishing && (kinds === 'kills' || (['attacks', 'heap', 'readers'].includes(kinds) && !add));
}
