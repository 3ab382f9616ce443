import { switchOffAbsent } from '../config/edition.js';
import type { FlagValues } from '../config/flags.js';
import { loadConfig } from '../config/load.js';
import { StartupError } from '../config/startup-error.js';
import type { Log } from '../log/log.js';
import type { LorekeepServer } from '../server/server.js';
import { configHere } from './server-config.js';

/** Sources of a running server's config. `file`: the config that it read, if there was one. */
export interface Reloadable {
  server: LorekeepServer;
  flags: FlagValues;
  file: string | undefined;
  log: Log;
}

/** From now on SIGHUP rereads the config, once the server has started; before that it is only harmless. */
export function onReloadSignal(): (running: Reloadable) => void {
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
  return (running) => {
    reload = () => reread(running);
  };
}

/** Never rejects: a config that cannot be used changes nothing. */
async function reread(running: Reloadable): Promise<void> {
  const { server, flags, file, log } = running;
  try {
    const next = await loadConfig(flags, process.env, configHere(flags, process.env));
    // The defaults would open a server that the config had closed, for example with an access token.
    if (file !== undefined && next.file !== file)
      throw new StartupError(`${file}: the config file does not exist`);
    for (const warning of [...next.warnings, ...switchOffAbsent(next.config)]) log.warn(warning);
    const { taken, needRestart } = await server.reload(next);
    running.file = next.file;
    log.info({ changed: taken.map(({ path }) => path), needRestart }, 'config reread');
  } catch (error) {
    const { message } = error as Error;
    log.error(`config not reread; the server keeps its config: ${message}`);
  }
}
