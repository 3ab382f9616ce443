import { stat } from 'node:fs/promises';
import { isIP } from 'node:net';
import { basename, dirname, isAbsolute, resolve } from 'node:path';
import { indexOf } from '../../knowledge/folder/place.js';

/** The place of a knowledge base on a server. */
export interface KnowledgeBasePlace {
  /** The session's storage folder, or undefined for the server's storage root. */
  folder: string | undefined;
  /** Path of the config file, relative to that folder. */
  path: string;
}

/**
 * Resolves `path` to a file of this machine if the server runs here and the file exists, or to the index of a folder, otherwise to a path on the
 * server. A relative path that exists in both places means the local file.
 */
export async function placeOf(path: string, host = '127.0.0.1'): Promise<KnowledgeBasePlace> {
  const here = isLoopback(host) ? await localConfig(path) : undefined;
  if (here === undefined && !isAbsolute(path)) return { folder: undefined, path };
  const file = resolve(here ?? path);
  return { folder: dirname(file), path: basename(file) };
}

/** The file of this machine that a path names: itself, or the knowledge base of a folder that was indexed. */
async function localConfig(path: string): Promise<string | undefined> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isFile()) return path;
  const index = found?.isDirectory() ? await indexOf(path) : undefined;
  return index !== undefined && index.records > 0 ? index.config : undefined;
}

/** Whether a host name means this machine. */
export const isLoopback = (host: string) =>
  host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
