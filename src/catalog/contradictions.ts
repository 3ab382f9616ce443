import { describeModel, type ModelDescription } from '../../lib/internal.js';
import type { CatalogEntry, ModelVariant } from './schema.js';

const poolings: Readonly<Record<number, string>> = { 1: 'mean', 2: 'cls', 3: 'last', 4: 'rank' };

/**
 * Returns one sentence per fact that the catalog and the file state differently. The file is right about its dimension,
 * context and licence; the catalog's pooling is used. Empty for a file without a readable header.
 */
export async function contradictions(
  path: string,
  entry: CatalogEntry,
  variant: ModelVariant,
): Promise<string[]> {
  const file = await describeModel(path).catch(() => undefined);
  return file === undefined ? [] : differences(file, entry, variant);
}

function differences(file: ModelDescription, entry: CatalogEntry, variant: ModelVariant): string[] {
  const found: string[] = [];
  const compare = (field: string, catalog: unknown, own: unknown) => {
    if (catalog === undefined || own === undefined || catalog === own) return;
    found.push(`${field}: the catalog says ${catalog}, the file ${own}`);
  };
  const lower = (text: string | undefined) => text?.toLowerCase();
  const pooling = poolings[file.poolingType ?? 0];
  if (entry.model_type === 'embedding') {
    compare('dimension', entry.dimension, file.embeddingLength);
    compare('pooling', entry.pooling, pooling);
    if (pooling === 'rank') found.push('model_type: the catalog says embedding, the file is a reranker');
  }
  if (entry.model_type === 'llm' && pooling !== undefined)
    found.push(
      `model_type: the catalog says llm, the file is made for ${pooling === 'rank' ? 'reranking' : 'embeddings'}`,
    );
  if (entry.model_type === 'reranker' && pooling !== undefined && pooling !== 'rank')
    found.push('model_type: the catalog says reranker, the file is made for embeddings');
  const { context_size: context = 0 } = variant;
  if (file.contextLength !== undefined && context > file.contextLength)
    found.push(`context_size: the catalog says ${context}, the file takes ${file.contextLength} at most`);
  if (
    entry.license !== undefined &&
    file.license !== undefined &&
    lower(entry.license) !== lower(file.license)
  )
    compare('license', entry.license, file.license);
  return found;
}
