import type { Route } from '../../operations/http/local-server.js';
import type { OperatorShare } from '../../operations/http/operator-share.js';
import { Monitor } from '../../operations/monitor/monitor.js';
import type { Connection } from '../connection.js';
import type { OperationsOptions } from '../operations-options.js';
import type { Services } from '../services.js';
import { memorySample, monitorState } from './monitor-state.js';

export interface MonitorParts extends OperationsOptions {
  services: Services;
  connections: ReadonlySet<Connection>;
  /** `/metrics`, `/health` and `/ready`. */
  routes: Readonly<Record<string, Route>>;
  share: OperatorShare;
}

/** Opens the monitor of a server. @throws StartupError */
export function openMonitor(parts: MonitorParts): Promise<Monitor> {
  const { config, configSources, log, logTail, services, connections, routes, share } = parts;
  return Monitor.open({
    config: config.monitor,
    userContent: config.include_interaction_in_diagnostics,
    log,
    logTail,
    routes,
    share,
    state: () => monitorState(services, connections, configSources),
    sample: () => memorySample(services),
    pin: async (storage) => {
      const pin = services.files.cache.loaded(storage);
      if (pin === undefined) throw new Error(`no loaded storage has the name ${storage}`);
      return pin;
    },
    holders: (id, signal) => holdersOf(services.files.cache, id, signal),
  });
}

/** Names of the loaded storages with a record of this id. */
async function holdersOf(
  cache: Services['files']['cache'],
  id: string,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const names: string[] = [];
  for (const { name } of cache.entries()) {
    await using pin = cache.loaded(name);
    if (await pin?.value.has(id, { signal })) names.push(name);
  }
  return names;
}
