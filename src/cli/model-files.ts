import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import type { Catalog } from '../catalog/catalog.js';
import type { ModelVariant } from '../catalog/schema.js';

/** One variant of a catalog entry, and the state of its file. */
export interface ModelFile {
  model: string;
  type: string;
  /** Undefined for a variant with only a URL. */
  path: string | undefined;
  state: 'present' | 'absent' | 'remote' | 'damaged';
  /** The damage, or the reason why a check was impossible. */
  reason?: string;
  bytes?: number;
  /** Whether the catalog states a size or checksum that the file matches. */
  verified: boolean;
}

/** Compares the files of a catalog's models, or of one, with the sizes and checksums in the catalog. */
export async function modelFiles(catalog: Catalog, signal: AbortSignal, only?: string): Promise<ModelFile[]> {
  const files: ModelFile[] = [];
  for (const { name, model_type, variants } of catalog.entries) {
    if (only !== undefined && name !== only) continue;
    for (const variant of variants) {
      const path = variant.file === undefined ? undefined : catalog.resolveFile(variant.file);
      files.push({ model: name, type: model_type, path, ...(await stateOf(path, variant, signal)) });
    }
  }
  return files;
}

type State = Pick<ModelFile, 'state' | 'reason' | 'bytes' | 'verified'>;

async function stateOf(
  path: string | undefined,
  { size_bytes, sha256 }: ModelVariant,
  signal: AbortSignal,
): Promise<State> {
  if (path === undefined) return { state: 'remote', verified: false };
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => error);
  if (found instanceof Error) {
    if (found.code === 'ENOENT') return { state: 'absent', verified: false };
    return { state: 'damaged', reason: found.message, verified: false };
  }
  const bytes = found.size;
  const damaged = (reason: string): State => ({ state: 'damaged', reason, bytes, verified: false });
  if (!found.isFile()) return damaged('it is not a file');
  if (size_bytes !== undefined && bytes !== size_bytes) {
    return damaged(`it has ${bytes} bytes, the catalog says ${size_bytes}`);
  }
  if (sha256 === undefined) return { state: 'present', bytes, verified: size_bytes !== undefined };
  const sum = await fileChecksum(path, signal).catch((error: NodeJS.ErrnoException) => error);
  signal.throwIfAborted();
  if (sum instanceof Error) return damaged(sum.message);
  if (sum !== sha256.toLowerCase()) return damaged(`its SHA-256 is ${sum}, the catalog says ${sha256}`);
  return { state: 'present', bytes, verified: true };
}

/** SHA-256, hexadecimal. */
export async function fileChecksum(path: string, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash, { signal });
  return hash.digest('hex');
}
