import {
  EmbeddingModel,
  EmbeddingRows,
  type EmbedRowsOptions,
  type ItemError,
  LorekeepError,
  type Records,
} from '../../lib/internal.js';
import { closeIfFailed } from '../base/waiting/close-if-failed.js';
import { checkOwnDestination, makeFolderOf, ownerOf, writeCache } from './destinations.js';
import type { TextEmbedder } from './embedder.js';
import { KeptEmbeddings } from './kept-embeddings.js';
import { embeddingsKey, factsOf, recordsError, withModel } from './model.js';
import type { PhaseReport } from './progress.js';
import type { Source } from './resolve.js';

/** Origins of a knowledge base's embeddings. */
export interface EmbeddingCounts {
  /** Texts given to the model. Records of equal text share one embedding. */
  embedded: number;
  /** Records whose embedding was in the embeddings file. */
  reused: number;
  /** Records whose text was truncated to fit the model's context. */
  truncated: number;
}

export interface EmbeddedRecords extends EmbeddingCounts {
  rows: EmbeddingRows;
  /** Whether the embeddings file was written. */
  written: boolean;
}

type EmbedSource = Pick<
  Source,
  'path' | 'pathOf' | 'config' | 'model' | 'files' | 'readOnly' | 'log' | 'signal'
>;

/**
 * Returns one embedding per record, from the embeddings file or from the model. New embeddings are written to the file about
 * once a minute, and when embedding ends early, so that the next attempt continues from there. An unwritable file is a warning.
 * @throws as openKnowledgeBase() for records that the model cannot embed; CANCELLED, OUT_OF_MEMORY
 */
export async function embedRecords(
  records: Records,
  source: EmbedSource,
  report: PhaseReport,
): Promise<EmbeddedRecords> {
  const kept = await KeptEmbeddings.of(source);
  const rows = await matchEmbeddings(records, source, await kept?.files());
  return closeIfFailed(rows, async () => {
    const { texts, errors, written } = await embedMissing(rows, records, source, report);
    if (errors.length > 0) throw recordsError(records, source.files.records, errors);
    const { reused, truncated } = rows;
    if (truncated > 0) {
      const facts = { file: source.files.records, truncated };
      source.log.warn(facts, `only the beginning of ${truncated} records is embedded: they are too long`);
    }
    return { rows, embedded: texts, reused, truncated, written };
  });
}

/** Returns the cached embeddings. `rows.refusal` is the reason if the cache cannot be used. @throws CANCELLED, OUT_OF_MEMORY */
export function matchEmbeddings(
  records: Records,
  { config, model, files, signal }: Pick<EmbedSource, 'config' | 'model' | 'files' | 'signal'>,
  /** Further embeddings files. */
  more: readonly string[] = [],
): Promise<EmbeddingRows> {
  return EmbeddingRows.match(records, {
    dimension: factsOf(model).dimension,
    path: files.embeddings,
    more,
    key: embeddingsKey(model),
    truncated: config.long_text === 'truncate',
    signal,
  });
}

/** Embeds the texts of the records that have no embedding yet. */
export function embedRows(
  rows: EmbeddingRows,
  records: Records,
  model: TextEmbedder,
  options: EmbedRowsOptions,
): Promise<{ texts: number; errors: ItemError[] }> {
  if (model instanceof EmbeddingModel) return rows.embed(records, model, options);
  const { signal, truncate } = options;
  // An embedder of the caller's own has no context.
  if (truncate && model.facts.contextSize > 0) throw cannotTruncate();
  const failed: ItemError[] = [];
  const embed = async (texts: readonly string[], ordinals: Uint32Array) => {
    const { vectors, errors } = await model.embedSettled(texts, { signal });
    for (const error of errors) failed.push({ ...error, index: ordinals[error.index] as number });
    if (failed.length > 0) throw new TextsFailed();
    return vectors;
  };
  return rows.embedWith(records, embed, options).catch((error: unknown) => {
    if (error instanceof TextsFailed) return { texts: 0, errors: failed };
    throw error;
  });
}

/** Some texts have no embedding. */
class TextsFailed extends Error {}

function cannotTruncate(): LorekeepError {
  const reason = '"truncate" needs a model that is computed here; "error" is expected for a remote one';
  return LorekeepError.about('INVALID_ARGUMENT', { field: 'long_text', reason });
}

interface Embedded {
  texts: number;
  errors: ItemError[];
  written: boolean;
}

async function embedMissing(
  rows: EmbeddingRows,
  records: Records,
  source: EmbedSource,
  report: PhaseReport,
): Promise<Embedded> {
  const { missing, refusal } = rows;
  if (missing === 0) return { texts: 0, errors: [], written: false };
  const path = source.files.embeddings;
  if (path !== undefined && !source.readOnly) await checkOwnDestination(source, 'embeddings');
  if (path !== undefined && refusal !== undefined) {
    source.log.info({ file: path, reason: refusal, texts: missing }, 'embeddings file rebuilt');
  }
  const { config, model, signal } = source;
  const options = { prefix: model.documentPrefix, truncate: config.long_text === 'truncate', signal };
  try {
    const checkpoint = () => save(rows, source);
    const { errors } = await report.run('embed', missing, (onProgress) => {
      const all = { ...options, checkpoint, onProgress };
      return withModel(model, (native) => embedRows(rows, records, native, all), signal);
    });
    return { texts: missing - rows.missing, errors, written: await save(rows, source) };
  } catch (error) {
    if (rows.missing < missing) await save(rows, source);
    throw error;
  }
}

/** Writes the file and returns whether it did. The signal does not stop it: computed embeddings are kept. */
function save(rows: EmbeddingRows, source: EmbedSource): Promise<boolean> {
  return writeCache(source, 'embeddings', async (path) => {
    makeFolderOf(path);
    const kept = await KeptEmbeddings.of(source);
    const warn = (err: unknown) => source.log.warn({ err, file: path }, 'embeddings are not kept');
    await kept?.keepOthers(rows).catch(warn);
    await rows.save(path, { owner: ownerOf(source) });
  });
}
