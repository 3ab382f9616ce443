import type { Log } from '../log/log.js';

/** Logs SIGUSR1 from now on, once there is a log. */
export function logOtherSignals(): (log: Log) => void {
  let known: Log | undefined;
  try {
    process.on('SIGUSR1', () =>
      known?.info({ signal: 'SIGUSR1' }, 'SIGUSR1 has no effect: no debugger is opened'),
    );
  } catch {
    // This system has no such signal.
  }
  return (log) => {
    known = log;
  };
}
