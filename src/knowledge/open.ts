import { Records, Storage } from '../../lib/index.js';
import { KnowledgeBase } from './knowledge-base.js';
import { PhaseReport } from './progress.js';
import { findSource, type OpenKnowledgeBaseOptions } from './source.js';
import { buildVectors, openVectors } from './vectors.js';
import { openWords } from './words.js';

/**
 * Opens the knowledge base of a config file: reads the records, loads or builds its indexes.
 * @throws LorekeepError with file and reason: NOT_FOUND, IO, CORRUPT, INVALID_ARGUMENT (config, records, or a model that
 * `models` does not know), TEXT_TOO_LONG, DIMENSION_MISMATCH or UNSUPPORTED for the index file; CANCELLED.
 */
export async function openKnowledgeBase(
  configPath: string,
  options: OpenKnowledgeBaseOptions,
): Promise<KnowledgeBase> {
  const source = await findSource(configPath, options);
  const { config, warnings, model, files, signal, onProgress } = source;
  const report = new PhaseReport(onProgress);
  const { fields } = config;
  await using records = await report.run(
    'read',
    0,
    () => Records.read(files.records, { fields, signal }),
    ({ size }) => size,
  );
  await using vectors =
    files.index === undefined
      ? await buildVectors(records, source, report)
      : await openVectors(records, files.index, source);
  await using words = await openWords(records, source, report);
  const storage = await Storage.fromRecords(records, vectors, words, { signal });
  return new KnowledgeBase(config, storage, model, warnings);
}
