// Loaded into a server with --import: writes the longest delays of its event loop, in ms, since the last time it was asked by SIGUSR2, into
// the file that LOREKEEP_STALLS names. `stall`: the longest one; `own`: the longest one without the time in which the thread was ready to run
// and other programs had the processors (Linux only).
import { readFileSync, renameSync, writeFileSync } from 'node:fs';

const interval = 5;
const statistics = `/proc/self/task/${process.pid}/schedstat`;
let longest = { stall: 0, own: 0 };
let before = { time: performance.now(), waited: waited() };

setInterval(() => {
  const now = { time: performance.now(), waited: waited() };
  const stall = now.time - before.time - interval;
  longest = {
    stall: Math.max(longest.stall, stall),
    own: Math.max(longest.own, stall - (now.waited - before.waited)),
  };
  before = now;
}, interval).unref();

process.on('SIGUSR2', () => {
  const file = process.env.LOREKEEP_STALLS;
  writeFileSync(`${file}.new`, JSON.stringify(longest));
  renameSync(`${file}.new`, file);
  longest = { stall: 0, own: 0 };
});

/** The time in ms that this thread has waited for a processor. */
function waited() {
  try {
    return Number(readFileSync(statistics, 'utf8').split(' ')[1]) / 1e6;
  } catch {
    return 0;
  }
}
