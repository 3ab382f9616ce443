import { stat } from 'node:fs/promises';
import { isIP } from 'node:net';
import { basename, dirname, isAbsolute, resolve } from 'node:path';
import type { Tokenizer } from '../../../lib/index.js';
import { loadKnowledgeBaseConfig } from '../../knowledge/config.js';

/** Where a server finds a knowledge base. */
export interface KnowledgeBasePlace {
  /** Of the session; undefined: the server's storage root. */
  folder: string | undefined;
  /** Relative to it. */
  path: string;
  /** Of the text index, where it is known: what highlights the matches. */
  tokenizer: Tokenizer | undefined;
}

/**
 * A file of this machine, when the server runs here and there is one at `path`; else a path of the server's. A relative
 * path that exists in both places means the file here.
 */
export async function placeOf(path: string, host: string): Promise<KnowledgeBasePlace> {
  const here = isLoopback(host) && (await stat(path).catch(() => undefined))?.isFile() === true;
  if (!here && !isAbsolute(path)) return { folder: undefined, path, tokenizer: undefined };
  const file = resolve(path);
  const tokenizer = await loadKnowledgeBaseConfig(file).then(
    ({ config }) => config.bm25_tokenizer,
    () => undefined, // The server says what is wrong with it.
  );
  return { folder: dirname(file), path: basename(file), tokenizer };
}

const isLoopback = (host: string) =>
  host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
