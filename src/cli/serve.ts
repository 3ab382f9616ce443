import { loadConfig } from '../config/load.js';
import { createLog } from '../log/log.js';
import { LorekeepServer } from '../server/server.js';
import { onStopSignal } from './stop-signal.js';

export interface ServeOptions {
  port?: number | undefined;
  config?: string | undefined;
}

/** Starts the server and resolves; a signal stops it later. @throws StartupError */
export async function serve(options: ServeOptions): Promise<void> {
  const { config, file, warnings } = await loadConfig(options.config, { port: options.port });
  const log = createLog(config.log_level);
  for (const warning of warnings) log.warn(warning);
  log.info({ config: file ?? 'built-in defaults' }, 'starting');
  const server = await LorekeepServer.start({ config, log });
  onStopSignal(async (signal) => {
    log.info({ signal }, 'stopping');
    await server.close();
  });
}
