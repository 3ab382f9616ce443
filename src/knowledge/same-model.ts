import { type EmbedResult, LorekeepError, type Storage } from '../../lib/internal.js';
import type { TextEmbedder } from './embedder.js';
import { type KnowledgeModel, withModel } from './model.js';

/** The distance of a record from a new embedding of its text, at most: another device gives other last digits. */
const mostDistance = 0.05;

/**
 * Embeds the texts of some records again with a model of another server, whose file nobody can compare.
 * @throws INVALID_ARGUMENT if they are not where their vectors are; errors of the model
 */
export async function requireSameModel(
  storage: Storage,
  ids: readonly string[],
  { model, file }: { model: KnowledgeModel; file: string },
  signal: AbortSignal | undefined,
): Promise<void> {
  const found = await storage.getMany(ids, { signal });
  const texts = found.map(({ text }) => (model.documentPrefix ?? '') + text);
  const embed = async (remote: TextEmbedder) => {
    // Nothing keeps these embeddings.
    const made = await remote.embedSettled(texts, { signal, kind: 'query' });
    const isSame = await areAtHome(storage, texts.length, made, signal);
    if (!isSame) remote.disown?.();
    return isSame;
  };
  if (await withModel(model, embed, signal)) return;
  const reason = `the vectors of these records are not of the model ${JSON.stringify(model.name ?? '')}: its server computes another one by now`;
  const remedy =
    'give the server its earlier model back, or change remote.revision in the catalog and build again';
  throw LorekeepError.about('INVALID_ARGUMENT', { file, reason, remedy });
}

/** Whether each embedding is about that of a record. */
async function areAtHome(
  storage: Storage,
  count: number,
  { vectors, errors }: EmbedResult,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const { dimension } = storage;
  const failed = new Set(errors.map(({ index }) => index));
  for (let at = 0; at < count; at++) {
    if (failed.has(at)) continue;
    const vector = vectors.subarray(at * dimension, (at + 1) * dimension);
    const { hits } = await storage.search({ mode: 'dense', vector, topK: 1, signal });
    if ((hits[0]?.distance ?? 0) > mostDistance) return false;
  }
  return true;
}
