import { close, url } from 'node:inspector';
import type { Log } from '../log/log.js';

/** Signals that end or change a process unless it listens, and what the log says of them. */
const ignored = {
  // Node.js would open a debugger on a port that every user of the machine can connect to.
  SIGUSR1: 'SIGUSR1 has no effect: no debugger is opened',
} as const;

/** Makes SIGUSR1 harmless from now on; the result is told the log once there is one. */
export function ignoreOtherSignals(): (log: Log) => void {
  let known: Log | undefined;
  for (const [signal, meaning] of Object.entries(ignored)) {
    try {
      process.on(signal as NodeJS.Signals, () => known?.info({ signal }, meaning));
    } catch {
      // This system has no such signal.
    }
  }
  closeDebugger();
  return (log) => {
    known = log;
  };
}

/** A signal before this may have opened a debugger. One that the operator asked for stays. */
function closeDebugger(): void {
  const asked = [...process.execArgv, process.env.NODE_OPTIONS].some((flag) => flag?.includes('--inspect'));
  if (!asked && url() !== undefined) close();
}
