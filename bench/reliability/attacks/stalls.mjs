// Loaded into a server with --import: writes the longest delay of its event loop, in ms, since the last time it was asked by SIGUSR2, into
// the file that LOREKEEP_STALLS names.
import { writeFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';

const resolution = 5;
const delays = monitorEventLoopDelay({ resolution });
delays.enable();
process.on('SIGUSR2', () => {
  writeFileSync(process.env.LOREKEEP_STALLS, String(Math.max(0, delays.max / 1e6 - resolution)));
  delays.reset();
});
