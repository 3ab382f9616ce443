import { resolve } from 'node:path';
import { type HnswOptions, LorekeepError, Records, Storage, VectorIndex } from '../../lib/index.js';
import { loadKnowledgeBaseConfig } from './config.js';
import type { KnowledgeBaseConfig } from './config-schema.js';
import { KnowledgeBase } from './knowledge-base.js';
import { type KnowledgeLog, noLog } from './log.js';
import { embedAll, indexFingerprint, type KnowledgeModel, type ModelResolver } from './model.js';
import { besideConfig, type KnowledgeBaseFiles, type PathResolver, resolveFiles } from './paths.js';
import { openWords } from './words.js';

export interface OpenKnowledgeBaseOptions {
  /** Gives the model that the config file names. */
  models: ModelResolver;
  signal?: AbortSignal | undefined;
  /** Default: silent. */
  log?: KnowledgeLog | undefined;
  /** Default: relative paths start at the config file's folder. */
  resolvePath?: PathResolver | undefined;
}

/** A config whose model and files are known. */
interface Source {
  config: KnowledgeBaseConfig;
  warnings: string[];
  model: KnowledgeModel;
  files: KnowledgeBaseFiles;
  log: KnowledgeLog;
  signal: AbortSignal | undefined;
}

/**
 * Opens the knowledge base of a config file: reads the records, loads or builds its indexes.
 * @throws LorekeepError with file and reason: NOT_FOUND, IO, CORRUPT, INVALID_ARGUMENT (config, records, or a model that
 * `models` does not know), TEXT_TOO_LONG, DIMENSION_MISMATCH or UNSUPPORTED for the index file; CANCELLED.
 */
export async function openKnowledgeBase(
  configPath: string,
  options: OpenKnowledgeBaseOptions,
): Promise<KnowledgeBase> {
  const source = await prepare(configPath, options);
  const { config, warnings, model, files, signal } = source;
  const records = await Records.read(files.records, { fields: config.fields, signal });
  try {
    const vectors =
      files.index === undefined
        ? await buildVectors(records, source)
        : await openIndex(records, files.index, model, signal);
    try {
      const words = await wordsOf(records, source);
      try {
        const storage = await Storage.fromRecords(records, vectors, words, { signal });
        return new KnowledgeBase(config, storage, model, warnings);
      } finally {
        await words.close();
      }
    } finally {
      await vectors.close();
    }
  } finally {
    await records.close();
  }
}

/**
 * Builds the files that opening wants to find: embeds the records, writes `index_file` and, where the config has one, the
 * text index. Each is written beside its place and renamed, so that a reader sees the old file or the new one.
 * @throws as openKnowledgeBase(); INVALID_ARGUMENT when the config names no `index_file`.
 */
export async function buildKnowledgeBase(
  configPath: string,
  options: OpenKnowledgeBaseOptions,
): Promise<{ records: number; indexFile: string }> {
  const source = await prepare(configPath, options);
  const { config, model, files, signal } = source;
  const indexFile = files.index;
  if (indexFile === undefined) {
    throw new LorekeepError(
      'INVALID_ARGUMENT',
      `${configPath}: index_file: is missing; it says where to build`,
      {
        file: configPath,
        path: 'index_file',
      },
    );
  }
  const records = await Records.read(files.records, { fields: config.fields, signal });
  try {
    const vectors = await buildVectors(records, source);
    try {
      await vectors.save(indexFile, { fingerprint: indexFingerprint(records, model), signal });
    } finally {
      await vectors.close();
    }
    await (await wordsOf(records, source)).close();
    return { records: records.size, indexFile };
  } finally {
    await records.close();
  }
}

async function prepare(configPath: string, options: OpenKnowledgeBaseOptions): Promise<Source> {
  const path = resolve(configPath);
  const { config, warnings } = await loadKnowledgeBaseConfig(path);
  const log = options.log ?? noLog;
  for (const warning of warnings) log.warn({ file: path }, warning);
  const model = await options.models(config.embedding_model);
  if (model === undefined) {
    const name = JSON.stringify(config.embedding_model);
    throw new LorekeepError(
      'INVALID_ARGUMENT',
      `${path}: embedding_model: there is no embedding model ${name}`,
      {
        file: path,
        path: 'embedding_model',
      },
    );
  }
  const files = await resolveFiles(config, options.resolvePath ?? besideConfig(path));
  return { config, warnings, model, files, log, signal: options.signal };
}

async function buildVectors(
  records: Records,
  { config, model, files, signal }: Source,
): Promise<VectorIndex> {
  const rows = await embedAll(records, model, files.records, signal);
  const hnsw: HnswOptions = { m: config.hnsw?.m, efConstruction: config.hnsw?.ef_construction };
  return VectorIndex.build(rows, model.model.dimension, { ...hnsw, signal });
}

async function openIndex(
  records: Records,
  file: string,
  model: KnowledgeModel,
  signal: AbortSignal | undefined,
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

function wordsOf(records: Records, { config, files, log, signal }: Source) {
  return openWords(records, {
    path: files.words,
    recordsFile: files.records,
    tokenizer: config.bm25_tokenizer,
    log,
    signal,
  });
}
