import { resolve } from 'node:path';
import { LorekeepError, type VersionLimits } from '../../lib/internal.js';
import { isSealed } from '../base/files/home.js';
import { commandName, shellWord } from '../base/schema/shell-word.js';
import type { FlushSetting } from './changes/public.js';
import {
  isInDatabase,
  type LoadedKnowledgeBaseConfig,
  loadAnyConfig,
  loadKnowledgeBaseConfig,
} from './config.js';
import type { EngineBaseConfig, KnowledgeBaseConfig } from './config-schema.js';
import { type KnowledgeLog, noLog } from './log.js';
import { type KnowledgeModel, type ModelResolver, type ModelSource, modelResolver } from './model.js';
import { checkOptionNames, type OptionNames } from './option-names.js';
import {
  type ConfigFiles,
  type KnowledgeBaseFiles,
  type PathResolver,
  plainFiles,
  resolveFiles,
} from './paths.js';
import type { PostgresConnections } from './postgres/connections.js';
import { noProgress, type ProgressListener } from './progress.js';
import { storedDimension } from './stored-dimension.js';

export interface OpenKnowledgeBaseOptions {
  /** Gives the model that the config file names: `await CatalogModels.open()`, or a function. */
  models: ModelSource;
  /** Aborting rejects the call. */
  signal?: AbortSignal | undefined;
  /** Default: silent. */
  log?: KnowledgeLog | undefined;
  /** Default: relative paths start at the config file's folder. */
  resolvePath?: PathResolver | undefined;
  /** true: opening writes no file. Absent indexes and embeddings are computed on every opening. Default: false. */
  readOnly?: boolean | undefined;
  /**
   * When an acknowledged change is on the device: "always" before it is acknowledged, a number at most so many milliseconds later,
   * "never" when the system writes it. A change survives the end of the process with each. Default "always": a memory that an
   * agent confirmed is not lost with the power.
   */
  flush?: FlushSetting | undefined;
  /**
   * Older versions that can be read by `at()`: how many, their bytes in memory, and their age in milliseconds. Those whose batches are in
   * the change log are there after a restart, too. Default: none.
   */
  versions?: VersionLimits | undefined;
  /** The connections of knowledge bases whose config names a database. Default: none. */
  connections?: PostgresConnections | undefined;
  /** Told of each phase's steps, in order; a phase that has nothing to do is skipped. */
  onProgress?: ProgressListener | undefined;
}

const longestFlushMs = 60_000;

const known: OptionNames<OpenKnowledgeBaseOptions> = {
  models: true,
  signal: true,
  log: true,
  resolvePath: true,
  readOnly: true,
  flush: true,
  versions: true,
  connections: true,
  onProgress: true,
};

const knownLimits: OptionNames<VersionLimits> = { count: true, bytes: true, age: true };

/** A config that was read, and the files that it names. */
export interface ResolvedSource {
  path: string;
  /** The path of a file for people, by the name that it is opened by. */
  pathOf(name: string): string;
  config: KnowledgeBaseConfig;
  /** One sentence per key of the config that has no effect. */
  warnings: string[];
  files: KnowledgeBaseFiles;
}

/** Inputs of opening and building. */
export interface Source extends ResolvedSource {
  model: KnowledgeModel;
  /** The command that builds its files. */
  buildCommand: string;
  /** Opening writes no file. */
  readOnly: boolean;
  /** When changes are flushed; undefined: always. */
  flush?: FlushSetting | undefined;
  /** Older versions that are kept; undefined: none. */
  versions?: VersionLimits | undefined;
  log: KnowledgeLog;
  signal: AbortSignal | undefined;
  onProgress: ProgressListener;
  /** Opens the files again, by names that are valid until close(). Default: by their paths. */
  reopen?: (() => Promise<{ files: KnowledgeBaseFiles; close(): Promise<void> }>) | undefined;
}

/** @throws INVALID_ARGUMENT */
function checkFlush(flush: FlushSetting | undefined): void {
  const isTime = typeof flush === 'number' && flush >= 0 && flush <= longestFlushMs;
  if (flush === undefined || flush === 'always' || flush === 'never' || isTime) return;
  const reason = `"always", "never" or a number of milliseconds up to ${longestFlushMs} is expected`;
  throw LorekeepError.about('INVALID_ARGUMENT', { field: 'flush', reason });
}

/** The config file's absolute path. @throws INVALID_ARGUMENT for anything but a path */
export function configArgument(path: string): string {
  if (typeof path === 'string' && path !== '') return resolve(path);
  const reason = "the path of a knowledge base's config file is expected";
  throw LorekeepError.about('INVALID_ARGUMENT', { field: 'configPath', reason });
}

/** The command that builds a knowledge base, for a shell in any folder. */
export function buildCommandOf(config: string, models: ModelSource | undefined): string {
  const flags = models !== undefined && 'buildFlags' in models ? models.buildFlags : undefined;
  return [`${commandName()} build`, shellWord(config), flags].filter((part) => part !== undefined).join(' ');
}

/** A config that was read, of a knowledge base in a database. */
export type ResolvedEngine = Pick<ResolvedSource, 'path' | 'pathOf' | 'warnings'> & {
  config: EngineBaseConfig;
};

/** Reads a config in files or a database, and resolves the paths in it. @throws as openKnowledgeBase() for the config */
export async function resolveAny({
  name,
  config: path,
  resolvePath,
  pathOf,
}: Pick<ConfigFiles, 'name' | 'config' | 'resolvePath' | 'pathOf'>): Promise<
  ResolvedSource | ResolvedEngine
> {
  const loaded = await loadAnyConfig(path, name);
  if (isInDatabase(loaded)) return { path, pathOf, config: loaded.config, warnings: loaded.warnings };
  const { config, warnings } = loaded as LoadedKnowledgeBaseConfig;
  return { path, pathOf, config, warnings, files: await resolveFiles(config, resolvePath) };
}

/** Reads a config and resolves the paths in it. @throws as openKnowledgeBase() for the config */
export async function resolveSource({
  name,
  config: path,
  resolvePath,
  pathOf,
}: Pick<ConfigFiles, 'name' | 'config' | 'resolvePath' | 'pathOf'>): Promise<ResolvedSource> {
  const { config, warnings } = await loadKnowledgeBaseConfig(path, name);
  return { path, pathOf, config, warnings, files: await resolveFiles(config, resolvePath) };
}

/** The model that a config names. That of stored vectors may be a remote one whose server does not answer. @throws INVALID_ARGUMENT for an unknown one; errors of `models` */
export async function findModel(
  {
    path: file,
    config,
    files,
  }: Pick<ResolvedSource, 'path'> & {
    config: Pick<KnowledgeBaseConfig, 'embedding_model'>;
  } & Partial<Pick<ResolvedSource, 'files'>>,
  models: ModelResolver,
): Promise<KnowledgeModel> {
  const name = config.embedding_model;
  const model = await models(name, files && (() => storedDimension(files)));
  if (model !== undefined) return model;
  const reason = `there is no embedding model ${JSON.stringify(name)}`;
  throw LorekeepError.about('INVALID_ARGUMENT', { file, field: 'embedding_model', reason });
}

/** @throws INVALID_ARGUMENT for an unknown option */
export function checkOpenOptions(options: OpenKnowledgeBaseOptions): void {
  checkOptionNames(options ?? {}, known, 'a knowledge base');
  checkOptionNames(options?.versions ?? {}, knownLimits, 'versions', 'versions.');
}

/** Reads the config and finds its files and its model. @throws as openKnowledgeBase() for config and model */
export async function findSource(configPath: string, options: OpenKnowledgeBaseOptions): Promise<Source> {
  const path = configArgument(configPath);
  checkOpenOptions(options);
  const models = modelResolver(options?.models);
  const { log = noLog, onProgress = noProgress, signal } = options;
  const files = plainFiles(path);
  const { resolvePath = files.resolvePath } = options;
  const source = await resolveSource({ ...files, resolvePath });
  for (const warning of source.warnings) log.warn({ file: path }, warning);
  const model = await findModel(source, models);
  const buildCommand = buildCommandOf(path, options.models);
  const { flush, versions } = options;
  checkFlush(flush);
  return {
    ...source,
    model,
    buildCommand,
    readOnly: options.readOnly === true || isSealed(path),
    flush,
    versions,
    log,
    signal,
    onProgress,
  };
}
