import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { stringifyWithWideIntegers } from '../../../base/schema/wide-integers.js';
import { readManifest } from '../manifest.js';
import { fileNames } from '../place.js';
import type { FolderRecord } from '../records-writer.js';
import type { KnownFile } from '../scan.js';

/** A file whose records a knowledge base has. */
export interface WatchedFile extends KnownFile {
  problems: readonly string[];
  /** Digests of its records by id. */
  records: ReadonlyMap<string, string>;
}

/** Returns what tells a record from another content of its id. */
export const recordDigest = (json: string): string =>
  createHash('sha256').update(json).digest('base64').slice(0, 22);

export const digestOf = (record: FolderRecord): string => recordDigest(stringifyWithWideIntegers(record));

/** Reads the files of an index that was just written. */
export async function readWatchedFiles(place: string): Promise<Map<string, WatchedFile>> {
  const files = new Map<string, WatchedFile>();
  const entries = await readManifest(place);
  if (entries.size === 0) return files;
  await using source = await open(join(place, fileNames.records));
  for (const { path, stamp, begin, end, problems = [], retry, records: count } of entries.values()) {
    const records = new Map<string, string>();
    if (count > 0) {
      const { buffer } = await source.read(Buffer.alloc(end - begin), 0, end - begin, begin);
      for (const line of buffer.toString().split('\n')) {
        const json = line.replace(/,$/, '');
        records.set(JSON.parse(json).id, recordDigest(json));
      }
    }
    files.set(path, { stamp, problems, records, ...(retry && { retry }) });
  }
  return files;
}
