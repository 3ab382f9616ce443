import { type HnswOptions, LorekeepError, type Records, VectorIndex } from '../../lib/index.js';
import { embedAll, indexFingerprint } from './model.js';
import type { PhaseReport } from './progress.js';
import type { Source } from './source.js';

/** Embeds the records and links them into a graph. @throws as openKnowledgeBase() */
export async function buildVectors(
  records: Records,
  { config, model, files, signal }: Source,
  report: PhaseReport,
): Promise<VectorIndex> {
  const rows = await report.run('embed', records.size, (onProgress) =>
    embedAll(records, model, files.records, { signal, onProgress }),
  );
  const hnsw: HnswOptions = { m: config.hnsw?.m, efConstruction: config.hnsw?.ef_construction };
  return report.run('index', records.size, (onProgress) =>
    VectorIndex.build(rows, model.model.dimension, { ...hnsw, signal, onProgress }),
  );
}

/** Opens an index file and checks that it is one of these records and this model. @throws as openKnowledgeBase() */
export async function openVectors(
  records: Records,
  file: string,
  { model, signal }: Pick<Source, 'model' | 'signal'>,
): Promise<VectorIndex> {
  const { dimension } = model.model;
  const fingerprint = indexFingerprint(records, model);
  const index = await VectorIndex.open(file, { dimension, fingerprint, signal });
  if (index.size === records.size) return index;
  const found = index.size;
  await index.close();
  throw new LorekeepError(
    'INVALID_ARGUMENT',
    `${file}: the index holds ${found} records, the records file ${records.size}`,
    { file, reason: 'records', expected: records.size, found },
  );
}
