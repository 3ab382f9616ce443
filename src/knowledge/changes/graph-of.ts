import { type Storage, VectorIndex } from '../../../lib/internal.js';

interface GraphOptions {
  m?: number | undefined;
  efConstruction?: number | undefined;
  signal: AbortSignal | undefined;
}

/** Returns the index of a version, with a graph: storages of few records have none, and files have one always. */
export async function graphOf(
  index: VectorIndex,
  version: Storage,
  { signal, ...options }: GraphOptions,
): Promise<VectorIndex> {
  if (index.kind === 'hnsw') return index;
  const rows = await version.embeddings({ signal });
  const { vectorType } = index;
  return VectorIndex.build(rows, version.dimension, { kind: 'hnsw', vectorType, ...options, signal });
}
