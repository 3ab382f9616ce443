import { dirname, relative, resolve, sep } from 'node:path';
import { isWithin } from '../../base/files/within.js';
import { Client } from '../../client/index.js';
import { configSchema, type ServerConfig } from '../../config/schema.js';
import { loadAnyConfig } from '../../knowledge/config.js';
import { lastOptions } from '../../knowledge/folder/last-options.js';
import { type FolderIndex, indexFolder, type ProgressListener } from '../../knowledge/index.js';
import type { ErrorFields } from '../../log/error-fields.js';
import { createLog } from '../../log/log.js';
import { LorekeepServer } from '../../server/server.js';
import { openCatalogAndConfig } from '../catalog/open-catalog.js';
import { UsageError } from '../failure.js';
import { note, warnWithCause } from '../output.js';
import { count, counted } from '../terminal/amounts.js';
import { printableLine } from '../terminal/printable.js';
import { progressView } from '../terminal/progress.js';
import { storageName } from './answering-graph.js';
import { LoadingNote } from './loading-note.js';
import { modelOfFlag } from './model-file.js';
import type { Opened, OpenFlags } from './opened.js';
import type { PlaceHere } from './places.js';

/** Phases shorter than this print nothing. */
const quietMs = 500;

/** A server without a port, and the knowledge bases that it can open. */
export interface StartedHere {
  readonly server: LorekeepServer;
  /** The config of each place. */
  readonly configs: readonly string[];
  /** The folder that contains all configs. */
  readonly root: string;
  /** Catalog name of the language model of the flags, if one is named. */
  readonly model: string | undefined;
  readonly hasLanguageModel: boolean;
}

/**
 * Starts a server without a port in this process, and indexes the folders as far as they have changed. `writes`: the storages
 * that its clients may change.
 * @throws LorekeepError, StartupError, UsageError; the signal's reason
 */
export async function startHere(
  places: readonly PlaceHere[],
  flags: OpenFlags,
  signal: AbortSignal,
  writes: ServerConfig['storage_writes'] = 'none',
): Promise<StartedHere> {
  if (flags.embeddingModel !== undefined && places.every(({ kind }) => kind === 'config'))
    throw new UsageError('--embedding-model: it has no effect: the knowledge base names its own');
  // Before a folder is indexed, and in the words of its path as it was given.
  for (const { kind, path } of places) if (kind === 'config') await loadAnyConfig(path);
  const { catalog, config, connections } = await openCatalogAndConfig(flags);
  const { name: model, entry } = await modelOfFlag(flags.model, catalog, 'llm');
  if (entry !== undefined) catalog.add(entry);
  const server = await LorekeepServer.start({
    config: quietConfig(config, writes),
    catalog,
    connections,
    log: createLog('warn', stderrSink),
    listen: false,
  });
  try {
    const configs: string[] = [];
    for (const place of places)
      configs.push(
        place.kind === 'config' ? resolve(place.path) : await indexed(place.path, server, flags, signal),
      );
    const root = commonFolder(configs.map((file) => dirname(file)));
    const hasLanguageModel =
      model !== undefined ||
      catalog.entries.some((one) => one.model_type === 'llm' && catalog.locate(one).present);
    return { server, configs, root, model, hasLanguageModel };
  } catch (error) {
    await server.close();
    throw error;
  }
}

/** The path of a config below the root, as requests name it. */
export const configBelow = (root: string, file: string): string => relative(root, file).split(sep).join('/');

/**
 * Opens folders and knowledge bases in this process, for one client. Folders are indexed first, as far as they have changed.
 * @throws as startHere()
 */
export async function openHere(
  places: readonly PlaceHere[],
  flags: OpenFlags,
  signal: AbortSignal,
): Promise<Opened> {
  const { server, configs, root, model, hasLanguageModel } = await startHere(places, flags, signal);
  try {
    const client = await Client.over(server.attach(), { signal });
    const session = await client.createSession({ storageDataFolder: root }, { signal });
    let records = 0;
    for (const [index, file] of configs.entries()) {
      const fields = { name: storageName(index), configPath: configBelow(root, file) };
      records += (await session.createEmbeddedStringStorage(fields, { signal })).recordCount;
    }
    const close = () => server.close();
    const folders = new Map(
      places.map(({ kind, path }, at) => [storageName(at), kind === 'folder' ? path : undefined]),
    );
    return {
      ...{ session, storages: configs.length, records, model, hasLanguageModel },
      folderOf: (storage) => folders.get(storage),
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await server.close();
    throw error;
  }
}

/** The engines of the server's config, without its doors, reports and limits of time. */
export function quietConfig(
  config: ServerConfig | undefined,
  writes: ServerConfig['storage_writes'],
): ServerConfig {
  const defaults = configSchema.parse({});
  return {
    ...(config ?? defaults),
    access_token_file: '',
    allow_model_pulls: false,
    idle_shutdown_timeout: 0,
    session_folders: 'any',
    storage_writes: writes,
    telemetry: { ...defaults.telemetry, enabled: false },
    monitor: { ...defaults.monitor, enabled: false },
    metrics: { ...defaults.metrics, enabled: false },
    debug_commands: { ...defaults.debug_commands, enabled: false },
  };
}

/** Indexes what has changed in a folder, as the last run of `index` did, and returns the config of its knowledge base. */
async function indexed(
  folder: string,
  server: LorekeepServer,
  flags: OpenFlags,
  signal: AbortSignal,
): Promise<string> {
  return (await indexHere(folder, server, flags, signal)).config;
}

/** Indexes what has changed in a folder, as the last run of `index` did. `onProgress` hears what the terminal shows. */
export async function indexHere(
  folder: string,
  server: LorekeepServer,
  { embeddingModel, json }: OpenFlags,
  signal: AbortSignal,
  onProgress: ProgressListener = () => {},
): Promise<FolderIndex> {
  const view = progressView(process.stderr, { quietMs, json });
  const loaded = new LoadingNote({ json }, 'lorekeep: loading the embedding model').start();
  const log = { info() {}, warn: warnWithCause };
  const given = { ...(await lastOptions(folder)), ...(embeddingModel && { model: embeddingModel }) };
  const index = await indexFolder({
    folder,
    ...given,
    models: server.embeddingModels,
    signal,
    log,
    onProgress: (progress) => {
      loaded();
      view.update(progress);
      onProgress(progress);
    },
  }).finally(() => {
    loaded();
    view.stop();
  });
  if (!json) tell(folder, index);
  return index;
}

/** Says what has changed, and what was left out. */
function tell(folder: string, { records, read, removed, embedded, problems }: FolderIndex): void {
  const changes = [
    ...(read > 0 ? [`${counted(read, 'file')} read`] : []),
    ...(removed > 0 ? [`${count(removed)} removed`] : []),
    ...(embedded > 0 ? [`${counted(embedded, 'text')} embedded`] : []),
  ];
  const files = new Set(problems.map(({ path }) => path)).size;
  if (files > 0) changes.push(`${counted(files, 'file')} left out: lorekeep index says why`);
  if (changes.length > 0)
    note(`${printableLine(folder)}: ${counted(records, 'record')} (${changes.join(', ')})`);
}

/** The folder that contains all of these. @throws UsageError if there is none, as on two drives */
function commonFolder(folders: readonly string[]): string {
  let common = folders[0] as string;
  for (const folder of folders) {
    while (!isWithin(folder, common)) {
      const above = dirname(common);
      if (above === common) throw new UsageError('the places are on different drives; ask them one by one');
      common = above;
    }
  }
  return common;
}

/** Warnings of the server go to stderr, a line each. Only a cause without a code is a bug. */
export const stderrSink = {
  write(line: string): void {
    const { msg = '', err } = JSON.parse(line) as { msg?: string; err?: ErrorFields };
    const cause = err?.message && Object.assign(new Error(err.message), { code: err.code });
    warnWithCause(cause ? { err: cause } : {}, msg);
  },
};
