import type { VersionLimits } from '../../lib/internal.js';
import type { ServerConfig } from '../config/schema.js';

const hourMs = 3_600_000;

/** The versions that changed storages keep. */
export const storageVersions = (
  config: Pick<ServerConfig, 'storage_versions' | 'storage_versions_max_mb' | 'storage_versions_max_hours'>,
): VersionLimits => ({
  count: config.storage_versions_max_mb === 0 ? 0 : config.storage_versions,
  bytes: config.storage_versions_max_mb * 1024 * 1024,
  ...(config.storage_versions_max_hours > 0 && { age: config.storage_versions_max_hours * hourMs }),
});
