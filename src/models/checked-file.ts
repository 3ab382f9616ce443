import { join } from 'node:path';
import { factsAt, fileStamp, readRegular, replaceFile } from '../../lib/basics.js';
import { cacheFolder, LorekeepError } from '../../lib/internal.js';
import { fileChecksum } from '../base/files/checksum.js';
import { modelBytes, partNames, statedChecksum } from '../base/files/model-parts.js';
import type { ModelVariant } from './schema.js';

const name = 'checksums.json';
const maxEntries = 200;
/** Largest file in bytes: far more than `maxEntries` need. */
const maxBytes = 1024 * 1024;

/** Checksums by the stamp of the file. */
let known: Promise<Map<string, string>> | undefined;

/**
 * Compares a model file, all of its parts, with the size and the checksums of the catalog. A file is hashed once, also
 * by later processes: its stamp tells whether it has changed.
 * @throws CORRUPT with both values; IO if the file cannot be read. An absent file passes: its loader names it
 */
export async function checkModelFile(
  path: string,
  variant: Pick<ModelVariant, 'size_bytes' | 'sha256' | 'parts_sha256'>,
  signal?: AbortSignal,
): Promise<void> {
  const length = lengthMismatch(path, variant);
  if (length !== undefined) throw contradiction(path, length);
  for (const [index, part] of partNames(path).entries()) {
    const sha256 = statedChecksum(variant, index);
    if (sha256 !== undefined) await compareChecksum(part, sha256, signal);
  }
}

/** Returns how the length of a model file differs from the catalog's; undefined if it does not, or if the file is absent. */
export function lengthMismatch(
  path: string,
  { size_bytes: stated }: Pick<ModelVariant, 'size_bytes'>,
): string | undefined {
  const bytes = stated === undefined ? undefined : modelBytes(path);
  if (bytes === undefined || bytes === stated) return undefined;
  return `it has ${bytes} bytes, the catalog says ${stated}`;
}

async function compareChecksum(path: string, sha256: string, signal: AbortSignal | undefined): Promise<void> {
  const facts = await factsAt(path);
  if (facts === undefined || !facts.isFile()) return;
  const stamp = fileStamp(facts);
  known ??= read();
  const sums = await known;
  const sum = sums.get(stamp) ?? (await fileChecksum(path, signal));
  if (!sums.has(stamp)) await remember(sums, stamp, sum);
  if (sum !== sha256) throw contradiction(path, `its SHA-256 is ${sum}, the catalog says ${sha256}`);
}

function contradiction(path: string, reason: string): LorekeepError {
  return LorekeepError.about('CORRUPT', { file: path, reason });
}

/** A cache that cannot be read is empty. */
async function read(): Promise<Map<string, string>> {
  try {
    const value: unknown = JSON.parse(await readRegular(join(cacheFolder(), name), maxBytes));
    const entries = Object.entries(value as object).filter(([, sum]) => /^[0-9a-f]{64}$/.test(String(sum)));
    return new Map(entries);
  } catch {
    return new Map();
  }
}

/** A cache that cannot be written costs a checksum per process. */
async function remember(all: Map<string, string>, stamp: string, sum: string): Promise<void> {
  all.set(stamp, sum);
  for (const oldest of [...all.keys()].slice(0, Math.max(0, all.size - maxEntries))) all.delete(oldest);
  const text = `${JSON.stringify(Object.fromEntries(all))}\n`;
  await replaceFile(join(cacheFolder(), name), text, { isOurs, maxBytes }).catch(() => {});
}

/** Returns whether a file begins as remember() writes it; the rest may be damaged. */
function isOurs(content: string): boolean {
  return /^\{(\}|"[\d:]+":"[0-9a-f]{64}")/.test(content);
}
