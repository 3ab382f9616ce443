import { existsSync } from 'node:fs';
import { factsAt, stampAt } from '../../lib/basics.js';
import {
  type FileContent,
  identifyFile,
  isLocked,
  LorekeepError,
  type Metadata,
  type MetadataOf,
  type Records,
  Storage,
  type VectorIndex,
} from '../../lib/internal.js';
import { closeIfFailed } from '../base/waiting/close-if-failed.js';
import { BaseChanges } from './changes/base-changes.js';
import { readLog, versionOfFile } from './changes/base-log.js';
import { countReplacement } from './changes/count-replacement.js';
import { FilesReplaced, type LaterFiles } from './changes/followed-log.js';
import { namedFiles } from './changes/held-folders.js';
import { LogAhead } from './changes/log-ahead.js';
import { isEmptied, settleLog } from './changes/merge-files.js';
import { dropIfReplaced } from './changes/outdated-files.js';
import { hasForgetLeftovers } from './changes/pending-forget.js';
import { ComparedModel } from './compared-model.js';
import { isInDatabase, type LoadedKnowledgeBaseConfig, loadAnyConfig } from './config.js';
import type { EngineBaseConfig } from './config-schema.js';
import { checkDestinations } from './destinations.js';
import type { EmbeddingCounts } from './embeddings.js';
import { emptyFolderOf, goneFolderOf } from './folder/place.js';
import { KnowledgeBase, type KnowledgeBaseFacts } from './knowledge-base.js';
import { noLog } from './log.js';
import { factsOf, holdModel, modelResolver } from './model.js';
import { openEngineBase } from './postgres/open.js';
import { noProgress, PhaseReport } from './progress.js';
import { indexedContent, openRecords } from './records.js';
import {
  checkOpenOptions,
  configArgument,
  findModel,
  findSource,
  type OpenKnowledgeBaseOptions,
  type Source,
} from './resolve.js';
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
  const path = configArgument(configPath);
  const loaded = await loadAnyConfig(path);
  if (isInDatabase(loaded)) return (await openEngine(path, loaded, options)) as KnowledgeBase<Own>;
  return (await openSource(await findSource(path, options))) as KnowledgeBase<Own>;
}

async function openEngine(
  path: string,
  { config, warnings }: LoadedKnowledgeBaseConfig<EngineBaseConfig>,
  options: OpenKnowledgeBaseOptions,
): Promise<KnowledgeBase> {
  checkOpenOptions(options);
  const { models, log = noLog, connections, readOnly = false, signal } = options;
  for (const warning of warnings) log.warn({ file: path }, warning);
  const model = await findModel({ path, config }, modelResolver(models));
  return openEngineBase({ path, config, warnings, model, connections, readOnly, signal });
}

/** Like openKnowledgeBase(), from a resolved source. */
export async function openSource(source: Source): Promise<KnowledgeBase> {
  const letGo = holdModel(source.model);
  return openUnmoved({ ...source, model: ComparedModel.of(source.model) }).finally(letGo);
}

/** Attempts of an opening while other processes merge. */
const attempts = 5;

async function openUnmoved(source: Source): Promise<KnowledgeBase> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await openFiles(source);
    } catch (error) {
      if (!isReplaced(error)) throw error;
      const reason = 'other processes keep replacing it';
      if (attempt === attempts)
        throw LorekeepError.about('IO', { file: source.files.records, reason }, { cause: error });
    }
  }
}

/** Whether another process has put a file in the place of one that was being opened. */
const isReplaced = (error: unknown) =>
  error instanceof FilesReplaced ||
  (error instanceof LorekeepError && error.code === 'IO' && error.detail.mismatch === 'content');

async function openFiles(source: Source): Promise<KnowledgeBase> {
  const { readOnly } = source;
  await checkDestinations(source, readOnly ? [] : ['textIndex', 'embeddings']);
  await settleLog(source);
  if (!readOnly && (await hasForgetLeftovers(source.files.changes))) await settleForget(source);
  return openSettled(source);
}

/** Completes a forgetting that a process began and did not end. While another process changes the base, leaves it to that one. */
async function settleForget(source: Source): Promise<void> {
  const { files, log, warnings } = source;
  const kb = await openSettled({ ...source, warnings: [] });
  try {
    const wasPending = await kb.changes.completeForget(source.signal);
    const done = wasPending ? 'is complete' : 'has not begun, and its files are removed';
    log.info({ file: files.records }, `a forgetting that was interrupted ${done}`);
  } catch (err) {
    if (isLocked(err)) return;
    if (source.signal?.aborted) throw err;
    warnings.push(`${source.pathOf(files.records)}: forgetting was interrupted and cannot be completed`);
    log.warn({ err, file: files.records }, 'a forgetting that was interrupted cannot be completed');
  } finally {
    await kb.close();
  }
}

async function openSettled(source: Source): Promise<KnowledgeBase> {
  const path = source.pathOf(source.path);
  const empty = existsSync(source.files.records) ? undefined : await emptyFolderOf(path);
  if (empty !== undefined) {
    const reason = `${empty} had no text to index at the last run, so its index has nothing to find`;
    throw LorekeepError.about('NOT_FOUND', { file: path, reason });
  }
  const emptied = await emptiedContent(source);
  if (emptied !== undefined) return openEmptied(source, emptied);
  await using ahead = new LogAhead(source);
  const { storage, content, counts, indexWritten } = await loadFiles(source);
  return await withChanges(storage, source, content, { embeddings: counts, indexWritten, ahead });
}

interface LoadedFiles {
  storage: Storage;
  content: FileContent;
  counts?: EmbeddingCounts | undefined;
  indexWritten: boolean;
}

/** Makes a storage of the files, without the change log. */
async function loadFiles(source: Source): Promise<LoadedFiles> {
  const { config, signal, onProgress } = source;
  const report = new PhaseReport(onProgress);
  const read = await stampAt(source.files.records);
  const { records: opened, fromIndex } = await report.run(
    'read',
    0,
    () => openRecords(source),
    ({ records }) => records.size,
  );
  await using records = opened;
  const former = fromIndex ? undefined : await indexedContent(source);
  const { vectors: found, counts, indexWritten } = await findVectors(records, source, report);
  await using vectors = found;
  await using textIndex = await openTextIndex(records, source, report);
  if (indexWritten && (await dropIfReplaced(source, read)))
    source.log.info(
      { file: source.files.records },
      'the records file was replaced meanwhile; the index is built again later',
    );
  const ef = config.search?.ef_search;
  const { content, size } = records;
  const ids = [...new Set(size === 0 ? [] : [0, size - 1])].map((ordinal) => records.idOf(ordinal));
  const storage = await Storage.fromRecords(records, vectors, textIndex, { ef, signal });
  await closeIfFailed(storage, async () => {
    if (counts?.reused !== 0) await compareModel(storage, ids, source);
    if (!fromIndex && !source.readOnly) await countReplacement(source, { former, content });
  });
  return { storage, content, counts, indexWritten: indexWritten === true };
}

/** Compares the vectors of some records with new ones of a remote model. @throws INVALID_ARGUMENT if they are not of that model */
async function compareModel(
  storage: Storage,
  ids: readonly string[],
  { model, files, pathOf, log, signal }: Source,
): Promise<void> {
  if (!(model instanceof ComparedModel)) return;
  const file = files.index ?? files.records;
  if (await model.compare(storage, { ids, file: pathOf(file) }, signal)) return;
  log.warn({ file, model: model.name }, 'no server computes the model now: only searches for words work');
}

/** Loads the files that another process has put in the place of those that were opened. Writes none. */
async function loadAgain(source: Source, signal: AbortSignal | undefined): Promise<LaterFiles> {
  const { files, close } = (await source.reopen?.()) ?? { files: source.files, close: async () => {} };
  try {
    const later = { ...source, files, readOnly: true, onProgress: noProgress, signal };
    const emptied = await emptiedContent(later);
    if (emptied !== undefined) return { storage: await emptyStorage(later), content: emptied };
    return await loadFiles(later);
  } finally {
    await close();
  }
}

/** Opens the change log of a storage. */
function withChanges(
  storage: Storage,
  source: Source,
  content: FileContent,
  { ahead, ...facts }: Pick<KnowledgeBaseFacts, 'embeddings' | 'indexWritten'> & { ahead: LogAhead },
): Promise<KnowledgeBase> {
  const { config, model, warnings, flush } = source;
  return closeIfFailed(storage, async () => {
    const warn = (warning: string) => {
      warnings.push(warning);
      source.log.warn({ file: source.files.changes }, warning);
    };
    const gone = await goneFolderOf(source.pathOf(source.path));
    if (gone !== undefined) warn(`${gone}: the folder of this index is gone; its last content is searched`);
    const load = (signal: AbortSignal | undefined) =>
      loadAgain({ ...source, files: namedFiles(source) }, signal);
    if (model instanceof ComparedModel) model.serve(storage);
    const changes = await BaseChanges.open(storage, source, content, { flush, ahead, warn, load });
    return new KnowledgeBase(storage, model, { config, warnings, ...facts, changes });
  });
}

/** The records file of a base that was emptied by changes; undefined for another. A records file without a log is no such base. */
async function emptiedContent(source: Source): Promise<FileContent | undefined> {
  const found = await factsAt(source.files.records);
  if (found === undefined || !isEmptied({ size: Number(found.size), checksum: '' })) return undefined;
  const content = await identifyFile(source.files.records, { signal: source.signal });
  await using log = await readLog(source);
  return log !== undefined && versionOfFile(log.facts, content) !== undefined ? content : undefined;
}

async function openEmptied(source: Source, content: FileContent): Promise<KnowledgeBase> {
  const storage = await emptyStorage(source);
  await using ahead = new LogAhead(source);
  return await withChanges(storage, source, content, { embeddings: undefined, indexWritten: false, ahead });
}

function emptyStorage({ config, model, signal }: Source): Promise<Storage> {
  const { m, ef_construction: efConstruction } = config.hnsw ?? {};
  return Storage.empty(factsOf(model).dimension, {
    fields: config.fields,
    tokenizer: config.bm25_tokenizer,
    vectorType: config.vector_type,
    m,
    efConstruction,
    signal,
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
