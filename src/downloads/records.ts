import { randomUUID } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { LorekeepError } from '../../lib/errors.js';
import { readText } from '../files/read-text.js';

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
const mostBytes = 4 * 1024 * 1024;

/** Returns the completed downloads of a folder, by file name. @throws CORRUPT for a file that is not ours */
export async function readDownloads(folder: string): Promise<Record<string, DownloadRecord>> {
  const path = join(folder, name);
  let text: string;
  try {
    text = await readText(path, mostBytes);
  } catch (error) {
    if (error instanceof LorekeepError && error.code === 'NOT_FOUND') return {};
    throw error;
  }
  if (text.trim() === '') return {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  const parsed = fileSchema.safeParse(value);
  if (parsed.success) return parsed.data.downloads;
  const reason = 'it is not a list of downloads; move it away';
  throw LorekeepError.about('CORRUPT', { file: path, reason });
}

/** Changes the list of a folder. Precondition: its lock is held. @throws as readDownloads() */
export async function changeDownloads(
  folder: string,
  change: (downloads: Record<string, DownloadRecord>) => void,
): Promise<void> {
  const downloads = await readDownloads(folder);
  change(downloads);
  const temporary = join(folder, `.${name}-${randomUUID()}`);
  const file = await open(temporary, 'wx');
  try {
    await file.writeFile(`${JSON.stringify({ version: 1, downloads }, null, 2)}\n`);
    await file.sync();
    await file.close();
    await rename(temporary, join(folder, name));
  } catch (error) {
    await file.close().catch(() => {});
    await rm(temporary, { force: true });
    throw error;
  }
  await syncFolder(folder);
}

/** Makes renames in a folder durable, where the system can. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r').catch(() => undefined);
  await handle?.sync().catch(() => {});
  await handle?.close();
}
