// `npm run bench`: runs every trial in a process of its own, one after the other, with a time limit; prints their tables, writes
// bench/results/suite.json and draws the curves. Exit status 1 when a trial, or a contestant in one, failed or ran out of time; 2 for a
// wrong command line; 130 after Ctrl-C.
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { cached, dataFolder, root } from '../harness/cache.mjs';
import { load, machine, versions } from '../harness/machine.mjs';
import { terminalTable } from '../harness/table.mjs';
import { resultsFolder } from '../harness/trial.mjs';
import { readOptions, UsageError, usage } from './options.mjs';
import { Progress, time } from './progress.mjs';
import { summaryTable } from './summary.mjs';
import { TrialProcess } from './trial-process.mjs';
import { presets, trials } from './trials.mjs';

const interrupted = 130;
let running;

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    running?.kill();
    process.stderr.write('\nbench: stopped\n');
    process.exit(interrupted);
  });
}

try {
  const options = readOptions(process.argv.slice(2));
  if (options.help) process.stdout.write(usage);
  else if (options.list) list();
  else process.exitCode = await runAll(options);
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  process.stderr.write(`bench: ${error.message}\n`);
  process.exitCode = 2;
}

function list() {
  const columns = [
    { key: 'name', label: 'trial' },
    { key: 'full', label: 'full' },
    { key: 'quick', label: 'quick' },
    { key: 'what', label: 'what' },
  ];
  const rows = trials.map(({ name, what, full, quick }) => ({
    name,
    what,
    full: time(full.minutes),
    quick: time(quick.minutes),
  }));
  console.log(terminalTable({ title: 'Trials, and about how long they take on two cores', columns, rows }));
}

async function runAll(options) {
  if (!existsSync(join(root, 'dist', 'lib', 'index.js')))
    throw new UsageError('dist/ is not there: run `npm run build` first');
  const run = {
    preset: options.preset,
    date: new Date().toISOString(),
    machine: machine(),
    versions: versions(),
  };
  introduce(run, options);
  const chosen = trials.filter(({ name }) => options.names.includes(name));
  const progress = new Progress(chosen, options.preset, options.verbose);
  const records = [];
  removeTemporary(); // of a run that was stopped
  for (const trial of chosen) records.push(await runTrial(trial, run, progress));
  removeTemporary();
  console.log(`\n${terminalTable(summaryTable(records))}\n`);
  const { drawCharts } = await import('../charts/files.mjs'); // --list is quicker without
  const { publish } = await import('./publish.mjs');
  mkdirSync(resultsFolder, { recursive: true });
  const file = join(resultsFolder, 'suite.json');
  writeFileSync(file, `${JSON.stringify({ ...run, trials: records }, undefined, 1)}\n`);
  const written = [file, ...drawCharts(records, join(resultsFolder, 'curves'))];
  if (options.publish) written.push(...publish(records));
  for (const path of written) console.log(`wrote ${relative(root, path)}`);
  if (!options.publish)
    console.log('docs/measurements/ is left as it is: a full run of all trials, or --publish, writes it');
  return records.every(({ status }) => status === 'ok') ? 0 : 1;
}

/** Indexes that the trials of one run share, and what a trial that was ended could not remove. */
function removeTemporary() {
  for (const name of ['indexes', 'open']) rmSync(cached(name), { recursive: true, force: true });
}

function introduce({ machine: on, versions: { lorekeep, peers } }, { preset }) {
  const installed = Object.entries(peers).map(([name, version]) => `${name} ${version ?? '(not installed)'}`);
  console.log(`lorekeep ${lorekeep}, ${preset === presets.quick ? 'quick sizes' : 'full sizes'}`);
  console.log(`${on.cores} x ${on.cpu}, ${on.memoryGiB} GiB, ${on.system}, Node ${on.node}, load ${load()}`);
  console.log(`peers: ${installed.join(', ')}`);
  console.log(
    `data: ${existsSync(dataFolder) ? relative(root, dataFolder) : 'generated (LOREKEEP_DATA is not there)'}`,
  );
  if (load() > on.cores / 2) console.log('The machine is busy: compare ratios and CPU times, not times.');
}

async function runTrial(trial, { preset, ...run }, progress) {
  const { args, limit } = trial[preset];
  progress.begin();
  const [begin, loadBefore] = [performance.now(), load()];
  running = new TrialProcess(trial.program, args, limit, progress.say);
  const { status, reason, result = {} } = await running.finished();
  running = undefined;
  const minutes = (performance.now() - begin) / 60_000;
  progress.end(minutes);
  if (result.data) console.log(`\n${trial.name}: ${result.data}`);
  for (const table of result.tables ?? []) console.log(`\n${terminalTable(table)}`);
  if (reason) console.log(`\n${trial.name}: ${status}, ${reason}`);
  for (const { name, reason: why } of result.leftOut ?? []) console.log(`left out: ${name}, ${why}`);
  for (const { name, reason: why } of result.failed ?? []) console.log(`failed: ${name}, ${why}`);
  const facts = { name: trial.name, status, reason, preset, args, minutes, load: [loadBefore, load()] };
  return { ...facts, ...run, ...result };
}
