// Loaded into a server with --import: writes the longest delays of its event loop, in ms, since the last time it was asked by SIGUSR2, into
// the file that LOREKEEP_STALLS names. `stall`: the longest one; `own`: the longest one without the time in which the thread was ready to run
// and other programs had the processors; `ran`: the longest time that the thread worked between two looks at its timers (both Linux only).
import { readFileSync, renameSync, writeFileSync } from 'node:fs';

const interval = 5;
const statistics = `/proc/self/task/${process.pid}/schedstat`;
let longest = { stall: 0, own: 0, ran: 0 };
let before = { time: performance.now(), ...thread() };

setInterval(() => {
  const now = { time: performance.now(), ...thread() };
  const stall = now.time - before.time - interval;
  longest = {
    stall: Math.max(longest.stall, stall),
    own: Math.max(longest.own, stall - (now.waited - before.waited)),
    ran: Math.max(longest.ran, now.ran - before.ran),
  };
  before = now;
}, interval).unref();

process.on('SIGUSR2', () => {
  const file = process.env.LOREKEEP_STALLS;
  writeFileSync(`${file}.new`, JSON.stringify(longest));
  renameSync(`${file}.new`, file);
  longest = { stall: 0, own: 0, ran: 0 };
});

/** The times in ms that this thread has run, and waited for a processor. */
function thread() {
  try {
    const [ran, waited] = readFileSync(statistics, 'utf8').split(' ').map(Number);
    return { ran: ran / 1e6, waited: waited / 1e6 };
  } catch {
    return { ran: 0, waited: 0 };
  }
}
