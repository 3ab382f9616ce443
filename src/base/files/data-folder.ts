import { isAbsolute, join, resolve } from 'node:path';
import { userHome } from '../../../lib/basics.js';
import { isInstalled } from './home.js';

/** Returns the folder for files that the user made and cannot get again: LOREKEEP_STATE (`--data-dir`), else the platform's. */
export function dataFolder(environment: NodeJS.ProcessEnv = process.env): string {
  const { LOREKEEP_STATE, XDG_DATA_HOME, LOCALAPPDATA } = environment;
  if (LOREKEEP_STATE) return resolve(LOREKEEP_STATE);
  if (process.platform === 'win32')
    return join(LOCALAPPDATA || join(userHome(), 'AppData', 'Local'), 'lorekeep');
  if (process.platform === 'darwin') return join(userHome(), 'Library', 'Application Support', 'lorekeep');
  // Its specification says to ignore a relative path.
  const given = XDG_DATA_HOME && isAbsolute(XDG_DATA_HOME) ? XDG_DATA_HOME : undefined;
  return join(given ?? join(userHome(), '.local', 'share'), 'lorekeep');
}

/**
 * Returns the folder for what the server writes where no config names a place: the data folder; undefined in a checkout whose
 * user chose none, which keeps these files in itself, next to the program.
 */
export function stateFolder(environment: NodeJS.ProcessEnv = process.env): string | undefined {
  return environment.LOREKEEP_STATE || isInstalled ? dataFolder(environment) : undefined;
}

/** Why dataFolder() is where it is. */
export function whyDataFolder(environment: NodeJS.ProcessEnv = process.env): string {
  return environment.LOREKEEP_STATE ? '--data-dir or LOREKEEP_STATE' : "the platform's data folder";
}
