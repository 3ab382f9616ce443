import { homedir, tmpdir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';

/** Returns the folder for what the user made and would miss: LOREKEEP_STATE, else that of the platform. */
export function dataFolder(environment: NodeJS.ProcessEnv = process.env): string {
  const { LOREKEEP_STATE, XDG_DATA_HOME, LOCALAPPDATA } = environment;
  if (LOREKEEP_STATE) return resolve(LOREKEEP_STATE);
  if (process.platform === 'win32') return join(LOCALAPPDATA || join(home(), 'AppData', 'Local'), 'lorekeep');
  if (process.platform === 'darwin') return join(home(), 'Library', 'Application Support', 'lorekeep');
  // Its specification says to ignore a relative path.
  const given = XDG_DATA_HOME && isAbsolute(XDG_DATA_HOME) ? XDG_DATA_HOME : undefined;
  return join(given ?? join(home(), '.local', 'share'), 'lorekeep');
}

/** Returns the home folder, if any: in some containers the user is in no user database. */
function home(): string {
  try {
    return homedir();
  } catch {
    return tmpdir();
  }
}
