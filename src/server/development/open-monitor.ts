import { isLoopback } from '../../operations/http/guard.js';
import type { Route } from '../../operations/http/local-server.js';
import type { OperatorShare } from '../../operations/http/operator-share.js';
import type { MonitorActions } from '../../operations/monitor/actions.js';
import { Monitor } from '../../operations/monitor/monitor.js';
import { fail } from '../../protocol/errors.js';
import type { Connection } from '../connection.js';
import type { OperationsOptions } from '../operations-options.js';
import { checkRight } from '../rights.js';
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
    actions: monitorActions(services),
  });
}

/** The right that an action of the page needs. */
const actionRight = 'files';

/** Actions need the access token, or a key with the right. Without any secret they are open to this machine, as the TCP port is. */
function monitorActions({ gate, files, residency }: Services): MonitorActions {
  const inUse = 'sessions or turns use it';
  return {
    get needSecret() {
      return gate.closesDoors;
    },
    admit: (address, secret) => {
      const what = 'actions of the monitor';
      if (!gate.closesDoors && !isLoopback(address))
        fail(2013, `${what}: other machines need a key; set access_token_file or http.keys_file`, {
          right: actionRight,
        });
      checkRight(gate.admit(address, secret).rights, actionRight, what);
    },
    closeStorage: async (name) => {
      if ((await files.cache.evictIdle(name)) > 0) return undefined;
      const isLoaded = files.cache.entries().some((entry) => entry.name === name);
      return isLoaded ? inUse : 'no storage of this name is loaded';
    },
    unloadModel: async (name) => {
      const done = await residency.unload(name);
      if (done) return undefined;
      return done === undefined ? 'no model of this name is in memory' : inUse;
    },
  };
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
