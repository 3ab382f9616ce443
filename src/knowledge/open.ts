import {
  type Metadata,
  type MetadataOf,
  type Records,
  Storage,
  type VectorIndex,
} from '../../lib/internal.js';
import { checkDestinations } from './destinations.js';
import type { EmbeddingCounts } from './embeddings.js';
import { KnowledgeBase } from './knowledge-base.js';
import { holdModel } from './model.js';
import { PhaseReport } from './progress.js';
import { openRecords } from './records.js';
import { findSource, type OpenKnowledgeBaseOptions, type Source } from './resolve.js';
import { openTextIndex } from './text-index.js';
import { buildVectors, isOutdated, openVectors, rebuildVectors, vectorsWarnings } from './vectors.js';

/**
 * Opens the knowledge base of a config file: reads the records and loads the indexes. Indexes that were made from other records or
 * with another model are built again and written. `Own`: the type of the records' metadata, as the config's `fields` say.
 * @throws LorekeepError with file and reason: NOT_FOUND, IO, CORRUPT, INVALID_ARGUMENT (config, records, or a model that
 * `models` does not know; a file that is not ours to replace), TEXT_TOO_LONG, DIMENSION_MISMATCH or UNSUPPORTED for the index file; CANCELLED.
 */
export async function openKnowledgeBase<Own extends MetadataOf<Own> = Metadata>(
  configPath: string,
  options: OpenKnowledgeBaseOptions,
): Promise<KnowledgeBase<Own>> {
  return (await openSource(await findSource(configPath, options))) as KnowledgeBase<Own>;
}

/** Like openKnowledgeBase(), from a resolved source. */
export async function openSource(source: Source): Promise<KnowledgeBase> {
  const letGo = holdModel(source.model);
  return openFiles(source).finally(letGo);
}

async function openFiles(source: Source): Promise<KnowledgeBase> {
  const { config, warnings, model, readOnly, signal, onProgress } = source;
  await checkDestinations(source, readOnly ? [] : ['textIndex', 'embeddings']);
  const report = new PhaseReport(onProgress);
  await using records = await report.run(
    'read',
    0,
    () => openRecords(source),
    ({ size }) => size,
  );
  const { vectors: found, counts, indexWritten } = await findVectors(records, source, report);
  await using vectors = found;
  await using textIndex = await openTextIndex(records, source, report);
  const ef = config.search?.ef_search;
  const storage = await Storage.fromRecords(records, vectors, textIndex, { ef, signal });
  return new KnowledgeBase(storage, model, {
    config,
    warnings,
    embeddings: counts,
    indexWritten: indexWritten === true,
  });
}

/** Loads the index from its file, or builds it. `counts` is set only if records were embedded for it. */
async function findVectors(
  records: Records,
  source: Source,
  report: PhaseReport,
): Promise<{ vectors: VectorIndex; counts?: EmbeddingCounts; indexWritten?: boolean }> {
  const { files, warnings, log } = source;
  if (files.index === undefined) {
    const { vectors, embedded, reused, truncated } = await buildVectors(records, source, report);
    return { vectors, counts: { embedded, reused, truncated } };
  }
  const vectors = await openVectors(records, files.index, source).catch((error: unknown) => {
    if (!isOutdated(error)) throw error;
    const { reason } = error.detail;
    log.info({ file: files.index, records: files.records, reason }, 'index built again');
    return undefined;
  });
  if (vectors === undefined) return rebuildVectors(records, source, report);
  for (const warning of await vectorsWarnings(vectors, source)) {
    warnings.push(warning);
    log.warn({ file: files.index }, warning);
  }
  return { vectors };
}
