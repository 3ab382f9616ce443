import { factsAt } from '../../lib/basics.js';
import { type LoadTextIndexOptions, LorekeepError, type Records, TextIndex } from '../../lib/internal.js';
import { closeIfFailed } from '../base/waiting/close-if-failed.js';
import { checkOwnDestination, makeFolderOf, ownerOf, writeCache } from './destinations.js';
import type { PhaseReport } from './progress.js';
import type { Source } from './resolve.js';
import { warnOfTokenizer } from './tokenizer-fit.js';

type TextIndexSource = Pick<Source, 'path' | 'config' | 'files' | 'readOnly' | 'log' | 'signal'>;

/**
 * Returns the text index of the records: from a valid sidecar, otherwise built, and written if the config names a sidecar.
 * An unwritable folder is a warning. @throws INVALID_ARGUMENT if the file is not ours to replace; CANCELLED, OUT_OF_MEMORY
 */
export async function openTextIndex(
  records: Records,
  source: TextIndexSource,
  report: PhaseReport,
): Promise<TextIndex> {
  const index = await findTextIndex(records, source, report);
  warnOfTokenizer(index, source.files.records, source.log);
  return index;
}

async function findTextIndex(
  records: Records,
  source: TextIndexSource,
  report: PhaseReport,
): Promise<TextIndex> {
  const path = source.files.textIndex;
  if (path === undefined) return build(records, source, report);
  const found = await reuseTextIndex(records, path, source);
  if (found instanceof TextIndex) return found;
  if (source.readOnly) return rebuild(records, path, source, report, found.reason);
  await checkOwnDestination(source, 'textIndex');
  const index = await rebuild(records, path, source, report, found.reason);
  await closeIfFailed(index, () =>
    writeCache(source, 'textIndex', (path) => save(index, records, path, source)),
  );
  return index;
}

/** Updates the sidecar. Returns whether it was written. @throws as openTextIndex(); IO if it cannot be written */
export async function writeTextIndex(
  records: Records,
  path: string,
  source: TextIndexSource,
  report: PhaseReport,
): Promise<boolean> {
  const found = await reuseTextIndex(records, path, source, { complete: true });
  if (found instanceof TextIndex) {
    warnOfTokenizer(found, source.files.records, source.log);
    await found.close();
    return false;
  }
  await checkOwnDestination(source, 'textIndex');
  await using index = await rebuild(records, path, source, report, found.reason);
  warnOfTokenizer(index, source.files.records, source.log);
  await save(index, records, path, source);
  return true;
}

async function save(
  index: TextIndex,
  records: Records,
  path: string,
  source: TextIndexSource,
): Promise<void> {
  makeFolderOf(path);
  await index.save(path, { fingerprint: records.fingerprint, owner: ownerOf(source), signal: source.signal });
}

/** Returns the sidecar's index, or the reason why it cannot be used. @throws CANCELLED, OUT_OF_MEMORY */
export async function reuseTextIndex(
  records: Records,
  path: string,
  { config, files, signal }: Pick<TextIndexSource, 'config' | 'files' | 'signal'>,
  options: Pick<LoadTextIndexOptions, 'complete'> = {},
): Promise<TextIndex | { reason: string }> {
  const [sidecar, source] = await Promise.all([factsAt(path), factsAt(files.records)]);
  if (sidecar === undefined) return { reason: 'there is none' };
  if (source !== undefined && source.mtimeNs > sidecar.mtimeNs)
    return { reason: 'the records file is newer' };
  const expected = {
    tokenizer: config.bm25_tokenizer,
    documents: records.size,
    fingerprint: records.fingerprint,
  };
  try {
    return await TextIndex.load(path, { ...options, expected, signal });
  } catch (error) {
    if (!(error instanceof LorekeepError) || error.code === 'CANCELLED' || error.code === 'OUT_OF_MEMORY') {
      throw error;
    }
    return { reason: error.detail.reason ?? error.message };
  }
}

function build(
  records: Records,
  { config, signal }: TextIndexSource,
  report: PhaseReport,
): Promise<TextIndex> {
  const tokenizer = config.bm25_tokenizer;
  return report.run('words', records.size, () => TextIndex.fromRecords(records, { tokenizer, signal }));
}

async function rebuild(
  records: Records,
  path: string,
  source: TextIndexSource,
  report: PhaseReport,
  reason: string,
): Promise<TextIndex> {
  const index = await build(records, source, report);
  const ms = report.times.words;
  source.log.info({ file: path, records: source.files.records, reason, ms }, 'text index built');
  return index;
}
