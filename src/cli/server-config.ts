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
  const flags = { '--config': path };
  return loadConfig(flags, environment, configHere(flags, environment));
}

/** Returns server-config.json of the current folder, if nothing names a config and the default place has none. */
export function configHere(flags: FlagValues, environment: NodeJS.ProcessEnv): string | undefined {
  if (configPath(flags, environment) !== undefined || existsSync(defaultConfigFile)) return undefined;
  const here = resolve('server-config.json');
  const isFile = statSync(here, { throwIfNoEntry: false })?.isFile() === true;
  return isFile ? here : undefined;
}
