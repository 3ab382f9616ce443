import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { configPath, type FlagValues } from '../config/flags.js';
import { defaultConfigFile, type LoadedConfig, loadConfig } from '../config/load.js';

/**
 * The config that `lorekeep serve` would use: from `path`, otherwise from LOREKEEP_CONFIG, from the default place, or from the
 * current folder. Environment variables override the file. @throws StartupError
 */
export function findConfig(
  path: string | undefined,
  environment: NodeJS.ProcessEnv = process.env,
): Promise<LoadedConfig> {
  return loadConfig({ '--config': path }, withConfigHere({ '--config': path }, environment));
}

/** Adds server-config.json of the current folder to the environment, if nothing names a config and the default place has none. */
export function withConfigHere(flags: FlagValues, environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  if (configPath(flags, environment) !== undefined || existsSync(defaultConfigFile)) return environment;
  const here = resolve('server-config.json');
  const isFile = statSync(here, { throwIfNoEntry: false })?.isFile() === true;
  return isFile ? { ...environment, LOREKEEP_CONFIG: here } : environment;
}
