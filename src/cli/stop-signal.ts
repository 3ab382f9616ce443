import { interruptedStatus, stopSignals } from './exit-status.js';

/**
 * Runs `stop` on the first SIGINT or SIGTERM, then exits with status 0, or 1 when it failed. A second signal ends the
 * process at once, with status 128 + the signal's number. The only listener to these signals from now on.
 */
export function onStopSignal(stop: (signal: NodeJS.Signals) => Promise<void>): void {
  let stopping = false;
  for (const name of stopSignals) {
    // Those of lorekeep.cts, for a server that was still starting.
    process.removeAllListeners(name);
    process.on(name, () => {
      if (stopping) process.exit(interruptedStatus[name]);
      stopping = true;
      exitAfter(stop(name));
    });
  }
}

/** Exits with 0 after the server has stopped, or with 1 if stopping failed. */
export function exitAfter(stopped: Promise<void>): void {
  stopped.then(
    () => process.exit(0),
    (error) => {
      process.stderr.write(`lorekeep: ${error instanceof Error ? error.stack : String(error)}\n`);
      process.exit(1);
    },
  );
}
