import { inspectFile, LorekeepError, type Records, VectorIndex } from '../../lib/internal.js';
import { closeIfFailed } from '../base/waiting/close-if-failed.js';
import { hnswDefaults } from './config-schema.js';
import { checkOwnDestination, ownerOf, writeCache } from './destinations.js';
import { type EmbeddedRecords, type EmbeddingCounts, embedRecords } from './embeddings.js';
import { withIndexRemedy } from './index-error.js';
import { factsOf, indexFingerprint } from './model.js';
import type { PhaseReport } from './progress.js';
import type { Source } from './resolve.js';

/** An index over records that were embedded for it. */
export interface BuiltVectors extends Omit<EmbeddedRecords, 'rows'> {
  vectors: VectorIndex;
}

/** Embeds the records and links them into a graph. @throws as openKnowledgeBase() */
export async function buildVectors(
  records: Records,
  source: Source,
  report: PhaseReport,
): Promise<BuiltVectors> {
  const { rows: made, ...counts } = await embedRecords(records, source, report);
  await using rows = made; // the index takes its content, unless it is not even begun
  const { config, signal } = source;
  const { m, ef_construction: efConstruction } = config.hnsw ?? {};
  // Closed before the new file takes the place of the old one, which Windows demands.
  await using earlier = await openEarlier(source);
  const options = { m, efConstruction, vectorType: config.vector_type, earlier, signal };
  const vectors = await report.run('index', records.size, (onProgress) =>
    VectorIndex.fromEmbeddings(rows, { ...options, onProgress }),
  );
  return { vectors, ...counts };
}

/** Opens the index file as it is, for links that can be kept. One that does not open has none. */
async function openEarlier({ files, model, signal }: Source): Promise<VectorIndex | undefined> {
  if (files.index === undefined) return undefined;
  try {
    return await VectorIndex.load(files.index, {
      dimension: factsOf(model).dimension,
      verify: false,
      signal,
    });
  } catch (error) {
    if (error instanceof LorekeepError && error.code === 'CANCELLED') throw error;
    return undefined;
  }
}

/** Whether an index file is sound, but of other records or another model. */
export function isOutdated(error: unknown): error is LorekeepError {
  return (
    error instanceof LorekeepError && error.code === 'UNSUPPORTED' && error.detail.mismatch === 'fingerprint'
  );
}

/**
 * Rebuilds an outdated index file and writes it. A failure to write is a warning.
 * @throws INVALID_ARGUMENT if the file belongs to another knowledge base; as openKnowledgeBase()
 */
export async function rebuildVectors(
  records: Records,
  source: Source,
  report: PhaseReport,
): Promise<{ vectors: VectorIndex; counts: EmbeddingCounts; indexWritten: boolean }> {
  if (!source.readOnly) await checkOwnDestination(source, 'index');
  const { vectors, embedded, reused, truncated } = await buildVectors(records, source, report);
  const indexWritten = await closeIfFailed(vectors, () =>
    writeCache(source, 'index', () => saveVectors(vectors, records, source)),
  );
  return { vectors, counts: { embedded, reused, truncated }, indexWritten };
}

/** Writes the index file with its records. @throws IO, CANCELLED; INVALID_ARGUMENT if the file is not ours to replace */
export async function saveVectors(vectors: VectorIndex, records: Records, source: Source): Promise<void> {
  const { config, model, signal, files } = source;
  const fingerprint = indexFingerprint(records, model, config.long_text);
  await vectors.save(files.indexPlace as string, { fingerprint, records, signal, owner: ownerOf(source) });
}

type IndexSource = Pick<Source, 'buildCommand' | 'config' | 'model' | 'signal'>;

/** Opens an index file and checks that it is one of these records and this model. @throws as openKnowledgeBase() */
export function openVectors(records: Records, file: string, source: IndexSource): Promise<VectorIndex> {
  return withIndexRemedy(file, source.buildCommand, () => openIndex(records, file, source));
}

async function openIndex(
  records: Records,
  file: string,
  { config, model, signal }: IndexSource,
): Promise<VectorIndex> {
  const { dimension } = factsOf(model);
  const fingerprint = indexFingerprint(records, model, config.long_text);
  const index = await VectorIndex.load(file, { dimension, fingerprint, signal });
  if (index.size === records.size) return index;
  const found = index.size;
  await index.close();
  const expected = records.size;
  const reason = `the index holds ${found} records, the records file ${expected}`;
  throw LorekeepError.about('INVALID_ARGUMENT', { file, mismatch: 'records', reason, expected, found });
}

/** Build parameters in which an index file differs from the config: one sentence each. @throws as inspectFile() */
export async function vectorsWarnings(
  { vectorType }: VectorIndex,
  { config, files, pathOf }: Pick<Source, 'config' | 'files' | 'pathOf'>,
): Promise<string[]> {
  const file = files.index as string;
  const otherwise = (holds: string, field: string) =>
    `${pathOf(file)}: holds ${holds}; ${field} has an effect when it is built again`;
  const warnings: string[] = [];
  if (vectorType !== config.vector_type)
    warnings.push(otherwise(`${vectorType} vectors`, `vector_type ${config.vector_type}`));
  const { kind, m, efConstruction } = await inspectFile(file, { verify: false });
  // An index of hnswlib was built elsewhere, with other parameters.
  if (kind !== 'index') return warnings;
  const { m: links, ef_construction: width } = config.hnsw ?? hnswDefaults;
  if (m !== links) warnings.push(otherwise(`a graph of m ${m}`, `hnsw.m ${links}`));
  if (efConstruction !== width) {
    warnings.push(otherwise(`a graph of ef_construction ${efConstruction}`, `hnsw.ef_construction ${width}`));
  }
  return warnings;
}
