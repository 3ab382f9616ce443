// `npm run profile -- TRIAL` in bench/: where the time of a trial goes. It prepares what the trial measures, repeats it in a process that
// does nothing else, lets `perf` (Linux; Debian's linux-perf) sample that by CPU time, and prints the functions that took the most.
//
//   node profile/main.mjs dense|batch|filtered|build|open-index|lexical|hybrid|embedding|server [--rows N] [--seconds 5] [--keep FILE]
//
// Sampling by the clock of the processor needs no hardware counters, so it works in virtual machines, too. --keep leaves perf's file for
// `perf report` and `perf annotate`. What is JavaScript, and where there is no perf: `node --cpu-prof --cpu-prof-dir=FOLDER
// profile/main.mjs TRIAL --loop`, which only repeats; the server writes a profile of its own there.
import { spawn, spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { cached } from '../harness/cache.mjs';
import { loops } from './loops.mjs';

const warmUpMs = 500;
const samplesPerSecond = 999;
const minShare = 1; // per cent
const widest = 130;

const { name, rows, seconds, keep, loop } = readOptions();
const { step, pid = process.pid } = await loops[name]({ rows });
let steps = 0;
await repeat(performance.now() + warmUpMs);
const until = performance.now() + seconds * 1000;
if (loop) console.log(`${name}: ${await repeat(until)} steps of process ${pid} in ${seconds} s`);
else await profile();
process.exit(0);

async function repeat(end) {
  const first = steps;
  while (performance.now() < end) {
    await step();
    steps++;
  }
  return steps - first;
}

async function profile() {
  const file = keep ?? cached(`${name}-${process.pid}.perf`);
  const sampling = ['-q', '-e', 'cpu-clock', '-F', samplesPerSecond, '-g', '-o', file, '-p', pid];
  const perf = spawn('perf', ['record', ...sampling, '--', 'sleep', seconds].map(String), {
    stdio: 'inherit',
  });
  const ended = new Promise((resolve) => perf.once('close', resolve));
  perf.once('error', ({ message }) => fail(`perf can't be run: ${message}`));
  const before = process.cpuUsage();
  const done = await repeat(until);
  const { user, system } = process.cpuUsage(before);
  if ((await ended) !== 0) fail('perf could not sample the process (see what it says above)');
  const micros = ((user + system) / done).toFixed(1);
  console.log(`${name}: ${done} steps in ${seconds} s, ${micros} µs of CPU time of this process each`);
  console.log(reportOf(file, 'dso'));
  console.log(reportOf(file, 'dso,symbol'));
  if (!keep) rmSync(file, { force: true });
}

function reportOf(file, keys) {
  const sorted = ['--no-children', '-g', 'none', '--sort', keys, '--percent-limit', minShare];
  const { stdout } = spawnSync('perf', ['report', '-i', file, ...sorted].map(String), { encoding: 'utf8' });
  const lines = stdout.split('\n').filter((line) => /^ +\d/.test(line));
  return lines.map((line) => line.trimEnd().slice(0, widest)).join('\n');
}

function fail(message) {
  process.stderr.write(`profile: ${message}\n`);
  process.exit(1);
}

function readOptions() {
  const known = Object.keys(loops).join(', ');
  const string = { type: 'string' };
  const options = { rows: string, seconds: string, keep: string, loop: { type: 'boolean' } };
  try {
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    if (positionals.length !== 1 || !Object.hasOwn(loops, positionals[0]))
      throw new Error(`one of ${known} is expected, not ${positionals.join(' ') || 'nothing'}`);
    return {
      ...values,
      name: positionals[0],
      rows: values.rows && number('rows', values.rows),
      seconds: number('seconds', values.seconds ?? '5'),
    };
  } catch (error) {
    return fail(error.message);
  }
}

function number(name, text) {
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new Error(`--${name} ${text}: a number above 0 is expected`);
  return Number(text);
}
