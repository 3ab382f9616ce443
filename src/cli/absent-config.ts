import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { homeFolder } from '../base/files/home.js';
import { didYouMean, nearestName } from '../base/schema/nearest.js';
import type { ServerConfig } from '../config/schema.js';

/** Returns the note for a named config file that does not exist: the nearest existing file, and the defaults in use. */
export async function absentConfigNote(path: string, config: ServerConfig): Promise<string> {
  const { port, network_access, storage_root, models_catalog_path, logs_dir } = config;
  const settings = {
    port,
    network_access,
    storage_root: storage_root || homeFolder,
    models_catalog_path,
    logs_dir: logs_dir || 'none',
  };
  const shown = Object.entries(settings).map(([name, value]) => `${name} ${value}`);
  const nearest = didYouMean(await nearestPath(path));
  const sentence = nearest === '' ? '; the' : `${nearest} The`;
  return `${path}: the config file does not exist${sentence} server uses its defaults: ${shown.join(', ')}`;
}

/** The existing path that a misspelt one may mean; folders on the way may be misspelt too. */
async function nearestPath(path: string): Promise<string | undefined> {
  const parent = dirname(path);
  if (parent === path) return undefined;
  const isThere = await readdir(parent).catch(() => undefined);
  const folder = isThere === undefined ? await nearestPath(parent) : parent;
  const own = basename(path);
  // In its own folder, the name belongs to a link to nothing.
  const names = isThere?.filter((name) => name !== own) ?? (await readdir(folder ?? '').catch(() => []));
  const name = names.includes(own) ? own : nearestName(own, names);
  return name === undefined || folder === undefined ? undefined : join(folder, name);
}
