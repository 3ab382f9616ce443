import { stat } from 'node:fs/promises';
import type { ChangeLog, ChangeLogFacts, Storage } from '../../../lib/internal.js';
import type { LogSource } from './base-log.js';
import type { RemovedRecords } from './forgotten-batches.js';

type VersionSource = Pick<LogSource, 'files' | 'config' | 'signal' | 'versions'>;

/** Is told which records batches removed. */
export type OnRemoved = (removed: RemovedRecords) => void;

/** Applies the batches of a log to a storage that was loaded from the records file, which has version `after`. */
export async function applyFromFile(
  storage: Storage,
  log: ChangeLog,
  after: number,
  source: VersionSource,
  onRemoved: OnRemoved,
): Promise<void> {
  const { config, signal, files, versions } = source;
  // A storage that was loaded has version 0, which is none of the base's.
  storage.keepVersions({});
  await using none = await log.fold({ after, upTo: after }, config.fields, { signal });
  await storage.applyLogged(none, after, { signal });
  storage.setTime(await timeOf(files.records, log));
  storage.keepVersions(versions ?? {});
  await applyVersions(storage, log, after, source, onRemoved);
}

/** When the records file had its version at the latest: it was written then, and before the first batch. */
async function timeOf(records: string, log: ChangeLog): Promise<number> {
  const written = await stat(records).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );
  const first = log.facts.frames.find(({ kind }) => kind === 'batch');
  return Math.min(written, first?.time ?? Date.now());
}

/** The last batches after a version, which are applied one by one, and the last one before them. */
function rangesOf({ frames }: ChangeLogFacts, after: number, versions: VersionSource['versions']) {
  const batches = frames.filter(({ kind, version }) => kind === 'batch' && version > after);
  const alone = batches.slice(Math.max(0, batches.length - (versions?.count ?? 0)));
  return { alone, before: batches.at(-alone.length - 1) };
}

/** Begins what applyFromFile() will do first, if the log is about the records file as it is. */
export function foldAhead(log: ChangeLog, { config, signal, versions }: VersionSource): void {
  const { baseVersion: after } = log.facts;
  const { before } = rangesOf(log.facts, after, versions);
  if (before !== undefined) log.foldAhead({ after, upTo: before.version }, config.fields, { signal });
}

/**
 * Applies the batches of a log after a version: the last ones, whose versions the base keeps, one by one, and those before them at once.
 */
export async function applyVersions(
  storage: Storage,
  log: ChangeLog,
  after: number,
  { config, signal, versions }: VersionSource,
  onRemoved: OnRemoved,
): Promise<void> {
  const { alone, before } = rangesOf(log.facts, after, versions);
  let from = after;
  const apply = async ({ version, time }: Pick<ChangeLogFacts['frames'][number], 'version' | 'time'>) => {
    await using changes = await log.fold({ after: from, upTo: version }, config.fields, { signal });
    if (changes.removed > 0)
      onRemoved({ log: log.facts.id, after: from, upTo: version, ids: changes.removedIds() });
    await storage.applyLogged(changes, version, { time, signal });
    from = version;
  };
  if (before !== undefined) await apply(before);
  for (const batch of alone) await apply(batch);
}
