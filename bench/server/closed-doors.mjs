// What the HTTP doors cost a server whose config does not open them: beside a copy of the build that lacks their code altogether.
// The copy runs twice in each round, as a control, and a server with open doors once. Processor time is that of all threads, from
// /proc (Linux); memory is without the pages of files.
//
//   node bench/server/closed-doors.mjs [--rounds 20]
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../harness/cache.mjs';
import { commandLine } from '../harness/command-line.mjs';
import { startServer, threadsMs, wait } from './server-process.mjs';

const { values: options } = commandLine({ options: { rounds: { type: 'string', default: '20' } } });
const rounds = Number(options.rounds);

/** Code that only the doors run. */
const doorCode = [
  'src/doors',
  'src/server/door-host.js',
  'src/server/door-client.js',
  'src/protocol/frame-stream.js',
];

const entries = {
  lorekeep: 'lib/index.js',
  client: 'src/client/index.js',
  'knowledge-base': 'src/knowledge/index.js',
};

const rotated = (names, by) => names.map((_, index) => names[(index + by) % names.length]);

const folder = mkdtempSync(join(tmpdir(), 'lorekeep-closed-doors-'));
try {
  const without = join(folder, 'without');
  copyBuild(without, doorCode);
  // Copied, too, so that both lie equally in the caches.
  const withDoors = join(folder, 'with');
  copyBuild(withDoors, []);
  const contestants = {
    without: { build: without },
    closed: { build: withDoors },
    control: { build: without },
    open: { build: withDoors, settings: { http: { enabled: true, port: 0 } } },
  };
  const found = { without: [], closed: [], control: [], open: [] };
  for (let round = 0; round < rounds; round++) {
    // Each goes first in turn.
    const names = rotated(Object.keys(contestants), round);
    for (const name of names) {
      const { build, settings } = contestants[name];
      const one = await startOf(build, settings);
      if (name !== 'open')
        for (const [entry, file] of Object.entries(entries))
          Object.assign(one, importOf(`${entry}`, join(build, 'dist', file)));
      found[name].push(one);
    }
    process.stderr.write(`round ${round + 1} of ${rounds}\n`);
  }
  report(found);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function copyBuild(target, left) {
  mkdirSync(target);
  cpSync(join(root, 'dist'), join(target, 'dist'), { recursive: true });
  for (const path of left) rmSync(join(target, 'dist', path), { recursive: true });
  writeFileSync(join(target, 'package.json'), readFileSync(join(root, 'package.json')));
  for (const name of ['build', 'data', 'node_modules', 'native'])
    symlinkSync(join(root, name), join(target, name));
}

/** Starts a server: until it listens, and its memory a second later. */
async function startOf(build, settings) {
  const own = mkdtempSync(join(folder, 'server-'));
  const begin = performance.now();
  const server = await startServer(own, settings, [], { build });
  const ms = performance.now() - begin;
  const processor = threadsMs(server.pid);
  await wait(1000);
  const { anonymous } = server.memory();
  await server.stop();
  rmSync(own, { recursive: true });
  return { 'start, processor ms': processor, 'start, ms': ms, 'memory, MiB': anonymous / 1024 };
}

/** Imports a module in a process of its own. */
function importOf(name, path) {
  const program = `const begin = process.cpuUsage();
    await import(${JSON.stringify(path)});
    const { user, system } = process.cpuUsage(begin);
    console.log((user + system) / 1000, process.memoryUsage().rss / 1048576);`;
  const printed = execFileSync(process.execPath, ['--input-type=module', '-e', program], {
    encoding: 'utf8',
  });
  const [ms, mebibytes] = printed.trim().split(' ').map(Number);
  return { [`import ${name}, processor ms`]: ms, [`import ${name}, MiB`]: mebibytes };
}

function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Prints medians, and the medians of the differences within rounds. */
function report({ without, closed, control, open }) {
  const shown = (value) => (value === undefined ? '' : value.toFixed(1));
  const difference = (key, some) =>
    some[0][key] === undefined ? undefined : median(some.map((one, round) => one[key] - without[round][key]));
  const of = (key, some) => (some[0][key] === undefined ? undefined : median(some.map((one) => one[key])));
  console.log('| | without the code | closed | difference | control | open |');
  console.log('|---|--:|--:|--:|--:|--:|');
  for (const key of Object.keys(closed[0])) {
    const cells = [
      of(key, without),
      of(key, closed),
      difference(key, closed),
      difference(key, control),
      of(key, open),
    ];
    console.log(`| ${key} | ${cells.map(shown).join(' | ')} |`);
  }
}
