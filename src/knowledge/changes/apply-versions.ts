import { stat } from 'node:fs/promises';
import type { ChangeLog, LoggedWords, Storage } from '../../../lib/internal.js';
import { noLog } from '../log.js';
import type { LogSource } from './base-log.js';
import type { RemovedRecords } from './forgotten-batches.js';
import { loadWords } from './logged-words.js';
import { type LoggedBatch, stepsOf } from './steps.js';

/** Is told which records batches removed. */
export type OnRemoved = (removed: RemovedRecords) => void;

/** Applies the batches of a log to a storage that was loaded from the records file, which has version `after`. */
export async function applyFromFile(
  storage: Storage,
  log: ChangeLog,
  after: number,
  source: LogSource,
  onRemoved: OnRemoved,
): Promise<void> {
  const { config, signal, files, versions } = source;
  // A storage that was loaded has version 0, which is none of the base's.
  storage.keepVersions({});
  await using none = await log.fold({ after, upTo: after }, config.fields, { signal });
  await storage.applyLogged(none, after, { signal });
  storage.setTime(await timeOf(files.records, log));
  storage.keepVersions(versions ?? {});
  const words = after === log.facts.baseVersion ? await loadWords(log, source) : undefined;
  // A merge between two steps would take a core of the second one.
  await storage.pauseMerging();
  try {
    await applyVersions(storage, log, after, source, onRemoved, words);
  } finally {
    storage.resumeMerging();
  }
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

/** Begins what applyFromFile() will do first, if the log is about the records file as it is. */
export async function foldAhead(log: ChangeLog, source: LogSource): Promise<void> {
  const { config, signal, versions } = source;
  let { baseVersion: after } = log.facts;
  const words = await loadWords(log, { ...source, log: noLog }); // told by applyFromFile()
  for (const { version: upTo } of stepsOf(log.facts, after, versions, words?.version).together) {
    log.foldAhead({ after, upTo }, config.fields, { signal });
    after = upTo;
  }
}

/**
 * Applies the batches of a log after a version: the last ones, whose versions the base keeps, one by one, and those before them at once,
 * or in two steps: those whose words are `saved`, and the others.
 */
export async function applyVersions(
  storage: Storage,
  log: ChangeLog,
  after: number,
  { config, signal, versions }: Pick<LogSource, 'config' | 'signal' | 'versions'>,
  onRemoved: OnRemoved,
  saved?: LoggedWords | undefined,
): Promise<void> {
  const { together, alone } = stepsOf(log.facts, after, versions, saved?.version);
  let from = after;
  const apply = async ({ version, time }: LoggedBatch) => {
    await using changes = await log.fold({ after: from, upTo: version }, config.fields, { signal });
    if (changes.removed > 0)
      onRemoved({ log: log.facts.id, after: from, upTo: version, ids: changes.removedIds() });
    const isSaved = version === saved?.version && changes.changed === saved.index.size;
    const words = isSaved ? saved?.index : undefined;
    await storage.applyLogged(changes, version, { time, signal, words });
    from = version;
  };
  for (const step of [...together, ...alone]) await apply(step);
}
