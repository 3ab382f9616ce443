import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../../../lib/basics.js';
import { installCrashHandler } from '../../../lib/internal.js';
import type { Log } from '../../log/log.js';
import { dumpName, makeRoom, ownDumps } from './dump-files.js';
import { type CrashConfig, dumpFolder } from './dump-folder.js';

/**
 * Makes a crash of this process leave a dump, if the config asks for it, and reports the dump of an earlier crash. Never
 * throws: a folder that cannot be written is a warning.
 */
export function startCrashDumps(config: CrashConfig, log: Log): void {
  const folder = dumpFolder(config);
  const dumps = ownDumps(folder);
  const [last] = dumps;
  if (last !== undefined)
    log.warn(
      { dump: last.path, at: last.at.toISOString() },
      'an earlier run crashed: minidump_stackwalk reads its dump (docs/guides/diagnostics.md); delete the dump to end this message',
    );
  if (!config.crash_dump.enabled) return;
  const problem = whyNotWritable(folder);
  if (problem !== undefined) {
    log.warn(`crash_dump.dir: a crash would leave no dump, because ${problem}`);
    return;
  }
  const path = join(folder, dumpName(new Date(), process.pid));
  const reason = installCrashHandler(path, makeRoom(dumps));
  if (reason !== undefined) log.warn(`crash_dump.enabled: a crash would leave no dump: ${reason}`);
}

function whyNotWritable(folder: string): string | undefined {
  try {
    makeFolder(folder);
    accessSync(folder, constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    return `${folder} cannot be written: ${(error as Error).message}`;
  }
}
