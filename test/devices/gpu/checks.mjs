// Checks of a GPU plugin, in order, each in a process of its own with a time limit: one that fails or hangs ends alone.
//
//   node test/devices/gpu/checks.mjs --backend cuda --stories FILE [--shapes FILE,...] [--small] [--shim FILE] [--out FILE] [--only NAME,...]
//     [--limit SECONDS] [--patience N] [--list]
//
// --stories is stories260K; --shapes are models of random weights, the largest last; --shim is shim.c, compiled. --small asks less of
// a software GPU, and nothing of its times. --out is given a line of JSON after each check: {check, status, seconds, found} or
// {..., reason}; the status is "passed", "failed", "late" or "left out". The exit status is 1 if one failed or was late. --limit is of
// all checks together; --patience multiplies the limits of each.
import { spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import * as device from './device.mjs';
import { LeftOut } from './found.mjs';
import * as memory from './memory.mjs';
import * as numbers from './numbers.mjs';
import * as requests from './requests.mjs';

/** Name, seconds that it may take, and what it does. */
export const checks = [
  ['the plugin loads', 40, device.loads],
  ['auto chooses it', 40, device.auto],
  ['doctor names the card', 60, device.doctor],
  ['greedy tokens are those of the CPU', 60, numbers.greedy],
  ['logits of random models', 120, numbers.logits],
  ['embeddings are those of the CPU', 60, numbers.embeddings],
  ['a schema and a grammar hold', 60, requests.constraints],
  ['a stop string ends a reply', 30, requests.stop],
  ['a prefix is shared, saved and loaded', 60, requests.prefix],
  ['a request parks for a better class', 60, requests.parking],
  ['a cancel ends within a step', 60, requests.cancel],
  ['no step takes 500 ms', 90, requests.steps],
  ['placement and offload_kqv', 60, memory.placement],
  ['the reserve of video memory stays free', 60, memory.reserve],
  ['video memory is given back within 1 s', 90, memory.giveBack],
  ['CUDA graphs are on', 60, device.graphs],
  ['a lost device fails its requests alone', 60, device.loss],
  ['two language models and an embedding model together', 60, numbers.together],
  ['100 sequences at once', 90, numbers.hundred],
  ['memory returns to the start', 60, memory.returns],
];

const graceMs = 2000;
/** Ends the check that runs. */
let endRunning = () => {};
const program = fileURLToPath(import.meta.url);

if (process.argv[1] === program) {
  if (process.send) await child();
  else await parent();
}

async function child() {
  const [index, options] = JSON.parse(process.argv[2]);
  let result;
  try {
    result = { status: 'passed', found: await checks[index][2](options) };
  } catch (error) {
    const status = error instanceof LeftOut ? 'left out' : 'failed';
    result = { status, reason: String(error?.message ?? error).slice(0, 2000), found: error?.found };
  }
  process.send(result, () => process.exit(0));
}

async function parent() {
  const { values: options } = parseArgs({
    options: {
      backend: { type: 'string', default: 'cuda' },
      stories: { type: 'string', default: '' },
      shapes: { type: 'string', default: '' },
      shim: { type: 'string' },
      out: { type: 'string' },
      only: { type: 'string' },
      limit: { type: 'string', default: '3600' },
      patience: { type: 'string', default: '1' },
      small: { type: 'boolean', default: false },
      list: { type: 'boolean', default: false },
    },
  });
  if (options.list) return console.log(checks.map(([name, limit]) => `${limit} s  ${name}`).join('\n'));
  const only = options.only?.split(',');
  const end = performance.now() + Number(options.limit) * 1000;
  let bad = 0;
  process.on('SIGTERM', () => {
    endRunning();
    process.exit(1);
  });
  for (const [index, [name, seconds]] of checks.entries()) {
    if (only !== undefined && !only.some((part) => name.includes(part))) continue;
    const begin = performance.now();
    const left = Math.min(seconds * Number(options.patience) * 1000, end - begin);
    const result =
      left < graceMs
        ? { status: 'late', reason: 'the checks before it took all the time' }
        : await runAlone(index, { ...options, shapes: options.shapes.split(',').filter(Boolean) }, left);
    if (result.status === 'failed' || result.status === 'late') bad++;
    const line = {
      check: name,
      backend: options.backend,
      ...result,
      seconds: (performance.now() - begin) / 1000,
    };
    console.log(
      `${result.status.padEnd(9)} ${line.seconds.toFixed(1).padStart(6)} s  ${name}${result.reason ? `: ${result.reason}` : ''}`,
    );
    if (options.out) appendFileSync(options.out, `${JSON.stringify(line)}\n`);
  }
  process.exitCode = bad > 0 ? 1 : 0;
}

/** A check in a process group, which is ended as a whole: a check may have started a server. */
function runAlone(index, options, limitMs) {
  return new Promise((resolve) => {
    let found;
    let late = false;
    const child = spawn(process.execPath, [program, JSON.stringify([index, options])], {
      detached: true,
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    const kill = () => {
      try {
        process.kill(-child.pid, 'SIGKILL');
      } catch {
        // It has ended.
      }
    };
    endRunning = kill;
    const timer = setTimeout(() => {
      late = true;
      kill();
    }, limitMs);
    child.on('message', (message) => {
      found = message;
    });
    child.once('exit', (code, signal) => {
      clearTimeout(timer);
      kill();
      const reason = late
        ? `not done in ${Math.round(limitMs / 1000)} s`
        : `its process ended with ${signal ?? code}`;
      resolve(found ?? { status: late ? 'late' : 'failed', reason });
    });
  });
}
