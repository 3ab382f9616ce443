import { join } from 'node:path';
import { cacheFolder } from '../../lib/internal.js';
import type { ServerConfig } from '../config/schema.js';
import type { OwnFiles } from '../storages/storage-root.js';

/** `configFile`: where the config is, or would be. */
export function ownFiles(config: ServerConfig, configFile: string | undefined): OwnFiles {
  const { access_token_file, models_catalog_path, models_download_dir, logs_dir, crash_dump } = config;
  const downloads = join(models_download_dir, 'downloads.json');
  const folders = [logs_dir, crash_dump.dir, cacheFolder()];
  const files = [configFile ?? '', access_token_file, models_catalog_path, downloads, ...folders];
  return { closed: files.filter((path) => path !== ''), logs: logs_dir };
}
