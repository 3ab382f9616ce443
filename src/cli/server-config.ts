import { type LoadedConfig, loadConfig } from '../config/load.js';

/** The config that `lorekeep serve` would run with, from `path` or where LOREKEEP_CONFIG says. @throws StartupError */
export function findConfig(path: string | undefined): Promise<LoadedConfig> {
  return loadConfig({ '--config': path }, process.env);
}
