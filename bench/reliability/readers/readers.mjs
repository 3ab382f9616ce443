// The worst content for each reader of text from outside, found by search, at the limit of its field. No piece of work may keep a thread
// that others need, and the time per character may not grow with the text.
import { fork } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

/** A reader that is not done after its share and this time hangs, in ms. */
const graceMs = 120_000;

export const readers = {
  name: 'readers',
  what: 'the slowest texts that a search finds for each reader',
  aim: 1_000_000,
  short: { count: 0, minutes: 0.7 },
  long: { count: 0, minutes: 20 },
  async run({ folder, seed, until, short, cases, say }) {
    const { names, problems = [] } = await worker(folder, ['', seed, 0, short], 0);
    if (names === undefined) throw new Error(problems.join());
    const chosen = names.filter((name) => name.includes(cases));
    const share = Math.max(200, Math.round((until - Date.now()) / chosen.length / 2));
    const outcomes = [];
    for (const name of chosen) {
      const found = await worker(folder, [name, seed, share, short], share);
      outcomes.push({ case: name, unit: 'texts', ...found });
      say(`${name}: ${found.note}${found.problems.map((problem) => `\n  ${problem}`).join('')}`);
    }
    return outcomes;
  },
};

/** Runs one reader in a process of its own, which is ended if it hangs. */
function worker(folder, args, share) {
  const work = join(folder, 'work');
  mkdirSync(work, { recursive: true });
  const env = { ...process.env, LOREKEEP_CACHE: join(work, 'cache') };
  const child = fork(join(import.meta.dirname, 'worker.mjs'), [work, ...args.map(String)], {
    env,
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let [message, printed, hung] = [undefined, '', false];
  child.on('message', (sent) => {
    if (sent.at === undefined) message = { ...message, ...sent };
    else message = { at: sent.at };
  });
  child.stderr.on('data', (text) => {
    printed = (printed + text).slice(-1000);
  });
  const timer = setTimeout(() => {
    hung = true;
    child.kill('SIGKILL');
  }, share + graceMs);
  return new Promise((done) => {
    child.once('close', (code, signal) => {
      clearTimeout(timer);
      if (message?.note !== undefined || message?.names !== undefined) done(message);
      else {
        const how = hung ? 'hangs' : `ends the process with ${signal ?? code}: ${printed}`;
        const problems = [`${how}; text: ${JSON.stringify(message?.at ?? '')}`];
        done({ tried: 1, problems, note: how.split('\n')[0], hangs: Number(hung), crashes: Number(!hung) });
      }
    });
  });
}
