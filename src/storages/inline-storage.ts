import { Storage } from '../../lib/index.js';
import type { EmbeddingModels } from '../catalog/embedding-models.js';
import { type LoadedModel, TextError } from '../catalog/loaded-model.js';
import type { CatalogEntry } from '../catalog/schema.js';
import { fail, serverError } from '../protocol/errors.js';
import { requireEmbeddingModel } from './embedding-model-name.js';
import { SharedStorage } from './shared-storage.js';

/** Most strings of one inline storage: all of them live in memory, and one request carried them. */
const maxInlineStrings = 100_000;

/** The source of a storage made of the request's own strings (Path B). */
export interface InlineSource {
  strings: readonly string[];
  embeddingModel: string;
}

/** Everything about a source that can be refused before work begins. @throws InvalidEmbeddedStringStorageData */
export function checkInlineSource(
  { strings, embeddingModel }: InlineSource,
  models: EmbeddingModels,
): CatalogEntry {
  if (strings.length === 0) fail(8003, 'strings: at least one string is expected', { path: 'strings' });
  if (strings.length > maxInlineStrings) {
    fail(
      8003,
      `strings: ${strings.length} are more than the ${maxInlineStrings} that one inline storage takes`,
      {
        path: 'strings',
        count: strings.length,
        limit: maxInlineStrings,
      },
    );
  }
  const empty = strings.findIndex((text) => text.trim() === '');
  if (empty >= 0)
    fail(8003, `strings[${empty}]: the string is empty`, { path: `strings[${empty}]`, index: empty });
  return requireEmbeddingModel(models, embeddingModel, 'embedding_model');
}

/**
 * Embeds every string and indexes it; ids are "0", "1" and so on. Nothing is written to disk.
 * @throws InvalidEmbeddedStringStorageData that names the string's index; AbortError once the signal is aborted.
 */
export async function buildInlineStorage(
  strings: readonly string[],
  model: LoadedModel,
  signal: AbortSignal,
): Promise<SharedStorage> {
  const vectors = await embedStrings(strings, model, signal);
  const records = strings.map((text, index) => ({ id: String(index), text }));
  return new SharedStorage(await Storage.build(records, vectors, model.dimension, { signal }), model);
}

async function embedStrings(
  strings: readonly string[],
  model: LoadedModel,
  signal: AbortSignal,
): Promise<Float32Array> {
  try {
    return await model.embedDocuments(strings, signal);
  } catch (error) {
    if (!(error instanceof TextError)) throw error;
    const { code, index, tokens, limit, message } = error.item;
    if (code === 'MODEL_INVALID') throw error;
    const path = `strings[${index}]`;
    throw serverError(8003, `${path}: ${message}`, { path, index, tokens, limit }, { cause: error });
  }
}
