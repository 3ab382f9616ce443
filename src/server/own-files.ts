import { join } from 'node:path';
import { cacheFolder } from '../../lib/internal.js';
import type { ServerConfig } from '../config/schema.js';
import type { OwnFiles } from '../storages/storage-root.js';
import { memoriesFolder } from './memories-folder.js';

/**
 * Returns the server's own files. Those that the config has named since the start stay closed when it is read again.
 * `configFile`: where the config is, or would be.
 */
export function ownFiles(config: ServerConfig, configFile: string | undefined): OwnFiles {
  const closed = new Set(configFile === undefined ? [] : [configFile]);
  const remember = () => {
    for (const path of named(config)) if (path !== '') closed.add(path);
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

function named(config: ServerConfig): string[] {
  const { access_token_file, models_catalog_path, models_download_dir, logs_dir, crash_dump } = config;
  const downloads = join(models_download_dir, 'downloads.json');
  const { keys_file, tls_cert, tls_key } = config.http;
  const secrets = [access_token_file, keys_file, tls_cert, tls_key];
  return [
    ...secrets,
    models_catalog_path,
    downloads,
    logs_dir,
    crash_dump.dir,
    cacheFolder(),
    memoriesFolder(config),
  ];
}
