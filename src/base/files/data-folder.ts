import { isAbsolute, join, resolve } from 'node:path';
import { userHome } from '../../../lib/basics.js';

/** Returns the folder for files that the user made and cannot get again: LOREKEEP_STATE, else the platform's. */
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
