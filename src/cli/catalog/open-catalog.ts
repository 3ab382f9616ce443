import { resolve } from 'node:path';
import { Catalog } from '../../catalog/catalog.js';
import type { CatalogEntry } from '../../catalog/schema.js';
import { orStartupError } from '../../config/startup-error.js';
import { didYouMean, nearestName } from '../../schema/nearest.js';
import { commandName } from '../../schema/shell-word.js';
import { UsageError } from '../failure.js';
import type { ModelFlags } from '../flags/model.js';
import { requireFileOfFlag } from '../knowledge-base-file.js';
import { warn } from '../output.js';
import { findConfig } from '../server-config.js';

/** Reads the server's catalog, or that of --catalog. @throws StartupError, UsageError */
export async function openCatalog({ catalog, config }: ModelFlags): Promise<Catalog> {
  if (config !== undefined) await requireFileOfFlag('--config', config, 'a server config');
  if (catalog !== undefined) await requireFileOfFlag('--catalog', catalog, 'a model catalog');
  const server = catalog === undefined ? (await findConfig(config)).config : undefined;
  const file = server?.models_catalog_path ?? resolve(catalog as string);
  const loaded = await orStartupError(Catalog.load(file, server?.models_download_dir));
  for (const warning of loaded.warnings) warn(warning);
  return loaded;
}

/** @throws UsageError with the nearest name */
export function findEntry(catalog: Catalog, name: string): CatalogEntry {
  const entry = catalog.find(name);
  if (entry !== undefined) return entry;
  const names = catalog.entries.map((one) => one.name);
  const meant = didYouMean(nearestName(name, names));
  throw new UsageError(
    `${catalog.file} has no model ${JSON.stringify(name)}${meant || `; ${commandName()} models list shows all`}`,
  );
}
