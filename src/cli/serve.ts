import type { FlagValues } from '../config/flags.js';
import { loadConfig } from '../config/load.js';
import { createLog } from '../log/log.js';
import { LorekeepServer } from '../server/server.js';
import { onStopSignal } from './stop-signal.js';

/** Starts the server and resolves; a signal stops it later. @throws StartupError */
export async function serve(flags: FlagValues): Promise<void> {
  const { config, file, warnings, withoutEffect } = await loadConfig(flags, process.env);
  const log = createLog(config.log_level);
  for (const warning of warnings) log.warn(warning);
  if (withoutEffect !== undefined) log.warn(withoutEffect);
  log.info({ config: file ?? 'built-in defaults' }, 'starting');
  const server = await LorekeepServer.start({ config, log });
  onStopSignal(async (signal) => {
    log.info({ signal }, 'stopping');
    await server.close();
  });
}
