import { inspectFile, LorekeepError, type Records, VectorIndex } from '../../lib/index.js';
import { hnswDefaults } from './config-schema.js';
import { type EmbeddedRecords, embedRecords } from './embeddings.js';
import { withIndexRemedy } from './index-error.js';
import { indexFingerprint } from './model.js';
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
  const options = { m, efConstruction, vectorType: config.vector_type, signal };
  const vectors = await report.run('index', records.size, (onProgress) =>
    VectorIndex.fromEmbeddings(rows, { ...options, onProgress }),
  );
  return { vectors, ...counts };
}

type IndexSource = Pick<Source, 'path' | 'config' | 'model' | 'signal'>;

/** Opens an index file and checks that it is one of these records and this model. @throws as openKnowledgeBase() */
export function openVectors(records: Records, file: string, source: IndexSource): Promise<VectorIndex> {
  return withIndexRemedy(file, source.path, () => openIndex(records, file, source));
}

async function openIndex(
  records: Records,
  file: string,
  { config, model, signal }: IndexSource,
): Promise<VectorIndex> {
  const { dimension } = model.model;
  const fingerprint = indexFingerprint(records, model, config.long_text);
  const index = await VectorIndex.load(file, { dimension, fingerprint, signal });
  if (index.size === records.size) return index;
  const found = index.size;
  await index.close();
  const expected = records.size;
  const reason = `the index holds ${found} records, the records file ${expected}`;
  throw LorekeepError.about('INVALID_ARGUMENT', { file, mismatch: 'records', reason, expected, found });
}

/** What an index file was built with that the config says otherwise: one sentence each. @throws as inspectFile() */
export async function vectorsWarnings(
  { vectorType }: VectorIndex,
  { config, files }: Pick<Source, 'config' | 'files'>,
): Promise<string[]> {
  const file = files.index as string;
  const otherwise = (holds: string, field: string) =>
    `${file}: holds ${holds}; ${field} has an effect when it is built again`;
  const warnings: string[] = [];
  if (vectorType !== config.vector_type)
    warnings.push(otherwise(`${vectorType} vectors`, `vector_type ${config.vector_type}`));
  const { kind, m, efConstruction } = await inspectFile(file, { verify: false });
  // An index of hnswlib was built elsewhere, with what its builder chose.
  if (kind !== 'index') return warnings;
  const { m: links, ef_construction: width } = config.hnsw ?? hnswDefaults;
  if (m !== links) warnings.push(otherwise(`a graph of m ${m}`, `hnsw.m ${links}`));
  if (efConstruction !== width) {
    warnings.push(otherwise(`a graph of ef_construction ${efConstruction}`, `hnsw.ef_construction ${width}`));
  }
  return warnings;
}
