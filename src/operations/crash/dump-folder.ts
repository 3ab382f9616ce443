import { stateFolder } from '../../base/files/data-folder.js';
import { homeFolder } from '../../base/files/home.js';
import type { ServerConfig } from '../../config/schema.js';

export type CrashConfig = Pick<ServerConfig, 'crash_dump' | 'logs_dir'>;

/** The folder of the crash dumps: `crash_dump.dir`, else `logs_dir`, else the data folder, which is the package's own in a checkout. */
export function dumpFolder({ crash_dump: { dir }, logs_dir }: CrashConfig): string {
  return dir || logs_dir || (stateFolder() ?? homeFolder);
}
