import type { ServerConfig } from '../../config/schema.js';
import { ownDumps } from '../../operations/crash/dump-files.js';
import { dumpFolder } from '../../operations/crash/dump-folder.js';
import { type Finding, warning } from './finding.js';
import { checkWritable } from './installation.js';

/** Checks a folder of its own for crash dumps, and reports the dump of an earlier crash. */
export async function checkCrashDumps(config: ServerConfig): Promise<Finding[]> {
  const { enabled, dir } = config.crash_dump;
  const [last] = ownDumps(dumpFolder(config));
  const crashed =
    last &&
    warning(
      'crash',
      `an earlier run crashed: ${last.path}`,
      'read it with minidump_stackwalk (docs/guides/diagnostics.md), and delete it afterwards',
    );
  return [
    ...(enabled && dir !== '' ? [await checkWritable('crash_dump.dir', dir)] : []),
    ...(crashed === undefined ? [] : [crashed]),
  ];
}
