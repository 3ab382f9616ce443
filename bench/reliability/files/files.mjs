// Files mutated by bits, lengths and pieces, half of the files with checksums get valid ones again, given to every loader. Each
// is refused cleanly or answers as it should; nothing crashes or hangs.
import { fork } from 'node:child_process';
import { accessSync, constants, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { countsText } from '../report.mjs';
import { menderProgram } from './mender.mjs';

const stuckMs = 30_000;
const chunk = 5000;
/** Number of crashes after which a loader is not tried further. */
const maxCrashes = 20;

export const files = {
  name: 'files',
  what: 'mutated files for every loader',
  aim: 1_000_000,
  short: { count: 2600, minutes: 0.35 },
  long: { count: 1_000_000, minutes: 30 },
  async run({ folder: given, seed, count, until, say }) {
    const folder = mkdtempSync(join(memoryFolder(given), 'files-'));
    let mender = '';
    try {
      mender = menderProgram();
    } catch (error) {
      // Only a missing compiler is a reason to try less.
      if (error.code !== 'ENOENT' || error.syscall?.startsWith('spawn') !== true) throw error;
      say(`checksums are not mended: ${error.message.split('\n')[0]}`);
    }
    try {
      const task = { folder, seed, mender, until, say };
      const { messages, printed } = await runWorker(task, '', 0, 0);
      const [loaders] = messages;
      if (loaders === undefined) throw new Error(`the loaders do not load what is whole: ${printed}`);
      const weights = loaders.reduce((sum, { weight }) => sum + weight, 0);
      const outcomes = [];
      for (const [n, { name, weight }] of loaders.entries()) {
        // Each has its share of the time that is left, and none of it is lost.
        const own = Date.now() + (until - Date.now()) / (loaders.length - n);
        const share = Math.max(20, Math.round((count * weight) / weights));
        outcomes.push(await runLoader({ ...task, until: own }, name, share));
      }
      return outcomes;
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

async function runLoader(task, name, count) {
  const outcome = { case: name, unit: 'files', tried: 0, crashes: 0, hangs: 0, problems: [] };
  const sums = { refused: 0, same: 0, other: 0, mended: 0 };
  // However busy the machine is, every loader is tried.
  const goesOn = (from) => from === 0 || Date.now() < task.until;
  for (let from = 0; from < count && goesOn(from) && outcome.crashes < maxCrashes; ) {
    const to = Math.min(count, from + chunk);
    const { messages, signal, code, hung, printed } = await runWorker(task, name, from, to);
    const [counts] = messages;
    if (counts) {
      outcome.tried += counts.tried;
      for (const key of Object.keys(sums)) sums[key] += counts[key];
      outcome.problems.push(...counts.problems.map(({ case: n, what }) => `case ${n}: ${what}`));
      from = to;
      continue;
    }
    const at = Number(readFileSync(join(task.folder, 'work', 'case'), 'utf8'));
    outcome.tried += at - from + 1;
    if (hung) outcome.hangs++;
    else outcome.crashes++;
    outcome.problems.push(
      `case ${at}: ${hung ? 'hangs' : `ends the process with ${signal ?? code}: ${printed.slice(-300)}`}`,
    );
    from = at + 1;
  }
  const { refused, same, other, mended } = sums;
  outcome.counts = {
    refused,
    'answered as before': same,
    otherwise: other,
    'with mended checksums': mended,
  };
  task.say(`${name}: ${outcome.tried} files, ${countsText(outcome.counts)}`);
  return outcome;
}

/** Runs a range of cases in a process of its own, which is ended if it makes no progress. */
function runWorker({ folder, seed, mender }, name, from, to) {
  const work = join(folder, 'work');
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  const args = [work, String(seed), name, String(from), String(to), mender];
  const env = { ...process.env, LOREKEEP_CACHE: join(work, 'cache') };
  const child = fork(join(import.meta.dirname, 'worker.mjs'), args, {
    env,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const messages = [];
  let [printed, hung, last] = ['', false, ''];
  child.on('message', (message) => messages.push(message));
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (text) => {
      printed = (printed + text).slice(-2000);
    });
  }
  const watching = setInterval(() => {
    const at = caseOf(work);
    hung = at === last && messages.length === 0;
    last = at;
    if (hung) child.kill('SIGKILL');
  }, stuckMs);
  return new Promise((done) => {
    child.once('close', (code, signal) => {
      clearInterval(watching);
      done({ messages, code, signal, hung, printed });
    });
  });
}

function caseOf(work) {
  try {
    return readFileSync(join(work, 'case'), 'utf8');
  } catch {
    return '';
  }
}

/** A folder in memory where there is one: a million files need no disk. */
function memoryFolder(otherwise) {
  try {
    accessSync('/dev/shm', constants.W_OK);
    return '/dev/shm';
  } catch {
    mkdirSync(otherwise, { recursive: true });
    return otherwise;
  }
}
