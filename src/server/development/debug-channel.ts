import { scheduler } from '../../../lib/internal.js';
import { DebugChannel } from '../../operations/debug/channel.js';
import type { Connection } from '../connection.js';
import type { Services } from '../services.js';

/** Opens the channel of debug commands. */
export function openDebugChannel(
  services: Omit<Services, 'debug'>,
  connections: ReadonlySet<Connection>,
): DebugChannel {
  const { log, languageModels, files, memory } = services;
  const reports = services.throttle.join(false);
  log.warn('debug commands are on: every client with a session can inspect, throttle and crash this server');
  return new DebugChannel({
    log,
    scheduler: () => scheduler.stats(),
    languageModels: () => languageModels.states(),
    storages: () => files.cache.entries(),
    budgets: () => ({
      limits: memory.limits,
      server: memory.ledger.status,
      kinds: memory.ledger.byKind,
      clients: [...connections].map(({ address, budget: memory }) => ({ address, memory })),
    }),
    evict: () => files.cache.evictIdle(),
    throttle: (level) => reports.report(level),
  });
}
