import { resolve } from 'node:path';
import { LorekeepError } from '../../lib/index.js';
import { loadKnowledgeBaseConfig } from './config.js';
import type { KnowledgeBaseConfig } from './config-schema.js';
import { type KnowledgeLog, noLog } from './log.js';
import { type KnowledgeModel, type ModelSource, modelResolver } from './model.js';
import { checkOptionNames, type OptionNames } from './option-names.js';
import { besideConfig, type KnowledgeBaseFiles, type PathResolver, resolveFiles } from './paths.js';
import { noProgress, type ProgressListener } from './progress.js';

export interface OpenKnowledgeBaseOptions {
  /** Gives the model that the config file names: `await CatalogModels.open()`, or a function. */
  models: ModelSource;
  signal?: AbortSignal | undefined;
  /** Default: silent. */
  log?: KnowledgeLog | undefined;
  /** Default: relative paths start at the config file's folder. */
  resolvePath?: PathResolver | undefined;
  /** Told of each phase's steps, in order; a phase that has nothing to do is skipped. */
  onProgress?: ProgressListener | undefined;
}

const known: OptionNames<OpenKnowledgeBaseOptions> = {
  models: true,
  signal: true,
  log: true,
  resolvePath: true,
  onProgress: true,
};

/** A config whose model and files are known. */
export interface Source {
  path: string;
  config: KnowledgeBaseConfig;
  warnings: string[];
  model: KnowledgeModel;
  files: KnowledgeBaseFiles;
  log: KnowledgeLog;
  signal: AbortSignal | undefined;
  onProgress: ProgressListener;
}

/** The config file's absolute path. @throws INVALID_ARGUMENT for what is no path */
export function configArgument(path: string): string {
  if (typeof path === 'string' && path !== '') return resolve(path);
  const message = "configPath: the path of a knowledge base's config file is expected";
  throw new LorekeepError('INVALID_ARGUMENT', message, { argument: 'configPath' });
}

/** Reads the config and finds what it names. @throws as openKnowledgeBase() for config and model */
export async function findSource(configPath: string, options: OpenKnowledgeBaseOptions): Promise<Source> {
  const path = configArgument(configPath);
  checkOptionNames(options ?? {}, known, 'a knowledge base');
  const models = modelResolver(options?.models);
  const { config, warnings } = await loadKnowledgeBaseConfig(path);
  const { log = noLog, onProgress = noProgress, signal } = options;
  for (const warning of warnings) log.warn({ file: path }, warning);
  const model = await models(config.embedding_model);
  if (model === undefined) throw unknownModel(path, config.embedding_model);
  const files = await resolveFiles(config, options.resolvePath ?? besideConfig(path));
  return { path, config, warnings, model, files, log, signal, onProgress };
}

export function unknownModel(path: string, name: string): LorekeepError {
  const shown = JSON.stringify(name);
  const message = `${path}: embedding_model: there is no embedding model ${shown}`;
  return new LorekeepError('INVALID_ARGUMENT', message, { file: path, path: 'embedding_model' });
}
