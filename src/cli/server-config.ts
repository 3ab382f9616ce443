import { type LoadedConfig, loadConfig } from '../config/load.js';

/**
 * The config that `lorekeep serve` would use: from `path`, otherwise from LOREKEEP_CONFIG. Environment variables override
 * the file. @throws StartupError
 */
export function findConfig(
  path: string | undefined,
  environment: NodeJS.ProcessEnv = process.env,
): Promise<LoadedConfig> {
  return loadConfig({ '--config': path }, environment);
}
