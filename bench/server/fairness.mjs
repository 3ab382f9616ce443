// The effect of attacks on another client: its pings and searches beside a bare echo server in the same run, and the longest stall of
// the server's event loop, for this build and for another one (`--before FOLDER`, built). The attacks come from the reliability campaign.
//
//   node bench/server/fairness.mjs [--before ../lorekeep-0.1] [--only pings] [--seconds 5] [--records 5000] [--rounds 1]
//
// Attackers, client, echo server and server share the machine. Builds alternate, and the median of the rounds counts.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { runTrial } from '../harness/trial.mjs';
import { runAttack } from '../reliability/attacks/attacks.mjs';
import { attackList } from '../reliability/attacks/list.mjs';
import { Sample } from '../reliability/sample.mjs';
import { percentile } from './server-process.mjs';

const options = { before: '', only: '', seconds: 5, records: 5000, rounds: 1, seed: 1 };
const columns = [
  { key: 'attack', label: 'attack' },
  { key: 'build', label: 'build' },
  { key: 'echo', label: 'echo p99 ms', digits: 1 },
  { key: 'pingP50', label: 'ping p50 ms', digits: 2 },
  { key: 'pingP99', label: 'ping p99 ms', digits: 1 },
  { key: 'searchP99', label: 'search p99 ms', digits: 1 },
  { key: 'stall', label: 'longest stall ms', digits: 0 },
  { key: 'own', label: 'of which not waiting for a processor', digits: 0 },
];

await runTrial('attacks', options, async ({ before, only, seconds, records, rounds, seed }) => {
  const folder = mkdtempSync(join(tmpdir(), 'lorekeep-fairness-'));
  const builds = before === '' ? { now: undefined } : { before: resolve(before), now: undefined };
  const rows = [];
  const failed = [];
  try {
    const samples = {};
    for (const name of Object.keys(builds)) {
      samples[name] = await new Sample(join(folder, name), { seed, records }).write();
      await samples[name].build();
    }
    for (const attack of attackList.filter(({ name }) => name.includes(only))) {
      const seen = Object.fromEntries(Object.keys(builds).map((name) => [name, []]));
      for (let round = 0; round < rounds; round++)
        for (const [name, build] of Object.entries(builds)) {
          const outcome = await runAttack(attack, samples[name], {
            ms: seconds * 1000,
            seed,
            settleMs: 0,
            build,
          });
          console.log(`${name}, ${attack.name}: ${outcome.note}`);
          seen[name].push(outcome.measured);
          if (name === 'now')
            failed.push(...outcome.problems.map((reason) => ({ name: attack.name, reason })));
        }
      for (const name of Object.keys(builds))
        rows.push({ attack: attack.name, build: name, ...medians(seen[name]) });
    }
    for (const sample of Object.values(samples)) await sample.close();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const data = `${seconds} s per attack and build, ${records} records of 12 words, seed ${seed}`;
  const title = 'A client beside attacks on the time of others';
  return { data, failed, tables: [{ id: 'attacks', title, columns, rows }] };
});

function medians(measured) {
  const median = (get) =>
    percentile(
      measured.map((each) => get(each) ?? Number.NaN),
      0.5,
    );
  return {
    echo: median(({ seen }) => seen.echoP99),
    pingP50: median(({ seen }) => seen.pingP50),
    pingP99: median(({ seen }) => seen.pingP99),
    searchP99: median(({ seen }) => seen.searchP99),
    stall: median(({ stall }) => stall),
    own: median(({ own }) => own),
  };
}
