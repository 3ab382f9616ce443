import { dirname } from 'node:path';
import type { LoadedConfig } from '../config/load.js';
import { orStartupError } from '../config/startup-error.js';
import { foundConfigRefusal, PostgresConnections } from '../knowledge/postgres/connections.js';

/** The databases that a server config declares. @throws StartupError for settings that contradict each other */
export function connectionsOf({
  config,
  place,
  configIsFound,
}: Pick<LoadedConfig, 'config' | 'place' | 'configIsFound'>): Promise<PostgresConnections> {
  const refusal = configIsFound ? foundConfigRefusal : undefined;
  const make = async () => new PostgresConnections(config.connections, { folder: dirname(place), refusal });
  return orStartupError(make());
}
