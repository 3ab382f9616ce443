import { existsSync } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { removeStrays, syncFolder } from '../../../lib/basics.js';
import { EmbeddingRows, Records, removeStrayFiles } from '../../../lib/internal.js';
import { ownerOf } from '../destinations.js';
import { KeptEmbeddings } from '../kept-embeddings.js';
import { embeddingsKey, factsOf } from '../model.js';
import type { LogSource } from './base-log.js';
import { removeWords, wordsOf } from './log-file.js';
import { dropFromOthers, otherConfigs, textFilesOf } from './other-configs.js';

/**
 * Writes the caches of embeddings without forgotten texts, and removes files that killed writers left. @throws IO, CANCELLED
 */
export async function dropTraces(source: LogSource, texts: readonly string[]): Promise<void> {
  const { files, config, model, signal } = source;
  const words = wordsOf(files.changes);
  await removeWords(files.changes);
  await syncFolder(dirname(words));
  const own = [files.records, files.indexPlace, files.textIndex, files.embeddings, files.changes, words];
  for (const file of own) {
    if (file === undefined) continue;
    await removeStrays(file);
    await removeStrayFiles(file);
  }
  await (await KeptEmbeddings.of(source))?.forget(texts);
  await dropFromOthers(source, texts);
  if (files.embeddings === undefined || !existsSync(files.embeddings)) return;
  await using records = await Records.read(files.records, { fields: config.fields, signal });
  await using rows = await EmbeddingRows.match(records, {
    dimension: factsOf(model).dimension,
    path: files.embeddings,
    key: embeddingsKey(model),
    truncated: config.long_text === 'truncate',
    signal,
  });
  await rows.save(files.embeddings, { owner: ownerOf(source), signal });
}

/** Bytes that are searched at a time. */
const windowBytes = 4 * 1024 * 1024;

const never = /(?!)/g;

/** Returns a text as it is and as writers of JSON spell it: some escape also slashes, characters of HTML, or all beyond ASCII. */
function spellings(text: string): string[] {
  const found = new Set([text]);
  const json = JSON.stringify(text).slice(1, -1);
  for (const slash of ['/', '\\/'])
    for (const html of [never, /[<>&'+]/g])
      for (const wide of [never, /[\u007f-\uffff]/g])
        for (const isUpper of [false, true]) {
          const escaped = (character: string) => {
            const hex = character.charCodeAt(0).toString(16).padStart(4, '0');
            return `\\u${isUpper ? hex.toUpperCase() : hex}`;
          };
          found.add(json.replaceAll('/', slash).replaceAll(html, escaped).replaceAll(wide, escaped));
        }
  return [...found];
}

/**
 * Returns the files in the folders of a knowledge base, and those of other configs there that are about its records, whose bytes have one
 * of the texts, as it is or as JSON spells it.
 */
export async function filesWith(source: LogSource, texts: readonly string[]): Promise<string[]> {
  const patterns = [...new Set(texts.flatMap(spellings))].map((needle) => Buffer.from(needle));
  const { files, path } = source;
  const named = [path, files.records, files.indexPlace, files.textIndex, files.embeddings, files.changes];
  const folders = new Set(named.filter((file) => file !== undefined).map((file) => dirname(file)));
  const searched = new Set<string>();
  for (const folder of folders) {
    for (const entry of await readdir(folder, { withFileTypes: true }))
      if (entry.isFile()) searched.add(join(folder, entry.name));
  }
  for (const other of await otherConfigs(source))
    for (const file of textFilesOf(other.files)) if (existsSync(file)) searched.add(file);
  const found: string[] = [];
  for (const file of searched) {
    const has = await hasAny(file, patterns).catch((error: NodeJS.ErrnoException) => {
      // Others go on: a file that is gone by now has nothing.
      if (error.code !== 'ENOENT') throw error;
      return false;
    });
    if (has) found.push(file);
  }
  return found;
}

async function hasAny(path: string, patterns: readonly Buffer[]): Promise<boolean> {
  const overlap = Math.max(0, ...patterns.map(({ length }) => length - 1));
  await using file = await open(path);
  for (let at = 0; ; at += windowBytes) {
    const window = Buffer.alloc(windowBytes + overlap);
    const { bytesRead } = await file.read(window, 0, window.length, at);
    const part = window.subarray(0, bytesRead);
    const found = patterns.some((pattern) => part.includes(pattern));
    part.fill(0);
    if (found) return true;
    if (bytesRead < window.length) return false;
  }
}
