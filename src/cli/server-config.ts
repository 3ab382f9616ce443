import { type LoadedConfig, loadConfig } from '../config/load.js';

/**
 * The config that `lorekeep serve` would run with: of `path`, else of where LOREKEEP_CONFIG says. A variable of the
 * environment beats the file. @throws StartupError
 */
export function findConfig(
  path: string | undefined,
  environment: NodeJS.ProcessEnv = process.env,
): Promise<LoadedConfig> {
  return loadConfig({ '--config': path }, environment);
}
