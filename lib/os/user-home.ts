import { homedir, tmpdir, userInfo } from 'node:os';

/** Returns the user's home folder, else the folder of temporary files: HOME may be empty, and containers have unknown users. */
export function userHome(): string {
  try {
    return homedir() || userInfo().homedir || tmpdir();
  } catch {
    return tmpdir();
  }
}
