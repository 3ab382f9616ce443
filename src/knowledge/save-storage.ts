import { lstat } from 'node:fs/promises';
import { basename, dirname, extname, join, resolve } from 'node:path';
import { makeFolder, readRegular, unreadable, writeWhole } from '../../lib/basics.js';
import {
  type FieldDefinition,
  LorekeepError,
  type MetadataValue,
  Records,
  type Storage,
  type StoredRecord,
} from '../../lib/internal.js';
import { largestConfigBytes } from '../base/files/read-text.js';
import { graphOf } from './changes/graph-of.js';
import { embedsTexts, indexFingerprint, type KnowledgeModel } from './model.js';
import { checkOwnRecords } from './own-records.js';
import { searchConfig } from './search-config.js';
import type { SearchDefaults } from './search-defaults.js';

export interface SaveStorageOptions {
  /** Name of the model in the config. Default: the model's name in the catalog; required where it has none. */
  embeddingModel?: string | undefined;
  /** Aborting rejects the call. */
  signal?: AbortSignal | undefined;
}

/** Records read and written at a time. */
const portion = 1000;

/**
 * Writes a storage as a knowledge base that opens without embedding: the config file at `path`, and next to it the records,
 * the index and the text index. The config is written last. Returns the absolute paths.
 * @throws INVALID_ARGUMENT for a config file that is not of these files, and for a storage without records; UNSUPPORTED for
 * an older version of several parts, and for a storage that is changed while it is merged; IO, CANCELLED
 */
export async function saveStorage(
  storage: Storage,
  model: KnowledgeModel,
  { defaults, fields }: { defaults: SearchDefaults; fields: readonly FieldDefinition[] | undefined },
  path: string,
  { embeddingModel = model.name, signal }: SaveStorageOptions,
): Promise<string[]> {
  if (embeddingModel === undefined) {
    const reason = 'the model has no name; a name for the config is expected';
    throw LorekeepError.about('INVALID_ARGUMENT', { field: 'embeddingModel', reason });
  }
  const config = resolve(path);
  const stem = basename(config, extname(config));
  const beside = (extension: string) => `${stem}.${extension}`;
  const written = {
    version: 1,
    embedding_model: embeddingModel,
    records_file: beside('records.json'),
    index_file: beside('index'),
    bm25_file: beside('bm25'),
    bm25_tokenizer: storage.tokenizer,
    ...(fields && fields.length > 0 && { fields }),
    search: searchConfig(defaults),
  };
  await checkConfig(config, written.records_file);
  const { parts, deletedShare } = storage.merging;
  if (parts > 1 || deletedShare > 0) await storage.merge({ signal });
  await using version = storage.pin();
  if (version.size === 0) {
    const reason = 'the storage has no records, and a file without records does not open';
    throw LorekeepError.about('INVALID_ARGUMENT', { file: config, reason });
  }
  const folder = dirname(config);
  const [recordsFile, indexFile, textIndexFile] = [
    written.records_file,
    written.index_file,
    written.bm25_file,
  ].map((name) => join(folder, name)) as [string, string, string];
  makeFolder(folder);
  await writeWhole(
    recordsFile,
    () => checkOwnRecords(recordsFile),
    (write) => writeRecords(version, write, signal),
  );
  await using records = await Records.read(recordsFile, { fields, signal });
  const [vectors, texts] = version.indexes();
  await using index = vectors;
  await using textIndex = texts;
  const owner = { config, records: recordsFile };
  const fingerprint = embedsTexts(model) ? indexFingerprint(records, model, 'error') : undefined;
  await using graph = await graphOf(index, version, { signal });
  await graph.save(indexFile, { fingerprint, records, owner, signal });
  await textIndex.save(textIndexFile, { fingerprint: records.fingerprint, owner, signal });
  await writeWhole(
    config,
    () => checkConfig(config, written.records_file),
    `${JSON.stringify(written, undefined, 2)}\n`,
  );
  return [config, recordsFile, indexFile, textIndexFile];
}

/** Refuses to replace a config file that is not one of an earlier save. */
async function checkConfig(config: string, recordsFile: string): Promise<void> {
  await checkRegular(config);
  await checkOwnRecords(join(dirname(config), recordsFile));
  const text = await readRegular(config, largestConfigBytes).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    if (error instanceof LorekeepError) throw error;
    throw unreadable(config, error);
  });
  if (text === undefined) return;
  let found: unknown;
  try {
    found = JSON.parse(text);
  } catch {
    found = undefined;
  }
  if ((found as { records_file?: unknown } | undefined)?.records_file === recordsFile) return;
  const reason = 'the file exists and is not a knowledge base that was saved here; choose another path';
  throw LorekeepError.about('INVALID_ARGUMENT', { file: config, reason });
}

/** @throws INVALID_ARGUMENT for a link, a folder, a device or a pipe */
async function checkRegular(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined || found.isFile()) return;
  const reason = 'is not a regular file, so it is not replaced; choose another path';
  throw LorekeepError.about('INVALID_ARGUMENT', { file: path, reason });
}

async function writeRecords(
  storage: Storage,
  write: (text: string) => Promise<void>,
  signal: AbortSignal | undefined,
): Promise<void> {
  let before = '[\n';
  for (let offset = 0; offset < storage.size; offset += portion) {
    const records = await storage.list({ offset, limit: portion, signal });
    await write(`${before}${records.map(recordJson).join(',\n')}`);
    before = ',\n';
  }
  await write('\n]\n');
}

function recordJson({ id, text, metadata }: StoredRecord): string {
  const own = `{"id":${JSON.stringify(id)},"text":${JSON.stringify(text)}`;
  if (metadata === undefined) return `${own}}`;
  const values = Object.entries(metadata).map(
    ([name, value]) => `${JSON.stringify(name)}:${valueJson(value)}`,
  );
  return `${own},"metadata":{${values.join(',')}}}`;
}

/** JSON.stringify() refuses a bigint. */
const valueJson = (value: MetadataValue) =>
  typeof value === 'bigint' ? String(value) : JSON.stringify(value);
