import { dirname, join, resolve } from 'node:path';
import { cacheFolder } from '../../lib/internal.js';
import type { ServerConfig } from '../config/schema.js';
import type { Catalog } from '../models/catalog.js';
import type { OwnFiles } from '../storages/storage-root.js';
import { memoriesFolder } from './memories-folder.js';

/**
 * Returns the server's own files. Those that the config has named since the start stay closed when it is read again.
 * `configFile`: where the config is, or would be. `catalog`: its models may name files with secrets.
 */
export function ownFiles(config: ServerConfig, configFile: string | undefined, catalog: Catalog): OwnFiles {
  const closed = new Set(configFile === undefined ? [] : [configFile]);
  const folder = configFile === undefined ? '' : dirname(configFile);
  const remember = () => {
    for (const path of [...named(config, folder), ...namedBy(catalog)]) if (path !== '') closed.add(path);
  };
  remember();
  return {
    remember,
    get closed() {
      return [...closed];
    },
    sealed: [memoriesFolder(config)],
    get logs() {
      return config.logs_dir;
    },
  };
}

function named(config: ServerConfig, folder: string): string[] {
  const { access_token_file, models_catalog_path, models_download_dir, logs_dir, crash_dump } = config;
  const downloads = join(models_download_dir, 'downloads.json');
  const { keys_file, tls_cert, tls_key, agents } = config.http;
  // The graph of an agent may have the secret of a memory.
  const secrets = [access_token_file, keys_file, tls_cert, tls_key, ...Object.values(agents)];
  const ofDatabases = Object.values(config.connections).flatMap(({ password_file, ca_file }) =>
    [password_file, ca_file].filter((path) => path !== undefined).map((path) => resolve(folder, path)),
  );
  return [
    ...secrets,
    ...ofDatabases,
    models_catalog_path,
    downloads,
    logs_dir,
    crash_dump.dir,
    config.stt_debug_dump_dir,
    cacheFolder(),
    memoriesFolder(config),
  ];
}

/** The files with secrets and certificates of remote models. */
const namedBy = (catalog: Catalog): string[] =>
  catalog.entries
    .flatMap(({ variants }) => variants)
    .flatMap(({ remote }) => [remote?.key_file, remote?.ca_file])
    .filter((path) => path !== undefined)
    .map((path) => catalog.resolveFile(path));
