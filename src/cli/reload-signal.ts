import { switchOffAbsent } from '../config/edition.js';
import type { FlagValues } from '../config/flags.js';
import { loadConfig } from '../config/load.js';
import type { Log } from '../log/log.js';
import type { LorekeepServer } from '../server/server.js';
import { withConfigHere } from './server-config.js';

/** From now on SIGHUP rereads the config, once the server has started; before that it is only harmless. */
export function onReloadSignal(): (server: LorekeepServer, flags: FlagValues, log: Log) => void {
  let reload = async () => {};
  let last = Promise.resolve();
  try {
    // One after the other: the file may change between two signals.
    process.on('SIGHUP', () => {
      last = last.then(() => reload());
    });
  } catch {
    // This system has no such signal.
  }
  return (server, flags, log) => {
    reload = () => reread(server, flags, log);
  };
}

/** Never rejects: a config that cannot be used changes nothing. */
async function reread(server: LorekeepServer, flags: FlagValues, log: Log): Promise<void> {
  try {
    const next = await loadConfig(flags, withConfigHere(flags, process.env));
    for (const warning of [...next.warnings, ...switchOffAbsent(next.config)]) log.warn(warning);
    const { taken, needRestart } = await server.reload(next);
    log.info({ changed: taken.map(({ path }) => path), needRestart }, 'config reread');
  } catch (error) {
    const { message } = error as Error;
    log.error(`config not reread, so the server goes on with the one that it has: ${message}`);
  }
}
