import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { didYouMean, nearestName } from '../../base/schema/nearest.js';
import { commandName, shellWord } from '../../base/schema/shell-word.js';
import type { ServerConfig } from '../../config/schema.js';
import { orStartupError } from '../../config/startup-error.js';
import type { PostgresConnections } from '../../knowledge/postgres/connections.js';
import { Catalog } from '../../models/catalog.js';
import type { CatalogEntry } from '../../models/schema.js';
import { knownModels, shippedCatalog } from '../../models/shipped-catalog.js';
import { connectionsOf } from '../connections.js';
import { UsageError } from '../failure.js';
import type { ModelFlags } from '../flags/model.js';
import { requireFileOfFlag } from '../knowledge-base-file.js';
import { warn } from '../output.js';
import { findConfig } from '../server-config.js';

/** Reads the catalog of --catalog, else the server's. @throws StartupError, UsageError */
export async function openCatalog(flags: ModelFlags): Promise<Catalog> {
  return (await openCatalogAndConfig(flags)).catalog;
}

/** The same, with the config of the server unless --catalog is given. */
export async function openCatalogAndConfig({ catalog, config }: ModelFlags): Promise<{
  catalog: Catalog;
  config: ServerConfig | undefined;
  /** Undefined: no config is named beside a catalog. */
  connections: PostgresConnections | undefined;
}> {
  // A server runs without its config file, but a file named here must exist.
  if (config !== undefined) await requireFileOfFlag('--config', config, 'a server config');
  if (catalog !== undefined) await requireFileOfFlag('--catalog', catalog, 'a model catalog');
  const found = catalog === undefined ? await findConfig(config) : undefined;
  // For example a misspelt models_catalog_path: the model would come from another catalog.
  for (const warning of found?.warnings ?? []) warn(warning);
  const server = found?.config;
  const file = server?.models_catalog_path ?? resolve(catalog as string);
  const loaded = await orStartupError(Catalog.load(file, server?.models_download_dir));
  if (server !== undefined) loaded.downloads.minSpeed = server.models_download_min_speed;
  loaded.mayAskOthers = found?.catalogIsFound !== true;
  for (const warning of loaded.warnings) warn(warning);
  loaded.commandFlags = givenFlags({ catalog, config });
  const declaring = found ?? (config === undefined ? undefined : await findConfig(config));
  const connections = declaring && (await connectionsOf(declaring));
  return { catalog: loaded, config: server, connections };
}

/** Returns the download command for a model that only the package's catalog does not offer; else an empty text. */
export function knownElsewhere(catalog: Catalog, name: string): string {
  if (catalog.file !== shippedCatalog) return '';
  const known: { models: { name: string }[] } = JSON.parse(readFileSync(knownModels, 'utf8'));
  if (!known.models.some((one) => one.name === name)) return '';
  return `; the catalog of a folder made by ${commandName()} init says where to download it`;
}

/** Returns the flags that name the same config and catalog in another command, in any folder. */
export function givenFlags({
  catalog,
  config,
}: {
  catalog?: string | undefined;
  config?: string | undefined;
}): string | undefined {
  const given = Object.entries({ config, catalog }).filter(([, path]) => path !== undefined);
  const flags = given.map(([name, path]) => `--${name} ${shellWord(resolve(path as string))}`);
  return flags.length > 0 ? flags.join(' ') : undefined;
}

/** @throws UsageError with the nearest name */
export function findEntry(catalog: Catalog, name: string): CatalogEntry {
  const entry = catalog.find(name);
  if (entry !== undefined) return entry;
  const names = catalog.entries.map((one) => one.name);
  const meant = didYouMean(nearestName(name, names));
  const list = [`${commandName()} models list`, catalog.commandFlags].filter(Boolean).join(' ');
  throw new UsageError(
    `${catalog.file} has no model ${JSON.stringify(name)}${meant || knownElsewhere(catalog, name) || `; ${list} shows all`}`,
  );
}
