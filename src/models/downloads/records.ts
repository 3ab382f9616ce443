import { join } from 'node:path';
import { z } from 'zod';
import { LorekeepError, replaceFile } from '../../../lib/basics.js';
import { readText } from '../../base/files/read-text.js';

const recordSchema = z.object({
  /** Without a query. */
  url: z.string(),
  sha256: z.string(),
  size_bytes: z.int(),
  /** ISO 8601. */
  at: z.string(),
});

const fileSchema = z.object({ version: z.literal(1), downloads: z.record(z.string(), recordSchema) });

export type DownloadRecord = z.output<typeof recordSchema>;

const name = 'downloads.json';
const maxBytes = 4 * 1024 * 1024;

/** Returns the completed downloads of a folder, by file name. @throws CORRUPT for a file that is not ours */
export async function readDownloads(folder: string): Promise<Record<string, DownloadRecord>> {
  const path = join(folder, name);
  let text: string;
  try {
    text = await readText(path, maxBytes);
  } catch (error) {
    if (!(error instanceof LorekeepError)) throw error;
    if (error.code === 'NOT_FOUND') return {};
    throw error.code === 'CORRUPT' ? notAList(path) : error; // too long, or not UTF-8
  }
  if (text.trim() === '') return {};
  const downloads = parse(text);
  if (downloads !== undefined) return downloads;
  throw notAList(path);
}

const notAList = (file: string) =>
  LorekeepError.about('CORRUPT', { file, reason: 'it is not a list of downloads; move it away' });

/** Returns undefined for a text that is not ours. */
function parse(text: string): Record<string, DownloadRecord> | undefined {
  try {
    return fileSchema.safeParse(JSON.parse(text)).data?.downloads;
  } catch {
    return undefined;
  }
}

/** Changes the list of a folder. Precondition: its lock is held. @throws as readDownloads() */
export async function changeDownloads(
  folder: string,
  change: (downloads: Record<string, DownloadRecord>) => void,
): Promise<void> {
  const downloads = await readDownloads(folder);
  change(downloads);
  const text = `${JSON.stringify({ version: 1, downloads }, null, 2)}\n`;
  const isOurs = (found: string) => found.trim() === '' || parse(found) !== undefined;
  await replaceFile(join(folder, name), text, { isOurs, maxBytes });
}
