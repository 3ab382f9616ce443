import type { LoadedConfig } from '../../config/load.js';
import { ownDumps } from '../../operations/crash/dump-files.js';
import { dumpFolder } from '../../operations/crash/dump-folder.js';
import { type Finding, warning } from './finding.js';
import { checkWritable } from './installation.js';

/** Checks a folder of its own for crash dumps, and reports the dump of an earlier crash. */
export async function checkCrashDumps({ config, sources }: LoadedConfig): Promise<Finding[]> {
  const { enabled, dir } = config.crash_dump;
  const folder = dumpFolder(config);
  const source = sources.get('crash_dump.dir') ?? '';
  const why = dir === '' ? 'with the logs' : source === 'file' ? 'the config' : source;
  const [last] = ownDumps(folder);
  const crashed =
    last &&
    warning(
      'crash',
      `an earlier run crashed: ${last.path}`,
      'read it with minidump_stackwalk (docs/guides/diagnostics.md), and delete it afterwards',
    );
  return [
    ...(enabled ? [await checkWritable('crash dumps', folder, why)] : []),
    ...(crashed === undefined ? [] : [crashed]),
  ];
}
