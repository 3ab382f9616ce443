import { LorekeepError, type Storage } from '../../lib/internal.js';
import { factsOf, type KnowledgeModel, withModel } from './model.js';

/** The distance of a record from a new embedding of its text, at most: another device gives other last digits. */
const mostDistance = 0.05;

/**
 * Embeds the texts of some records again with a model of another server, whose file nobody can compare.
 * @throws INVALID_ARGUMENT if they are not where their vectors are; errors of the model
 */
export async function requireSameModel(
  storage: Storage,
  ids: readonly string[],
  { model, files }: { model: KnowledgeModel; files: { index?: string | undefined; records: string } },
  signal: AbortSignal | undefined,
): Promise<void> {
  if (factsOf(model).architecture !== 'remote') return;
  const found = await storage.getMany(ids, { signal });
  const texts = found.map(({ text }) => (model.documentPrefix ?? '') + text);
  const { vectors, errors } = await withModel(
    model,
    (remote) => remote.embedSettled(texts, { signal, kind: 'document' }),
    signal,
  );
  const { dimension } = storage;
  const failed = new Set(errors.map(({ index }) => index));
  for (const at of texts.keys()) {
    if (failed.has(at)) continue;
    const vector = vectors.subarray(at * dimension, (at + 1) * dimension);
    const { hits } = await storage.search({ mode: 'dense', vector, topK: 1, signal });
    if ((hits[0]?.distance ?? 0) <= mostDistance) continue;
    const reason = `the vectors of these records are not of the model ${JSON.stringify(model.name ?? '')}: its server computes another one by now`;
    const remedy =
      'give the server its earlier model back, or change remote.revision in the catalog and build again';
    throw LorekeepError.about('INVALID_ARGUMENT', { file: files.index ?? files.records, reason, remedy });
  }
}
